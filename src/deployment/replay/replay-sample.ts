/** Chooses the runs of a replay: recorded ones, spread over graphs, statuses and revisions. */

import { labelIn } from '../../graph/index.ts'
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
  readonly atMs: number
}

interface CandidateFilter {
  readonly tenant: string
  readonly graphId?: string
  readonly createdAfterMs?: number
}

/** Chooses runs of a namespace, the newest of each kind first. */
export async function sampleOf(parts: SampleParts, tenant: string,
  { sample, graphId, sinceMs }: ReplayRequest, signal: AbortSignal): Promise<Sample> {
  const filter = { tenant, ...graphId !== null && { graphId },
    ...sinceMs !== null && { createdAfterMs: sinceMs } }
  const candidates = together(await candidatesOf(parts, filter, signal),
    await statelessOf(parts, filter))
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

async function candidatesOf({ runIndex }: SampleParts, filter: CandidateFilter,
  signal: AbortSignal): Promise<readonly Candidate[]> {
  const found: Candidate[] = []
  let after: RunPlace | undefined
  do {
    const { rows, next } = await runIndex.search({ ...filter, limit: pageRows, bytes: pageBytes,
      texts: ['planJson'], after }, signal)
    for (const row of rows) {
      const { threadId, runId, status, revision, createdAtMs } = row
      // Without a revision it is a run of no deployment.
      if (!isOneOf(endings, status) || !revision) continue
      found.push({ threadId, runId, kind: `${graphIdOf(row)} ${status} ${revision}`,
        atMs: createdAtMs })
    }
    after = next
  } while (after !== undefined && found.length < lookedMax)
  return found.slice(0, lookedMax)
}

/** Recorded runs whose threads are gone. */
async function statelessOf({ recordings }: SampleParts,
  { tenant, graphId, createdAfterMs = 0 }: CandidateFilter): Promise<readonly Candidate[]> {
  const listed = await recordings.labelledRecordings({ tenant, fromMs: createdAfterMs,
    limit: lookedMax })
  return listed.flatMap(({ label, startedAtMs: atMs }) => {
    const run = labelIn(label)
    if (run === undefined || run.revision === '') return []
    if (graphId !== undefined && run.graphId !== graphId) return []
    const { runId, status, revision } = run
    return [{ threadId: runId, runId, kind: `${run.graphId} ${status} ${revision}`, atMs }]
  })
}

/** Both, the newest first. The thread of a stateless run may still be there. */
function together(some: readonly Candidate[], others: readonly Candidate[]): readonly Candidate[] {
  const known = new Set(some.map(({ runId }) => runId))
  return [...some, ...others.filter(({ runId }) => !known.has(runId))]
    .toSorted((a, b) => b.atMs - a.atMs)
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
