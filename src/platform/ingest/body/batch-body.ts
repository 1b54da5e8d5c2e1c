/** Bodies of JSON: a batch of operations, or a single one. */

import { HeddleError } from '../../../errors.ts'
import { itemsAt, NotJson, visitMembers } from '../../../json/index.ts'
import type { MemberPlace } from '../../../json/index.ts'
import type { RawOperation, RequestBody } from './request-body.ts'

const none: ReadonlyMap<string, Buffer> = new Map()

/** Reads `{"post":[…],"patch":[…]}`. Throws `malformed`, or `too_large` for more than `max`. */
export function readBatch(body: Buffer, max: number): RequestBody {
  const operations: RawOperation[] = []
  for (const { name: kind, from } of membersOf(body)) {
    if (kind !== 'post' && kind !== 'patch') continue
    for (const item of itemsAt(body, from)) {
      if (operations.length === max) {
        throw new HeddleError('too_large', `A body may have ${max} operations.`)
      }
      operations.push({ kind, id: null, main: body.subarray(item.from, item.to), apart: none })
    }
  }
  return { operations, files: [], feedback: [], rejected: [] }
}

/**
 * Reads a single operation. `id` is that of the path; null if its body says it. One that says none
 * gets the spare one.
 */
export function readSingle(kind: 'post' | 'patch', id: string | null, body: Buffer,
  spare?: string): RequestBody {
  const members = membersOf(body)
  const isNamed = members.length === membersMax ||
    members.some(({ name, from }) => name === 'id' && body[from] !== letterN)
  return { operations: [{ kind, id: isNamed ? id : id ?? spare ?? null, main: body, apart: none }],
    files: [], feedback: [], rejected: [] }
}

/** Of `null`. */
const letterN = 0x6e

/** Members of a body that are looked at. */
const membersMax = 100

/** The first members of the object that the body is. Throws `malformed`. */
function membersOf(body: Buffer): readonly MemberPlace[] {
  const members: MemberPlace[] = []
  try {
    visitMembers(body, (member) => {
      if (members.length < membersMax) members.push(member)
    })
    return members
  } catch (error) {
    if (!(error instanceof NotJson)) throw error
    throw new HeddleError('malformed', 'The body is no JSON object.')
  }
}
