/** Runs of this server as spans: heads without blocks, for their payload is in their threads. */

import { isObject } from '../../json/index.ts'
import { clocksApartMs } from '../../limits/index.ts'
import type { Calls } from '../calls/calls.ts'
import type { FiledRun } from '../records/projects/former-names.ts'
import type { EndedSpan } from './ended/ended-span.ts'
import { noFields } from '../spans/span.ts'
import type { SpanFields, SpanHead, SpanPlace, SpanWrite, Uuid } from '../spans/span.ts'
import { termOf } from '../spans/term.ts'
import type { OwnRun, SpanWrites, SpanWriteNeeds } from './ingest-call.ts'
import { segmentOf } from '../spans/dotted-order.ts'
import type { RemovedRuns } from './removed-runs.ts'
import type { RequestParts } from './ingest-request.ts'
import { termsOfSpan } from './terms-of-span.ts'

const daySeconds = 24 * 60 * 60
/** Members of a run's metadata that can be searched for. */
const metadataMax = 20
/** Metadata that the server adds to each run: the project and the name say the same. */
const added: ReadonlySet<string> = new Set(['created_by', 'graph_id'])

/** Writes runs that ended. One that was written before is written again. */
export async function writeOwnRuns(
  { store, needs, removedRuns, ended }: OwnRunParts,
  { tenant, runs }: Parameters<SpanWrites['ownRuns']>[0],
  nextUs: () => number,
): Promise<void> {
  // The report of a run that was deleted here makes no project.
  const fresh = await withoutKnown({ store, removedRuns }, tenant,
    runs.filter(({ id }) => !removedRuns.isNoted(tenant, id)))
  if (fresh.length === 0) return
  const roots = fresh.map((run) => rootOf(tenant, run))
  const projects = await needs.ownProjects({ tenant, runs: fresh.map(filedRunOf) })
  // A deletion that found no project has noted its runs. Read after the projects, because the
  // deletion looks for a project again after it has written the notes.
  const removed = await removedRuns.among(tenant,
    fresh.filter((_, at) => projects[at] != null).map(({ id }) => id))
  const timeToLiveS = new Map<string, number>()
  const read: EndedSpan[] = []
  const spans = roots.flatMap(({ place, fields, metadata }, at): SpanWrite[] => {
    const project = projects[at]
    if (project == null || removed.has(place.id)) return []
    const { readers } = project
    timeToLiveS.set(project.id, project.retentionDays * daySeconds)
    if (readers) read.push({ place: { ...place, project: project.id }, readers })
    const { terms, indexed } = termsOfSpan({ ...fields, tags: [], metadata })
    return [{ place: { ...place, project: project.id }, kind: 'post', arrivedUs: nextUs(), fields,
      terms: [...terms, termOf.own], indexed, block: null }]
  })
  if (spans.length === 0) return
  const { moved } = await store.write({ tenant, spans, blocks: [], files: [], timeToLiveS })
  if (read.length > 0) await ended.note(tenant, read)
  if (moved.length > 0) await store.confirmMoves(tenant, moved)
}

/**
 * Returns the runs without the repeated runs that have a trace already, in whatever project, or
 * whose trace the store may have removed to free space.
 */
async function withoutKnown({ store, removedRuns }: Pick<OwnRunParts, 'store' | 'removedRuns'>,
  tenant: string, runs: readonly OwnRun[]): Promise<readonly OwnRun[]> {
  const repeated = runs.filter((run) => run.repeated)
  if (repeated.length === 0) return runs
  const places = await store.locate(tenant, repeated.map(({ id }) => id))
  const stored = new Set(places.map(({ id }) => id))
  const freedMs = await removedRuns.freedUntilMs(tenant)
  return runs.filter(({ id, repeated: isRepeated, endMs }) =>
    !isRepeated || !(stored.has(id) || (endMs ?? Infinity) - clocksApartMs <= freedMs)
  )
}

/** Returns the name of the project of a run, and what decides which project that is. */
export function filedRunOf(run: OwnRun): FiledRun {
  return { name: ownProjectName(run), startMs: run.startMs, repeated: run.repeated }
}

/** Dependencies of the writer of own runs. */
export interface OwnRunParts extends Pick<RequestParts, 'store' | 'ended'> {
  readonly needs: Pick<Calls<SpanWriteNeeds>, 'ownProjects'>
  readonly removedRuns: Pick<RemovedRuns, 'among' | 'freedUntilMs' | 'isNoted'>
}

interface OwnRoot {
  readonly place: Omit<SpanPlace, 'project'>
  readonly fields: SpanFields
  readonly metadata: ReadonlyMap<string, string>
}

/** Name of the project of a run: that of its graph, unless its metadata name another one. */
function ownProjectName(
  { graph, metadataJson }: Pick<OwnRun, 'graph' | 'metadataJson'>,
): string {
  return scalarsIn(metadataJson).get('project') ?? graph
}

/** The head of a run in this project. */
export function ownHead(tenant: string, project: Uuid, run: OwnRun): SpanHead {
  const { place, fields, metadata } = rootOf(tenant, run)
  const { terms } = termsOfSpan({ ...fields, tags: [], metadata })
  return { ...place, project, ...fields, arrivedUs: fields.endUs ?? place.startUs,
    terms: [...terms, termOf.own], blocks: [], feedback: [] }
}

/** A run as the root of its trace. Pure, so that one that is handed over again is the same. */
function rootOf(tenant: string,
  { id, thread, assistant, graph, startMs, endMs, failed, metadataJson }: OwnRun): OwnRoot {
  const scalars = scalarsIn(metadataJson)
  const metadata = new Map([...scalars].filter(([key]) => !added.has(key)).slice(0, metadataMax))
  const startUs = startMs * 1_000
  return {
    place: { tenant, id, trace: id, startUs, traceStartUs: startUs },
    fields: { ...noFields, root: true, dottedOrder: segmentOf(startUs, id), name: graph,
      type: 'chain', endUs: endMs === null ? null : endMs * 1_000, failed, thread },
    metadata: metadata.set('thread_id', thread).set('assistant_id', assistant),
  }
}

function scalarsIn(json: string): ReadonlyMap<string, string> {
  const value: unknown = json === '' ? {} : JSON.parse(json)
  if (!isObject(value)) return new Map()
  return new Map(Object.entries(value)
    .filter(([, each]) => ['string', 'number', 'boolean'].includes(typeof each))
    .map(([key, each]) => [key, String(each)]))
}
