/** One request with operations: from its bytes to rows that are durable. */

import { setImmediate } from 'node:timers/promises'

import { HeddleError } from '../../errors.ts'
import type { EndedSpans } from '../rules/ended-writer.ts'
import { openBlock } from '../spans/block.ts'
import type { Feedback } from '../spans/feedback-port.ts'
import type { FilePart, SpanStore } from '../spans/span-port.ts'
import type { SpanHead } from '../spans/span.ts'
import { readUuid } from '../spans/uuid-bytes.ts'
import type { IngestAnswer, IngestCall } from '../threads/platform-calls.ts'
import { readBatch, readSingle } from './body/batch-body.ts'
import { readMultipart } from './body/multipart-body.ts'
import { otlpAnswerOf, readOtlpBody } from './body/otlp-body.ts'
import type { RawFile, Rejection, RequestBody } from './body/request-body.ts'
import { readFeedback, writeFeedback } from './feedback-write.ts'
import { readOperation } from './operation.ts'
import type { Operation, ProjectSaid } from './operation.ts'
import { placeOperations } from './placing.ts'
import type { PlacedOperation, PlacingParts } from './placing.ts'
import { withPrices } from './pricing/priced.ts'
import type { PriceCache } from './pricing/priced.ts'
import { writesOf } from './write-request.ts'

/** Operations that a body may have, and pieces of feedback. */
const operationsMax = 2000
/** Bytes of operations that are read before others have a turn. */
const bytesOfTurn = 1024 * 1024
/** Characters of an id in an answer, and how many failures one names. */
const idMax = 64
const rejectedMax = 2000

/** What a request is taken in with. */
export interface RequestParts extends PlacingParts {
  readonly nextUs: () => number
  readonly ended: EndedSpans
  readonly prices: PriceCache
}

/** Takes in a request whose body has no compression. Throws as `IngestHandlers.ingest` says. */
export async function ingestRequest(parts: RequestParts, call: IngestCall,
  body: Buffer): Promise<IngestAnswer> {
  const { tenant } = call
  const read = readBody(call, body)
  const isOtlp = call.form === 'otlp'
  if (Math.max(read.operations.length, read.feedback.length) > operationsMax && !isOtlp) {
    throw new HeddleError('too_large',
      `A body may have ${operationsMax} operations, and as much feedback.`)
  }
  const rejected = [...read.rejected]
  const operations = await readAll(read, projectOf(call), rejected)
  if (call.form === 'post') await requireNew(parts.store, tenant, operations)
  const nowUs = parts.nextUs()
  const outcomes = await placeOperations(parts, { tenant, nowUs, operations })
  const placed = await withPrices(parts.prices, tenant,
    outcomes.filter((outcome) => typeof outcome !== 'string'))
  outcomes.forEach((reason, index) => {
    if (typeof reason === 'string') rejected.push({ id: operations[index]!.id, reason })
  })
  const files = filesOf(placed, read.files, rejected)
  const feedback = feedbackIn(tenant, read, nowUs, rejected)
  if (!isOtlp) requireSome(placed.length + feedback.length, rejected)
  for (const write of writesOf(tenant, placed, files, parts.nextUs)) await parts.store.write(write)
  const places = new Map(placed.map(({ place }) => [place.id, place]))
  await writeFeedback(parts.store, feedback, (span) => places.get(span))
  // Rules read what all others can read already.
  if (placed.some(({ readers }) => readers !== undefined)) {
    await parts.ended.note(tenant, placed.flatMap(({ place, fields, readers }) =>
      readers === undefined || fields.endUs === null ? [] : [{ place, readers }]
    ))
  }
  return { accepted: placed.length, ...answerOf(rejected, operations),
    ...isOtlp && otlpAnswerOf(call.contentType, rejected) }
}

function readBody({ form, contentType, spanId, project }: IngestCall, body: Buffer): RequestBody {
  switch (form) {
    case 'multipart':
      return readMultipart(body, contentType)
    case 'batch':
      return readBatch(body, operationsMax)
    case 'post':
    case 'patch':
      return readSingle(form, spanId ?? null, body)
    case 'otlp':
      return readOtlpBody(body, contentType, project)
  }
}

function projectOf({ project }: IngestCall): ProjectSaid | null {
  return project === undefined ? null : { by: 'name', name: project }
}

/** The operations that can be read. Those that cannot are put into `rejected`. */
async function readAll({ operations }: RequestBody, project: ProjectSaid | null,
  rejected: Rejection[]): Promise<readonly Operation[]> {
  const read: Operation[] = []
  let bytes = 0
  for (const raw of operations) {
    const operation = orRejected(raw.id ?? '', rejected, () => readOperation(raw))
    if (operation !== undefined) {
      read.push({ ...operation, project: operation.project ?? project })
    }
    bytes += raw.main.length
    for (const member of raw.apart.values()) bytes += member.length
    if (bytes < bytesOfTurn) continue
    bytes = 0
    await setImmediate()
  }
  return read
}

/** What `read` returns; undefined if it throws `invalid`, with the reason in `rejected`. */
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
  const places = [...(await store.locate(tenant, ids)).values()]
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
      return [{ owner: place.id, ownerTrace: place.trace, name, type, data }]
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
