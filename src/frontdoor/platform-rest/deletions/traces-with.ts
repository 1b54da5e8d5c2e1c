/** Traces by the metadata of their roots, for those who delete them. */

import { HeddleError } from '../../../errors.ts'
import type { Platform, Project, Uuid } from '../../../platform/index.ts'
import { questionOfV1 } from '../runs-question.ts'

/** Traces that one request may delete. */
const tracesMax = 10_000

/** A page of roots, as the first API has it. */
interface RootsPage {
  readonly runs: readonly { readonly trace_id: Uuid }[]
  readonly cursors: { readonly next: string | null }
}

/** Names traces by all of this metadata, in a project of the tenant. */
export interface TracesWith {
  readonly tenant: string
  readonly project: Project
  readonly metadata: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
}

/** Ids of the traces whose roots have all of this metadata. Throws `invalid` if there are many. */
export async function tracesWith({ query }: Pick<Platform, 'query'>,
  { tenant, project, metadata, signal }: TracesWith): Promise<readonly Uuid[]> {
  const filter = filterOf(metadata)
  const found: Uuid[] = []
  let cursor: string | null = null
  do {
    const question = questionOfV1(tenant, [project], { is_root: true, filter, cursor,
      select: ['trace_id'] })
    const page = JSON.parse(
      Buffer.from(await query.runs(question, { signal })).toString(),
    ) as RootsPage
    found.push(...page.runs.map(({ trace_id: id }) => id))
    if (found.length > tracesMax) {
      throw new HeddleError('invalid', `More than ${tracesMax} traces have this metadata: name ` +
        'more of it, or the traces.')
    }
    cursor = page.cursors.next
  } while (cursor)
  return found
}

function filterOf(metadata: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(metadata).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `and(eq(metadata_key, ${JSON.stringify(key)}), ` +
      `eq(metadata_value, ${JSON.stringify(text)}))`
  })
  return pairs.length === 1 ? pairs[0]! : `and(${pairs.join(', ')})`
}
