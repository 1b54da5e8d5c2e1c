/** Parts of a multipart body: operations, attachments and feedback. */

import { HeddleError } from '../../../errors.ts'
import { boundaryOf, partsOf } from './multipart.ts'
import type { RawFeedback, RawFile, RawOperation, Rejection, RequestBody } from './request-body.ts'

/** Parts that a body may have. */
const partsMax = 20_000
/** Bytes that a part may have. */
const partBytesMax = 20 * 1024 * 1024
/** Characters of the name of an attachment. */
const fileNameMax = 500

/** An operation whose parts are still being found. */
interface OpenOperation {
  readonly kind: 'post' | 'patch'
  readonly id: string
  main: Buffer | null
  readonly apart: Map<string, Buffer>
  /** Why it cannot be taken; null if it can. */
  broken: string | null
}

/**
 * Reads a body. Its parts may be in any order. Of one that is cut off, what is whole is taken. An
 * operation may be there twice. Throws `malformed` or `too_large`.
 */
export function readMultipart(body: Buffer, contentType: string): RequestBody {
  const operations: OpenOperation[] = []
  const latest = new Map<string, OpenOperation>()
  const files: RawFile[] = []
  const feedback: RawFeedback[] = []
  const rejected: Rejection[] = []
  const openFor = (kind: 'post' | 'patch', id: string,
    isTaken: (one: OpenOperation) => boolean) => {
    const known = latest.get(`${kind}.${id}`)
    if (known !== undefined && !isTaken(known)) return known
    const opened = { kind, id, main: null, apart: new Map(), broken: null }
    operations.push(opened)
    latest.set(`${kind}.${id}`, opened)
    return opened
  }
  let parts = 0
  for (const { name, type, data } of partsOf(body, boundaryOf(contentType))) {
    if (++parts > partsMax) {
      throw new HeddleError('too_large', `A body may have ${partsMax} parts.`)
    }
    const [kind, id = '', member] = splitName(name)
    const wrong = whatIsWrong(data)
    if (kind === 'post' || kind === 'patch') {
      const operation = openFor(kind, id, (one) =>
        member === undefined ? one.main !== null : one.apart.has(member))
      if (wrong !== null) operation.broken = wrong
      else if (member === undefined) operation.main = data
      else operation.apart.set(member, data!)
    } else if (wrong !== null) {
      rejected.push({ id, reason: wrong })
    } else if (kind === 'feedback') {
      feedback.push({ id, json: data! })
    } else if (kind !== 'attachment') {
      rejected.push({ id, reason: 'A part has a name that means nothing here.' })
    } else if (member === undefined || member.length > fileNameMax) {
      rejected.push({ id, reason: `The name of an attachment has 1 to ${fileNameMax} characters.` })
    } else {
      files.push({ span: id, name: member, type, data: data! })
    }
  }
  return { operations: operations.flatMap((one) => wholeOf(one, rejected)), files, feedback,
    rejected }
}

/** `kind.id` or `kind.id.member`; a member may have dots in its name. */
function splitName(
  name: string,
): readonly [kind: string, id?: string | undefined, member?: string] {
  const [kind = '', id] = name.split('.', 2)
  const rest = id === undefined ? '' : name.slice(kind.length + id.length + 2)
  return rest === '' ? [kind, id] : [kind, id, rest]
}

function whatIsWrong(data: Buffer | null): string | null {
  if (data === null) return 'The body ends before the end of a part.'
  if (data.length <= partBytesMax) return null
  return `A part may have ${partBytesMax / 1024 / 1024} MiB.`
}

function wholeOf({ kind, id, main, apart, broken }: OpenOperation,
  rejected: Rejection[]): readonly RawOperation[] {
  if (main !== null && broken === null) return [{ kind, id, main, apart }]
  rejected.push({ id, reason: broken ?? `The part ${kind}.<id> is missing.` })
  return []
}
