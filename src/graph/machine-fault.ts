/** Distinguishes faults of the machine, which pass, from faults of a project's code. */

import { memberOf } from '../json/index.ts'

/** Codes of errors that a lack of processes, memory, files or disk space causes. */
const codes: ReadonlySet<unknown> = new Set(['EAGAIN', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE',
  'ENOMEM', 'ENOSPC', 'ERR_MEMORY_ALLOCATION_FAILED', 'ERR_WORKER_INIT_FAILED',
  'ERR_WORKER_OUT_OF_MEMORY'])

/** Causes that are followed: a chain of causes may be a circle. */
const causesMax = 10

/** True if the error, or one of its causes, comes from a machine without free resources. */
export function isMachineFault(error: unknown): boolean {
  let cause = error
  for (let depth = 0; depth < causesMax && cause !== undefined; depth++) {
    if (codes.has(memberOf(cause, 'code'))) return true
    cause = memberOf(cause, 'cause')
  }
  return false
}
