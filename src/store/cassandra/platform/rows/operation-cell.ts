/** Operations on spans as the cells of a map, and the head that its cells make. */

import { hash } from 'node:crypto'

import { FeedbackMark as StoredMark,
  SpanOperation as Stored } from '../../../../../proto/gen/storage/v1/span.ts'
import { bytesOfUuid, foldHead, readKinds, termOf, uuidOfBytes,
  writeKinds } from '../../../../platform/index.ts'
import type { BlockId, FeedbackMark, SpanFields, SpanHead, SpanOperation, SpanPlace, SpanWrite,
  Term, Uuid } from '../../../../platform/index.ts'
import type { Row } from '../../driver/connection.ts'

/** A cell of the map of a span's operations. */
export interface OperationCell {
  /** A hash of all that the operation says, so that a repeated one is the same cell. */
  readonly key: bigint
  readonly data: Buffer
}

/** The cell of an operation, which is the `nth` one on its span in its request. */
export function cellOf(write: SpanWrite, nth: number): OperationCell {
  const { place, kind, arrivedUs, fields, terms, block, isGuess = false } = write
  const { parent, example, kinds, ...plain } = fields
  const said = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== null))
  const content = Stored.encode({
    ...said as Omit<Partial<Stored>, 'parent' | 'example'>,
    trace: bytesOfUuid(place.trace),
    traceStartUs: place.traceStartUs,
    patch: kind === 'patch',
    guess: isGuess,
    arrivedUs: 0,
    nth: 0,
    terms: bytesOfTerms(terms),
    ...block !== null && { block: bytesOfTerms([block]) },
    ...parent !== null && { parent: bytesOfUuid(parent) },
    ...example !== null && { example: bytesOfUuid(example) },
    ...kinds !== null && { kindsJson: writeKinds(kinds) },
  }).finish()
  const key = hash('sha1', content, 'buffer').readBigInt64BE()
  // Encoded messages that follow each other are one message.
  const arrival = Stored.encode({ trace: nothing, traceStartUs: 0, patch: false, guess: false,
    terms: nothing, arrivedUs, nth }).finish()
  return { key, data: Buffer.concat([content, arrival]) }
}

/** The columns that `headOf` reads. */
export const headColumns = 'start_us, span_id, ops, feedback'

/** Row of a head, with the tenant and the project that it is of. */
export interface HeadRow {
  readonly tenant: string
  readonly project: Uuid
  readonly row: Row
}

/** The head of a row; undefined if there is only feedback. */
export function headOf({ tenant, project, row }: HeadRow): SpanHead | undefined {
  const cells = Object.values(row['ops'] ?? {})
  if (cells.length === 0) return undefined
  const at = { tenant, project, startUs: Number(row['start_us']), id: uuidOfBytes(row['span_id']) }
  const stored = cells.map((cell) => Stored.decode(cell))
  const operations = stored.length === 1 ? stored : stored.toSorted((a, b) => a.nth - b.nth)
  const marks = marksOf(row['feedback'] ?? {})
  const folded = foldHead(operations.map((each) => operationOf(at, each)), marks)
  const head = stored.every(({ guess }) => guess) ? { ...folded, isGuess: true } : folded
  if (marks.length === 0) return head
  const marked = marks.map(({ key }) => termOf.feedback(key))
  return { ...head, terms: [...new Set([...head.terms, ...marked])] }
}

/** The bytes of a mark that feedback leaves. */
export function bytesOfMark({ key, score, value }: FeedbackMark): Buffer {
  return Buffer.from(
    StoredMark.encode({ key, score: score ?? undefined, value: value ?? undefined }).finish(),
  )
}

/** An operation on a span whose project no operation named, and the key of its cell. */
export interface GuessedOperation {
  readonly key: bigint
  readonly operation: SpanOperation
}

/** The operations of a row that named no project. */
export function guessesOf({ tenant, project, row }: HeadRow): readonly GuessedOperation[] {
  const at = { tenant, project, startUs: Number(row['start_us']), id: uuidOfBytes(row['span_id']) }
  return Object.entries(row['ops'] ?? {})
    .map(([key, cell]) => ({ key: BigInt(key), stored: Stored.decode(cell) }))
    .filter(({ stored }) => stored.guess)
    .toSorted((a, b) => a.stored.nth - b.stored.nth)
    .map(({ key, stored }) => ({ key, operation: operationOf(at, stored) }))
}

/** The trace and the block of an operation. */
export interface TracedOperation
  extends Pick<SpanPlace, 'trace' | 'traceStartUs'>, Pick<SpanOperation, 'block'> {
  /** True if the operation named no project. */
  readonly isGuess: boolean
}

/** The traces and the blocks of the operations of a row. */
export function tracedOperationsOf(row: Row): readonly TracedOperation[] {
  return Object.values(row['ops'] ?? {}).map((cell) => {
    const { trace, traceStartUs, guess, block } = Stored.decode(cell)
    return { trace: uuidOfBytes(trace), traceStartUs, isGuess: guess, block: blockOf(block) }
  })
}

function marksOf(cells: Record<string, Buffer>): readonly FeedbackMark[] {
  return Object.entries(cells).map(([id, cell]) => {
    const { key, score = null, value = null } = StoredMark.decode(cell)
    return { id, key, score, value }
  })
}

function operationOf(at: Pick<SpanHead, 'tenant' | 'project' | 'startUs' | 'id'>,
  stored: Stored): SpanOperation {
  const { trace, traceStartUs, patch, arrivedUs, terms, block } = stored
  return {
    place: { ...at, trace: uuidOfBytes(trace), traceStartUs },
    kind: patch ? 'patch' : 'post',
    arrivedUs,
    fields: fieldsOf(stored),
    terms: termsOfBytes(terms),
    block: blockOf(block),
  }
}

function blockOf(bytes: Buffer | undefined): BlockId | null {
  return bytes === undefined ? null : BigInt.asUintN(64, bytes.readBigInt64BE())
}

function fieldsOf(stored: Stored): SpanFields {
  const { parent, example, kindsJson } = stored
  return {
    dottedOrder: stored.dottedOrder ?? null,
    parent: parent === undefined ? null : uuidOfBytes(parent),
    root: stored.root ?? null,
    name: stored.name ?? null,
    type: stored.type ?? null,
    endUs: stored.endUs ?? null,
    firstTokenUs: stored.firstTokenUs ?? null,
    failed: stored.failed ?? null,
    promptTokens: stored.promptTokens ?? null,
    completionTokens: stored.completionTokens ?? null,
    totalTokens: stored.totalTokens ?? null,
    promptCost: stored.promptCost ?? null,
    completionCost: stored.completionCost ?? null,
    totalCost: stored.totalCost ?? null,
    kinds: kindsJson === undefined ? null : readKinds(kindsJson),
    thread: stored.thread ?? null,
    example: example === undefined ? null : uuidOfBytes(example),
  }
}

const nothing = Buffer.alloc(0)

function bytesOfTerms(terms: readonly Term[]): Buffer {
  const bytes = Buffer.allocUnsafe(terms.length * 8)
  terms.forEach((term, index) => bytes.writeBigInt64BE(BigInt.asIntN(64, term), index * 8))
  return bytes
}

function termsOfBytes(bytes: Buffer): readonly Term[] {
  const terms: Term[] = []
  for (let at = 0; at < bytes.byteLength; at += 8) terms.push(bytes.readBigInt64BE(at))
  return terms
}
