/** Rows of spans: how a span becomes the values of its row, and a row a span or a head. */

import { bytesOfUuid, readKinds, readUuid, uuidOfBytes,
  writeKinds } from '../../../platform/index.ts'
import type { BlockId, FeedbackMark, SpanFields, SpanHead, SpanPlace, Term,
  Uuid } from '../../../platform/index.ts'
import type { Value } from '../file/database.ts'
import { openDottedOrder, packDottedOrder, parentIn } from './dotted-order.ts'
import { fieldOrder, noRank } from './span-merge.ts'
import type { BlockOfSpan, IndexedFields, StoredSpan } from './span-merge.ts'
import { rowBytes } from './tenant-use.ts'

type Bytes = Uint8Array
type Amount = number | null

/** The columns of a `SpanRow`. */
export const spanColumns = `no, id, start_us, trace, trace_us, dotted, parent, root, name, type,
  end_us, first_us, failed, prompt, completion, total, prompt_cost, completion_cost, total_cost,
  thread, example, terms, blocks, marks, posted, post_us, patch_us, patched, ranks,
  kinds, expires_min, guessed`

/** All that a row keeps. */
export type SpanRow = readonly [no: number, id: Bytes, startUs: number, trace: Bytes,
  traceUs: number, dotted: Bytes | string | null, parent: Bytes | null, root: Amount,
  name: string | null, type: string | null, endUs: Amount, firstUs: Amount, failed: Amount,
  prompt: Amount, completion: Amount, total: Amount, promptCost: Amount, completionCost: Amount,
  totalCost: Amount, thread: Bytes | string | null, example: Bytes | null, terms: Bytes | null,
  blocks: Bytes | null, marks: string | null, posted: Amount, postUs: Amount, patchUs: Amount,
  patched: Amount, ranks: Bytes | null, kinds: string | null, expiresMin: Amount, guessed: Amount]

/** The columns that operations change, in the order of `changingValues`. */
export const changingColumns = ['dotted', 'parent', 'root', 'name', 'type', 'end_us', 'first_us',
  'failed', 'prompt', 'completion', 'total', 'prompt_cost', 'completion_cost', 'total_cost',
  'thread', 'example', 'terms', 'posted', 'blocks', 'marks', 'post_us', 'patch_us', 'patched',
  'ranks', 'kinds']

/**
 * The columns that change seldom and are indexed, in the order of `indexedValues`: SQLite writes an
 * index entry again for each column that an update names.
 */
export const indexedColumns = ['expires_min', 'guessed']

/** Values of `guessed`. Earlier programs ignore the second. */
const [guess, moved] = [1, 2]

/** The values of the indexed columns. */
export function indexedValues({ expiresMin, isGuess, isMoved }: IndexedFields): Value[] {
  return [expiresMin, isGuess ? guess : isMoved ? moved : null]
}

/** Bytes of a block: its id and its arrival. */
const [idBytes, blockBytes] = [8, 15]

/** The values of the columns that operations change. */
export function changingValues(span: StoredSpan): Value[] {
  const { place, fields } = span
  const dotted = fields.dottedOrder === null ? null : packDottedOrder(fields.dottedOrder, place)
  return [
    dotted,
    fields.parent === null ? null : parentBytes(fields.parent, dotted, place),
    truth(fields.root),
    fields.name,
    fields.type,
    relative(fields.endUs, place),
    relative(fields.firstTokenUs, place),
    truth(fields.failed),
    amount(fields.promptTokens),
    amount(fields.completionTokens),
    amount(fields.totalTokens),
    fields.promptCost,
    fields.completionCost,
    fields.totalCost,
    textOrUuid(fields.thread),
    fields.example === null ? null : bytesOfUuid(fields.example),
    termBytes([...span.posted, ...span.unposted]),
    span.posted.size,
    blocksOf(span.blocks),
    span.marks.length === 0
      ? null
      : JSON.stringify(span.marks.map(({ id, key, score, value }) => [id, key, score, value])),
    ...rankValues(span),
    fields.kinds === null ? null : writeKinds(fields.kinds),
  ]
}

/** Bytes of a span with these values, by `tenant-use.ts`. */
export function bytesOfSpan(values: readonly unknown[], postings: number): number {
  let bytes = rowBytes.span + postings * rowBytes.posting
  for (const value of values) {
    if (typeof value === 'string') bytes += Buffer.byteLength(value)
    else if (value instanceof Uint8Array) bytes += value.byteLength
  }
  return bytes
}

