/** Starts child processes on a machine that may have no room for them. */

import type { ChildProcess } from 'node:child_process'

import { HeddleError, messageOf } from '../errors.ts'

/**
 * The child that `start` returns. Throws `unavailable` if the machine lacks memory or file
 * descriptors. Other failures follow as the event `error`.
 */
export function startChild<Child extends ChildProcess>(start: () => Child): Child {
  let child: Child
  try {
    child = start()
  } catch (error) {
    throw noRoom(messageOf(error), error)
  }
  if (hasPipes(child)) return child
  // Node emits an error later, which would end this process without a listener.
  child.on('error', () => {})
  throw noRoom('no file descriptors are left')
}

/** False if Node had no file descriptors: it then returns a process that has no streams at all. */
function hasPipes({ stdio }: { readonly stdio?: ChildProcess['stdio'] }): boolean {
  return stdio !== undefined
}

function noRoom(reason: string, cause?: unknown): HeddleError {
  return new HeddleError('unavailable', `A process cannot be started now: ${reason}.`, {}, {
    cause,
  })
}
