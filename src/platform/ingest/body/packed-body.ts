/** The operations of a body in few values, so that threads hand thousands over in no time. */

import type { RawOperation, RequestBody } from './request-body.ts'

type Range = readonly [name: string, from: number, to: number]

/** A body whose operations are numbers, besides their ids and their bytes. */
export interface PackedBody extends Omit<RequestBody, 'operations'> {
  /** Bytes that the ranges of operations lie in. */
  readonly bytes: Uint8Array
  readonly ids: readonly (string | null)[]
  /** 1 for a patch. */
  readonly patches: Uint8Array
  /** Begin and end of each operation, one after the other. */
  readonly ranges: Float64Array
  /** `filedUs`; not a number if there is none. */
  readonly filedUs: Float64Array
  /** Members that are not in the object, by the index of their operation. */
  readonly apart: ReadonlyMap<number, readonly Range[]>
}

/** Packs what was read of a body. Operations are parts of it, or all are bytes of their own. */
export function packBody(body: Buffer, read: RequestBody): PackedBody {
  const { operations, ...rest } = read
  const isInside = operations.every(({ main }) => main.buffer === body.buffer)
  const bytes = isInside ? body : Buffer.concat(operations.map(({ main }) => main))
  const ranges = new Float64Array(operations.length * 2)
  const apart = new Map<number, readonly Range[]>()
  let end = 0
  for (const [index, operation] of operations.entries()) {
    const from = isInside ? placeIn(body, operation.main) : end
    end = from + operation.main.length
    ranges.set([from, end], index * 2)
    if (operation.apart.size > 0) {
      apart.set(index, [...operation.apart].map(([name, part]) => {
        const at = placeIn(body, part)
        return [name, at, at + part.length]
      }))
    }
  }
  return { ...rest, bytes, ranges, apart, ids: operations.map(({ id }) => id),
    patches: Uint8Array.from(operations, ({ kind }) => Number(kind === 'patch')),
    filedUs: Float64Array.from(operations, ({ filedUs }) => filedUs ?? NaN) }
}

function placeIn(body: Buffer, part: Buffer): number {
  return part.byteOffset - body.byteOffset
}

const none: ReadonlyMap<string, Buffer> = new Map()

/** The body that was packed, in another thread. */
export function unpackBody(
  { bytes, ids, patches, ranges, filedUs, apart, feedback, ...rest }: PackedBody,
): RequestBody {
  const body = bufferOf(bytes)
  const operations = ids.map((id, index): RawOperation => {
    const filed = filedUs[index]!
    return { kind: patches[index] === 1 ? 'patch' : 'post', id,
      main: body.subarray(ranges[index * 2], ranges[index * 2 + 1]),
      apart: membersOf(body, apart.get(index)), ...!Number.isNaN(filed) && { filedUs: filed } }
  })
  return { ...rest, operations,
    feedback: feedback.map(({ id, json }) => ({ id, json: bufferOf(json) })) }
}

function membersOf(body: Buffer, ranges?: readonly Range[]): ReadonlyMap<string, Buffer> {
  if (ranges === undefined) return none
  return new Map(ranges.map(([name, from, to]) => [name, body.subarray(from, to)]))
}

/** The same bytes: what a thread gets is no buffer. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
