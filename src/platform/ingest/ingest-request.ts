/** One request with operations: from its bytes to rows that are durable. */

import type { FairTurns } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { EndedSpans } from './ended/ended-writer.ts'
import { openBlock } from '../spans/block.ts'
import type { Feedback } from '../spans/feedback-port.ts'
import type { FilePart, SpanStore } from '../spans/span-port.ts'
import type { SpanHead, SpanPlace, Uuid } from '../spans/span.ts'
import { readUuid } from '../../uuid-bytes.ts'
import type { IngestAnswer, IngestCall } from './ingest-call.ts'
import type { BodyJob, LongBodies } from '../calls/long-bodies.ts'
import { otlpAnswerOf } from './body/otlp-body.ts'
import { unpackBody } from './body/packed-body.ts'
import type { PackedBody } from './body/packed-body.ts'
import { isLong, readBody } from './body/read-body.ts'
import type { BodyForm, RawFile, Rejection, RequestBody } from './body/request-body.ts'
import { readFeedback, writeFeedback } from './feedback-write.ts'
import { readOperation } from './operation.ts'
import type { Operation, ProjectInput } from './operation.ts'
import { placeOperations } from './placing.ts'
import type { Pause, PlacedOperation, PlacingParts } from './placing.ts'
import { withPrices } from './priced.ts'
import type { PriceCache } from './priced.ts'
import type { RemovedRuns } from './removed-runs.ts'
import { writesOf } from './write-request.ts'

const removedReason = 'Its trace was deleted.'
/** Characters of an id in an answer, and how many failures one names. */
const idMax = 64
const rejectedMax = 2000

/** A long body with operations, for a thread that reads it. */
export interface OperationsJob extends BodyJob {
  readonly kind: 'operations'
  readonly form: BodyForm
}

/** Ports and caches that a request is taken in with. */
export interface RequestParts extends PlacingParts {
  readonly nextUs: () => number
  readonly ended: EndedSpans
  readonly prices: PriceCache
  readonly turns: FairTurns
  readonly longBodies: LongBodies<OperationsJob>
  readonly removedRuns: Pick<RemovedRuns, 'isNoted'>
}

/** Takes in a request whose body has no compression. Throws as `SpanWrites.ingest` says. */
export async function ingestRequest(parts: RequestParts, call: IngestCall,
  body: Buffer): Promise<IngestAnswer> {
  return ingestOperations(parts, call, await bodyOf(parts, call, body))
}

/** Takes in what was read of a request. */
export async function ingestOperations(parts: RequestParts,
  call: Pick<IngestCall, 'tenant' | 'form' | 'contentType' | 'project'>,
  read: RequestBody): Promise<IngestAnswer> {
  const { tenant } = call
  const pause = parts.turns.pauses(tenant)
  const isOtlp = call.form === 'otlp'
  const rejected = [...read.rejected]
  const isNoted = (trace: Uuid) => parts.removedRuns.isNoted(tenant, trace)
  const all = await readAll(read, projectOf(call), rejected, pause)
  const operations = all.filter(({ id, order, trace }) => {
    const isRemoved = isNoted(order?.trace ?? trace ?? id)
    if (isRemoved) rejected.push({ id, reason: removedReason })
    return !isRemoved
  })
  if (call.form === 'post') await requireNew(parts.store, tenant, operations)
  const nowUs = parts.nextUs()
  const placedOrNot = await placeOperations(parts, { tenant, nowUs, operations, pause })
  // A deletion that was noted concurrently has not found a project that was made for the run.
  const outcomes = placedOrNot.map((outcome) =>
    typeof outcome !== 'string' && isNoted(outcome.place.trace) ? removedReason : outcome
  )
  const placed = await withPrices(parts.prices, tenant,
    outcomes.filter((outcome) => typeof outcome !== 'string'))
  outcomes.forEach((reason, index) => {
    if (typeof reason === 'string') rejected.push({ id: operations[index]!.id, reason })
  })
  const files = filesOf(placed, read.files, rejected)
  const feedback = feedbackIn(tenant, read, nowUs, rejected)
  if (!isOtlp) requireSome(placed.length + feedback.length, rejected)
  const removed = new Set<Uuid>()
  const moved: SpanPlace[] = []
  for await (const write of writesOf({ tenant, operations: placed, files, nextUs: parts.nextUs,
    pause })) {
    const written = await parts.store.write(write)
    for (const id of written.removed) removed.add(id)
    moved.push(...written.moved)
  }
  for (const id of removed) rejected.push({ id, reason: removedReason })
  const places = new Map(placed.map(({ place }) => [place.id, place]))
  // A concurrent request named the project of these.
  const guessed = new Set(placed.flatMap(({ place, isGuess }) => (isGuess ? [place.id] : [])))
  for (const place of moved) if (guessed.has(place.id)) places.set(place.id, place)
  const refused = await writeFeedback(parts.store, feedback, (span) => places.get(span))
  for (const id of refused) rejected.push({ id, reason: removedReason })
  // Rules read what all others can read already.
  if (placed.some(({ readers }) => readers !== undefined)) {
    // A guessed project is not known yet: the store returns such a span as moved once it is.
    await parts.ended.note(tenant, placed.flatMap(({ place, fields, readers, isGuess }) =>
      readers === undefined || fields.endUs === null || isGuess || removed.has(place.id)
        ? []
        : [{ place, readers }]
    ))
  }
  await noteMoved(parts, tenant, moved)
  return { accepted: placed.filter(({ place }) => !removed.has(place.id)).length,
    ...answerOf(rejected, operations), ...isOtlp && otlpAnswerOf(call.contentType, rejected) }
}