/** Bytes of the span of a row. */
export function bytesOfRow(row: SpanRow): number {
  return bytesOfSpan(row.slice(5), row[24] ?? 0)
}

/** Arrival of the last operation that changed the span of a row. */
export function arrivalOf(row: SpanRow): number {
  const [startUs, blocks, postUs, patchUs, ranks] = [row[2], row[22], row[25], row[26], row[28]]
  const ofFields = ranks !== null
    ? ranksOf(row).reduce((last, rank) => rank === noRank ? last : Math.max(last, Math.abs(rank)),
      -Infinity)
    : Math.max(postUs ?? -Infinity, patchUs ?? -Infinity) + startUs
  const last = Math.max(ofFields, blocks === null ? -Infinity : lastArrivalIn(blocks))
  return last === -Infinity ? startUs : last
}

/** Arrival of the last post of the span of a row; of the last operation if no post is known. */
export function postArrivalOf(row: SpanRow): number {
  const posts = ranksOf(row).filter((rank) => rank < 0 && rank !== noRank)
  return posts.length === 0 ? arrivalOf(row) : -Math.min(...posts)
}

/** The span of a row. */
export function storedSpan(row: SpanRow, tenant: string, project: Uuid): StoredSpan {
  const place = placeOf(row, tenant, project)
  const terms = termsOf(row[21])
  const posted = row[24] ?? 0
  return { place, fields: fieldsOf(row, place), ranks: ranksOf(row),
    posted: new Set(terms.slice(0, posted)), unposted: new Set(terms.slice(posted)),
    blocks: blocksIn(row[22]), marks: marksOf(row[23]), expiresMin: row[30],
    isGuess: row[31] === guess, isMoved: row[31] === moved }
}

/** The head of a row. */
export function headOf(row: SpanRow, tenant: string, project: Uuid): SpanHead {
  const place = placeOf(row, tenant, project)
  return { ...place, ...fieldsOf(row, place), arrivedUs: arrivalOf(row), terms: termsOf(row[21]),
    blocks: blocksIn(row[22]).map(({ id }) => id), feedback: marksOf(row[23]),
    ...row[31] === guess && { isGuess: true } }
}

