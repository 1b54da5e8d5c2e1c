/**
 * A host without graphs that executes nothing: for a pass over threads that must not go on, and for
 * a deployment without an active revision.
 */

import { HeddleError } from '../errors.ts'
import type { ExecutionListener, ExecutionOutcome, GraphHost } from './execution.ts'

const aborted: ExecutionOutcome = { status: 'aborted', waiting: false, interrupts: '{}',
  error: null }

/** A host that keeps each execution waiting until it is ended, and refuses questions. */
export function idleHost(): GraphHost {
  const waiting = new Map<number, ExecutionListener>()
  const refuse = () => Promise.reject(new HeddleError('unsupported', 'Nothing is executed here.'))
  return {
    graphs: () => [],
    describe: () => undefined,
    execute: ({ id, stops }, _source, listener) => {
      if (stops) listener.ended(aborted)
      else waiting.set(id, listener)
    },
    pause: () => {},
    abort: (id) => void waiting.delete(id),
    stop: (id) => {
      const listener = waiting.get(id)
      waiting.delete(id)
      listener?.ended(aborted)
    },
    logs: () => ({ lines: [], dropped: 0, truncated: false }),
    ask: refuse,
    schemas: refuse,
    subgraphSchemas: refuse,
    drawable: refuse,
  }
}
