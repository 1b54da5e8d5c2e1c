/** Runs of traces that a work is about, and their ids, page by page. */

import { matchingPage } from '../../api/platform/traces.ts'
import type { TraceQuestion } from '../../api/platform/traces.ts'

/** Runs that are chosen one by one, or all that match. */
export type WorkTarget =
  | { readonly kind: 'chosen'; readonly ids: readonly string[] }
  | { readonly kind: 'matching'; readonly question: TraceQuestion }

/** Reads the ids of a target, the next page when it is asked for. */
export async function* pagesOf(target: WorkTarget,
  signal: AbortSignal): AsyncGenerator<readonly string[]> {
  if (target.kind === 'chosen') {
    yield target.ids
    return
  }
  let cursor: string | null = null
  do {
    const page = await matchingPage(target.question, cursor, signal)
    yield page.ids
    cursor = page.cursor
  } while (cursor !== null)
}