/** The term as rows have it among others. */
export function termBytes(terms: readonly Term[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(terms.length * 8)
  for (const [index, term] of terms.entries()) bytes.writeBigInt64LE(term, index * 8)
  return bytes
}

/** The terms of a row. The first `posted` of them have a posting. */
export function termsOf(bytes: Uint8Array | null): Term[] {
  if (bytes === null) return []
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const terms: Term[] = []
  for (let at = 0; at < bytes.byteLength; at += 8) terms.push(view.getBigInt64(at, true))
  return terms
}

function placeOf(row: SpanRow, tenant: string, project: Uuid): SpanPlace {
  const [, id, startUs, trace, traceUs] = row
  return { tenant, project, startUs, id: uuidOfBytes(id), trace: uuidOfBytes(trace),
    traceStartUs: startUs + traceUs }
}

function fieldsOf(row: SpanRow, place: SpanPlace): SpanFields {
  const [, , startUs, , , dotted, parent, root, name, type, endUs, firstUs, failed, promptTokens,
    completionTokens, totalTokens, promptCost, completionCost, totalCost, thread, example] = row
  const absolute = (us: Amount) => (us === null ? null : us + startUs)
  return {
    dottedOrder: dotted === null ? null : openDottedOrder(dotted, place),
    parent: parent === null
      ? null
      : parent.byteLength === 0
      ? parentIn(dotted, place.trace)!
      : uuidOfBytes(parent),
    root: root === null ? null : root === 1,
    name,
    type,
    endUs: absolute(endUs),
    firstTokenUs: absolute(firstUs),
    failed: failed === null ? null : failed === 1,
    promptTokens,
    completionTokens,
    totalTokens,
    promptCost,
    completionCost,
    totalCost,
    kinds: row[29] === null ? null : readKinds(row[29]),
    thread: thread instanceof Uint8Array ? uuidOfBytes(thread) : thread,
    example: example === null ? null : uuidOfBytes(example),
  }
}

/** No bytes if the dotted order tells the parent. */
function parentBytes(parent: Uuid, dotted: unknown, place: SpanPlace): Uint8Array {
  return parentIn(dotted, place.trace) === parent ? new Uint8Array() : bytesOfUuid(parent)
}

function textOrUuid(text: string | null): Value {
  return text !== null && readUuid(text) === text ? bytesOfUuid(text) : text
}

function truth(value: boolean | null): Amount {
  return value === null ? null : Number(value)
}

/** Clamps a number to those that SQLite gives back: a longer one makes the row unreadable. */
function amount(value: number | null): Amount {
  if (value === null || Number.isNaN(value)) return null
  return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
}

function relative(us: number | null, { startUs }: SpanPlace): Amount {
  return us === null ? null : amount(us - startUs)
}

function marksOf(json: string | null): readonly FeedbackMark[] {
  if (json === null) return []
  return (JSON.parse(json) as [Uuid, string, number | null, string | null][])
    .map(([id, key, score, value]) => ({ id, key, score, value }))
}

function blocksOf(blocks: readonly BlockOfSpan[]): Uint8Array | null {
  if (blocks.length === 0) return null
  const bytes = Buffer.alloc(blocks.length * blockBytes)
  for (const [index, { id, arrivedUs }] of blocks.entries()) {
    const at = index * blockBytes
    bytes.writeBigInt64BE(id, at)
    // Seven bytes: the lowest six, and above them the sign and what is left.
    bytes.writeInt8(Math.floor(arrivedUs / 2 ** 48), at + idBytes)
    bytes.writeUIntBE(arrivedUs - Math.floor(arrivedUs / 2 ** 48) * 2 ** 48, at + idBytes + 1, 6)
  }
  return bytes
}

/** Ids of the blocks in a column `blocks`. */
export function blockIds(bytes: Uint8Array | null): readonly BlockId[] {
  return blocksIn(bytes).map(({ id }) => id)
}

function blocksIn(bytes: Uint8Array | null): readonly BlockOfSpan[] {
  if (bytes === null) return []
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const blocks: BlockOfSpan[] = []
  for (let at = 0; at < buffer.byteLength; at += blockBytes) {
    blocks.push({ id: buffer.readBigInt64BE(at), arrivedUs: arrivalAt(buffer, at) })
  }
  return blocks
}

/** The arrival of the last block: they are by arrival. */
function lastArrivalIn(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return arrivalAt(buffer, buffer.byteLength - blockBytes)
}

function arrivalAt(buffer: Buffer, at: number): number {
  return buffer.readInt8(at + idBytes) * 2 ** 48 + buffer.readUIntBE(at + idBytes + 1, 6)
}

/**
 * Ranks in few bytes: most spans have one post and one patch, so two times and the set of fields
 * that the patch filled tell all of them.
 */
function rankValues({ ranks, place: { startUs } }: StoredSpan): Value[] {
  let [post, patch]: [number | null, number | null] = [null, null]
  let patched = 0
  for (const [index, rank] of ranks.entries()) {
    if (rank === noRank) continue
    const isPatch = rank > 0
    const known: number | null = isPatch ? patch : post
    if (known !== null && known !== rank) {
      return [null, null, null, new Uint8Array(Float64Array.from(ranks).buffer)]
    }
    if (isPatch) {
      patch = rank
      patched |= 1 << index
    } else post = rank
  }
  return [post === null ? null : -post - startUs, patch === null ? null : patch - startUs,
    patched === 0 ? null : patched, null]
}

function ranksOf(row: SpanRow): number[] {
  const [postUs, patchUs, patched, ranks] = [row[25], row[26], row[27], row[28]]
  if (ranks !== null) {
    const kept = [...new Float64Array(ranks.slice().buffer)]
    // An earlier version knew fewer fields.
    return fieldOrder.map((_, index) => kept[index] ?? noRank)
  }
  const isFilled = filledIn(row)
  return fieldOrder.map((_, index) => {
    if (!isFilled[index]) return noRank
    return ((patched ?? 0) >> index & 1) === 1 ? patchUs! + row[2] : -(postUs! + row[2])
  })
}

/** Flags of the fields that a row has, in `fieldOrder`: most of their columns are in that order. */
function filledIn(row: SpanRow): readonly boolean[] {
  return [...row.slice(5, 21), row[29]].map((value) => value !== null)
}
