/** The store of the platform over `traces.db` and `documents.db`, for one thread. */

import type { DocumentPort, Plan, ScanMark, ScannedHeads, SpanHead, SpanPlace, SpansOfRequest,
  SpanStore } from '../../../platform/index.ts'
import { busy, sqliteCode } from '../file/disk-error.ts'
import { DocumentFile } from './document-file.ts'
import { feedbackStore } from './feedback-store.ts'
import { ProjectScan } from './project-scan.ts'
import { mergedScans, turn } from './span-scan.ts'
import { confirmMove } from './span-takeover.ts'
import { sqlOver } from './sql-query.ts'
import { TraceFile } from './trace-file.ts'
import type { TraceFileOptions } from './trace-file.ts'

/** Heads, and places or blocks, that are read in one turn. */
const [headsOf, entriesOf] = [500, 200]
/** Spans of the first windows of a scan together, and of one of them. */
const [firstWindows, firstWindowMin, firstWindowMax] = [500, 8, 128]

/** Opens the store of one thread. A file that cannot be used fails each call, not the opening. */
export function traceStore(options: TraceFileOptions): SpanStore {
  const file = new TraceFile(options)
  const documents = new DocumentFile(options)
  const asked = async <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw file.error(error)
    }
  }
  return {
    write: (request) =>
      asked(() => {
        const { queue, writer, indexer } = file.writes
        indexer.wake()
        return queue.run(request.tenant, weightOf(request), () => writer.write(request))
      }),
    scan: (plan, after) => streamed(file, () => scan(file, plan, after)),
    locate: (tenant, ids) => asked(() => listOf(file.reads?.reads.locate(tenant, ids))),
    heads: (places) => asked(() => heads(file, places)),
    trace: (place) => streamed(file, () => slices(file.reads?.reads.trace(place) ?? [])),
    blocks: (place, ids) =>
      asked(async () => new Map(await listOf(file.reads?.reads.blocks(place, ids)))),
    files: ({ tenant, project: id, id: owner }, name) =>
      asked(() => {
        const project = file.reads?.reads.project(tenant, id)
        return project === undefined ? [] : file.reads!.files.list(project, owner, name)
      }),
    remove: (tenant, what) => asked(() => file.writes.removal.remove(tenant, what)),
    isRemovedProject: (tenant, id) =>
      asked(() => file.reads?.reads.project(tenant, id)?.goneUs === Number.MAX_SAFE_INTEGER),
    confirmMoves: (tenant, places) => asked(() => confirmMoves(file, tenant, places)),
    changeLife: (tenant, project, lifeS) =>
      asked(() => file.writes.removal.changeLife(tenant, project, lifeS)),
    ...feedbackStore(file, asked),
    rollUps: (tenant, id, from, to) =>
      asked(() => {
        const project = file.reads?.reads.project(tenant, id)
        return project === undefined ? new Map() : file.reads!.hours.rollUps(project, from, to)
      }),
    putRollUp: (tenant, id, hour, body, scanBeganUs) =>
      asked(() => {
        const project = file.reads?.reads.project(tenant, id)
        if (project === undefined) return
        const { database, hours } = file.reads!
        try {
          database.transaction(() => hours.put(project, hour, body, scanBeganUs), false)
        } catch (error) {
          // It can be made again. The thread that writes is not waited for.
          if (sqliteCode(error) !== busy) throw error
        }
      }),
    hours: (tenant, id, from, to) =>
      asked(() => {
        const project = file.reads?.reads.project(tenant, id)
        return project === undefined ? [] : file.reads!.hours.hours(project, from, to)
      }),
    ...sqlOver(file.path, options.env),
    watchRemovals: (listener) => file.watchRemovals(listener),
    freedUntilMs: (tenant) => asked(() => freedUntilMs(file, tenant)),
    ...documentsOf(documents),
    close: async () => {
      documents.close()
      file.close()
    },
  }
}

function documentsOf(documents: DocumentFile): DocumentPort {
  return {
    putDocuments: (place, all) => documents.putDocuments(place, all),
    getDocuments: (place, keys) => documents.getDocuments(place, keys),
    listDocuments: (place, range) => documents.listDocuments(place, range),
    deleteDocuments: (place, keys) => documents.deleteDocuments(place, keys),
    dropDocuments: (place) => documents.dropDocuments(place),
  }
}

function freedUntilMs({ reads }: TraceFile, tenant: string): number {
  const number = reads?.numbers.tenant(tenant)
  return number === undefined ? 0 : reads!.use.freedUntilUs(number) / 1_000
}

function confirmMoves(file: TraceFile, tenant: string,
  places: readonly SpanPlace[]): Promise<void> {
  const { queue, numbers, database } = file.writes
  return queue.run(tenant, places.length, () => {
    const number = numbers.numberTenant(tenant)
    for (const { project, id } of places) {
      confirmMove(database, numbers.numberProject(number, project), id)
    }
  })
}

/** Bytes that take the disk about as long as a span takes the processor. */
const bytesOfSpan = 4_096

function weightOf({ spans, blocks, files }: SpansOfRequest): number {
  const bytes = [...blocks, ...files].reduce((sum, { data }) => sum + data.byteLength, 0)
  return Math.max(spans.length, Math.ceil(bytes / bytesOfSpan))
}

async function* scan(file: TraceFile, plan: Plan, after?: ScanMark): AsyncIterable<ScannedHeads> {
  const open = file.reads
  if (open === undefined) return
  const firstWindow = Math.min(firstWindowMax,
    Math.max(firstWindowMin, Math.floor(firstWindows / plan.projects.length)))
  const scans = [...new Set(plan.projects)].flatMap((id) => {
    const project = open.reads.project(plan.tenant, id)
    return project === undefined
      ? []
      : [new ProjectScan({ database: open.database, plan, project, after, firstWindow })]
  })
  yield* mergedScans(plan.order, scans)
}

async function heads(file: TraceFile, places: readonly SpanPlace[]): Promise<readonly SpanHead[]> {
  const found: SpanHead[] = []
  for (const [index, place] of places.entries()) {
    if (index > 0 && index % headsOf === 0) await turn()
    const head = file.reads?.reads.head(place)
    if (head !== undefined) found.push(head)
  }
  return found
}

/** The items of an iterable. Leaves turns to others. */
async function listOf<Item>(items: Iterable<Item> = []): Promise<readonly Item[]> {
  const found: Item[] = []
  for (const item of items) {
    found.push(item)
    if (found.length % entriesOf === 0) await turn()
  }
  return found
}

/** Leaves turns to others between slices. */
async function* slices<Item>(all: Iterable<Item>): AsyncIterable<Item> {
  for (const slice of all) {
    yield slice
    await turn()
  }
}

/** The items of a stream, and its errors as callers may see them. */
async function* streamed<Item>(file: TraceFile,
  begin: () => AsyncIterable<Item>): AsyncIterable<Item> {
  try {
    yield* begin()
  } catch (error) {
    throw file.error(error)
  }
}
