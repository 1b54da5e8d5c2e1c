/** A front door's limits whose counters are all in this process. */

import { ActivationTable, createRouter, inProcessTransport, placedOwnership, soleMember,
  systemEnv } from '../../../cluster/index.ts'
import { counterRules, LimitClients, limitKind, LiveCounters } from '../../../src/limits/index.ts'
import type { RateLimit } from '../../../src/limits/index.ts'
import { LimitTableTwin } from './limit-world.ts'

/** What charges requests, and the counters that it makes. */
export function ownCounters(rows: readonly RateLimit[]) {
  const env = systemEnv({ level: 'silent' })
  const counters = new LiveCounters()
  const ownership = placedOwnership({ view: soleMember({ id: 'm', address: 'here' }), shards: 8,
    epoch: 1 })
  const kinds = [
    limitKind({ env, table: new LimitTableTwin(), askDoors: async () => [], live: counters,
      ruleOf: counterRules(rows) }),
  ]
  const activations = new ActivationTable({ env, kinds })
  const router = createRouter({ env, ownership, activations, transport: inProcessTransport() })
  return { env, counters, clients: new LimitClients({ env, router, doors: () => 1 }) }
}