/** Notes spans that ended while their project was not known, for the rules of that project. */
async function noteMoved({ store, projects, ended }: RequestParts, tenant: string,
  moved: readonly SpanPlace[]): Promise<void> {
  if (moved.length === 0) return
  const heads = (await store.heads(moved)).filter(({ endUs }) => endUs !== null)
  const projectOf = ({ project: id }: SpanPlace) => ({ by: 'id', id }) as const
  const resolve = await projects.resolve(tenant,
    heads.map((head) => ({ project: projectOf(head), startUs: head.startUs })))
  await ended.note(tenant, heads.flatMap((head) => {
    const project = resolve(projectOf(head))
    const readers = typeof project === 'string' ? undefined : project.readers
    return readers === undefined ? [] : [{ place: head, readers }]
  }))
  await store.confirmMoves(tenant, moved)
}

/** Content of the body: read here if it is short, otherwise in a thread for long bodies. */
async function bodyOf({ longBodies }: RequestParts,
  { tenant, form, contentType, spanId, spareId, project }: IngestCall,
  body: Buffer): Promise<RequestBody> {
  const how = { form, contentType, ...spanId !== undefined && { spanId },
    ...spareId !== undefined && { spareId }, ...project !== undefined && { project } }
  if (!isLong(how, body)) return readBody(how, body)
  for await (const part of longBodies.read(tenant, { kind: 'operations', form: how, body })) {
    return unpackBody(part as PackedBody)
  }
  throw new HeddleError('internal')
}

function projectOf({ project }: Pick<IngestCall, 'project'>): ProjectInput | null {
  return project === undefined ? null : { by: 'name', name: project }
}

/** The operations that can be read. Those that cannot are put into `rejected`. */
async function readAll({ operations }: RequestBody, project: ProjectInput | null,
  rejected: Rejection[], pause: Pause): Promise<readonly Operation[]> {
  const read: Operation[] = []
  for (const raw of operations) {
    const turn = pause()
    if (turn !== undefined) await turn
    const operation = orRejected(raw.id ?? '', rejected, () => readOperation(raw))
    if (operation !== undefined) {
      read.push({ ...operation, project: operation.project ?? project })
    }
  }
  return read
}

/** Result of `read`; undefined if it throws `invalid`, with the reason in `rejected`. */
function orRejected<T>(id: string, rejected: Rejection[], read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    const { code, message } = HeddleError.from(error)
    if (code !== 'invalid') throw error
    rejected.push({ id, reason: message })
    return undefined
  }
}

/** Throws `exists` if the span was posted before. A patch of it may have come first. */
async function requireNew(store: SpanStore, tenant: string,
  operations: readonly Operation[]): Promise<void> {
  const ids = operations.map(({ id }) => id)
  const places = await store.locate(tenant, ids)
  if (places.length === 0) return
  for (const head of await store.heads(places)) {
    if (await wasPosted(store, head)) throw new HeddleError('exists', 'The run exists already.')
  }
}

async function wasPosted(store: SpanStore, head: SpanHead): Promise<boolean> {
  const blocks = await store.blocks(head, head.blocks)
  return [...blocks.values()].some((data) =>
    openBlock(data).some(({ span, kind }) => span === head.id && kind === 'post')
  )
}

/** Attachments of spans in the same request, which live as long as these. */
function filesOf(placed: readonly PlacedOperation[], files: readonly RawFile[],
  rejected: Rejection[]): readonly FilePart[] {
  const places = new Map(placed.map(({ place }) => [place.id, place]))
  return files.flatMap(({ span, name, type, data }) => {
    const place = places.get(readUuid(span) ?? '')
    if (place !== undefined) {
      return [{ project: place.project, owner: place.id, ownerTrace: place.trace, name, type,
        data }]
    }
    rejected.push({ id: span, reason: 'The run of an attachment is not in the request.' })
    return []
  })
}

function feedbackIn(tenant: string, { feedback }: RequestBody, nowUs: number,
  rejected: Rejection[]): readonly Feedback[] {
  return feedback.flatMap((raw) =>
    orRejected(raw.id, rejected, () => readFeedback(tenant, raw, nowUs)) ?? []
  )
}

/** Throws `invalid` if there was something and nothing of it can be taken. */
function requireSome(taken: number, rejected: readonly Rejection[]): void {
  if (taken === 0 && rejected.length > 0) throw new HeddleError('invalid', rejected[0]!.reason)
}

function answerOf(rejected: readonly Rejection[],
  operations: readonly Operation[]): Pick<IngestAnswer, 'rejected' | 'cut'> {
  const cut = operations.flatMap(({ id, cut }) => cut.map((reason) => ({ id, reason })))
  const shown = rejected.slice(0, rejectedMax)
    .map(({ id, reason }) => ({ id: id.slice(0, idMax), reason }))
  return { rejected: shown, ...cut.length === 0 ? {} : { cut: cut.slice(0, rejectedMax) } }
}
