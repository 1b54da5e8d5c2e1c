/**
 * A host without graphs that executes nothing: for a pass over threads that must not go on, and for
 * a deployment without an active revision.
 */

import { HeddleError } from '../errors.ts'
import type { GraphHost } from './execution.ts'

/** A host that keeps each execution waiting until it is aborted, and refuses questions. */
export function idleHost(): GraphHost {
  const refuse = () => Promise.reject(new HeddleError('unsupported', 'Nothing is executed here.'))
  return {
    graphs: () => [],
    describe: () => undefined,
    execute: () => {},
    pause: () => {},
    abort: () => {},
    logs: () => ({ lines: [], dropped: 0, truncated: false }),
    ask: refuse,
    schemas: refuse,
    subgraphSchemas: refuse,
    drawable: refuse,
  }
}
