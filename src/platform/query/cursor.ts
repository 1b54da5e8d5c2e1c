/** Cursors: the end of a page, with a hash of the question that it belongs to. */

import { hash } from 'node:crypto'

import { HeddleError } from '../../errors.ts'
import type { ScanMark } from '../spans/span-port.ts'
import { bytesOfUuid, uuidOfBytes } from '../../uuid-bytes.ts'
import type { RunsQuestion } from './question.ts'

/** Bytes of a start, an id and a hash. */
const [startBytes, idBytes, hashBytes] = [8, 16, 8]
const cursorBytes = startBytes + idBytes + hashBytes

/** The cursor behind which the next page of this question begins. */
export function writeCursor(mark: ScanMark, question: RunsQuestion): string {
  const start = Buffer.alloc(startBytes)
  start.writeBigInt64BE(BigInt(mark.startUs))
  return Buffer.concat([start, bytesOfUuid(mark.id), hashOf(question)]).toString('base64url')
}

/** End of the page before. Throws `malformed` for a cursor of another question. */
export function readCursor(question: RunsQuestion): ScanMark | undefined {
  const { cursor } = question
  if (cursor === undefined || cursor === '') return undefined
  const bytes = Buffer.from(cursor, 'base64url')
  const isOwn = bytes.byteLength === cursorBytes &&
    bytes.subarray(startBytes + idBytes).equals(hashOf(question))
  if (!isOwn) throw new HeddleError('malformed', 'cursor: it belongs to another question.')
  return { startUs: Number(bytes.readBigInt64BE()),
    id: uuidOfBytes(bytes.subarray(startBytes, startBytes + idBytes)) }
}

/**
 * Hash of all members that identify a question. Bounds of the start are left out: where clients
 * give none, they follow the clock and differ from page to page.
 */
function hashOf(question: RunsQuestion): Buffer {
  const { tenant, projects, ids, trace, parent, type, endFromUs, endToUs, failed, rootsOnly, isRoot,
    examples, text, filter, traceFilter, treeFilter, order, version } = question
  const parts = [tenant, projects.map(({ id }) => id).toSorted(), ids, trace, parent, type,
    endFromUs, endToUs, failed, rootsOnly, isRoot, examples, text, filter, traceFilter, treeFilter,
    order, version]
  // Undefined and null are the same in a list.
  return hash('sha256', JSON.stringify(parts), 'buffer').subarray(0, hashBytes)
}
