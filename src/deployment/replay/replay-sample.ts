/** Chooses the runs of a replay: recorded ones, spread over graphs, statuses and revisions. */

import { isOneOf } from '../../json/index.ts'
import { graphIdOf } from '../../search/index.ts'
import type { RunPlace, RunSearch } from '../../search/index.ts'
import { isRecorded } from './recorded-run.ts'
import type { RecordedRunParts } from './recorded-run.ts'
import type { ReplayRequest } from './replay-record.ts'

/** Runs that are looked at for one sample. */
const lookedMax = 5_000
/** Rows of a page, and bytes that they may have. */
const [pageRows, pageBytes] = [500, 8 * 1024 * 1024]
/** Only these have ended by themselves. */
const endings = ['success', 'error'] as const

/** Index of runs, and stores. */
export interface SampleParts extends RecordedRunParts {
  readonly runIndex: RunSearch
}

/** The chosen runs as `thread/run`, and how many were passed over. */
export interface Sample {
  readonly chosen: readonly string[]
  readonly passed: number
}

interface Candidate {
  readonly threadId: string
  readonly runId: string
  readonly kind: string
}

/** Chooses runs of a namespace, the newest of each kind first. */
export async function sampleOf(parts: SampleParts, tenant: string,
  { sample, graphId, sinceMs }: ReplayRequest, signal: AbortSignal): Promise<Sample> {
  const candidates = await candidatesOf(parts, { tenant, ...graphId !== null && { graphId },
    ...sinceMs !== null && { createdAfterMs: sinceMs } }, signal)
  const chosen: string[] = []
  let passed = 0
  for (const { threadId, runId } of inTurns(candidates)) {
    if (chosen.length >= sample) break
    signal.throwIfAborted()
    if (await isRecorded(parts, { tenant, threadId, runId })) chosen.push(`${threadId}/${runId}`)
    else passed += 1
  }
  return { chosen, passed }
}

async function candidatesOf({ runIndex }: SampleParts,
  filter: { readonly tenant: string; readonly graphId?: string; readonly createdAfterMs?: number },
  signal: AbortSignal): Promise<readonly Candidate[]> {
  const found: Candidate[] = []
  let after: RunPlace | undefined
  do {
    const { rows, next } = await runIndex.search({ ...filter, limit: pageRows, bytes: pageBytes,
      texts: ['planJson'], after }, signal)
    for (const row of rows) {
      const { threadId, runId, status, revision } = row
      // Without a revision it is a run of no deployment.
      if (!isOneOf(endings, status) || !revision) continue
      found.push({ threadId, runId, kind: `${graphIdOf(row)} ${status} ${revision}` })
    }
    after = next
  } while (after !== undefined && found.length < lookedMax)
  return found.slice(0, lookedMax)
}

/** One of each kind after another, as long as there are any. */
function* inTurns(candidates: readonly Candidate[]): Generator<Candidate> {
  const kinds = [...Map.groupBy(candidates, ({ kind }) => kind).values()]
  for (let at = 0; kinds.some((kind) => at < kind.length); at++) {
    for (const kind of kinds) {
      const candidate = kind[at]
      if (candidate) yield candidate
    }
  }
}
