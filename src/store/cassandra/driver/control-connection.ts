/**
 * The connection over which the driver learns which hosts there are. It is renewed when it breaks.
 * Two renewals at once take it away from each other, and one of them then throws in a timer, which
 * ends the process. So renewals are made one at a time.
 *
 * Source: NODEJS-681, https://github.com/apache/cassandra-nodejs-driver/pull/462 (version 4.10.0).
 */

import type { Client } from 'cassandra-driver'

import { backoffMs } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { assert } from '../../../errors.ts'
import { memberOf } from '../../../json/index.ts'

/** The part of the driver's inside that is needed. Its types do not show it. */
interface ControlConnection {
  /** Calls itself with the hosts that are left, and sets a timer to be called again. */
  _refresh(hosts?: unknown): Promise<void>
}

/** Pause after a renewal that failed as the driver does not expect. */
const pauses = { firstMs: 1_000, longestMs: 1_000 }

/** Makes renewals wait for each other. Call before the client connects. */
export function renewOneAtATime(client: Client, env: Pick<Env, 'after' | 'log' | 'random'>): void {
  const control = memberOf(client, 'controlConnection')
  assert(isControlConnection(control),
    'this version of the driver renews its connection as the last one')
  const renew = control._refresh.bind(control)
  let underWay: Promise<void> | undefined
  control._refresh = (hosts) => {
    if (hosts !== undefined) return renew(hosts)
    underWay ??= renew().catch((error: unknown) => {
      env.log.warn('The driver could not renew its connection to Cassandra.', { error })
      env.after(backoffMs(pauses, 1, env.random()), () => void control._refresh())
    }).finally(() => {
      underWay = undefined
    })
    return underWay
  }
}

function isControlConnection(value: unknown): value is ControlConnection {
  return typeof memberOf(value, '_refresh') === 'function'
}
