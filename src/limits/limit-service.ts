/** Service for new counters: requests that a front door let through recently. */

import type { Service } from '../../cluster/index.ts'
import { limitKindName, limitWire } from './limit-actor.ts'
import type { AdmitsQuestion } from './limit-actor.ts'
import type { RecentAdmits } from './limit-counter.ts'

/** Name of the service, which is on the wire between members. */
export const limitServiceName = 'limit_admits'

/** The wires of the counters and of this service. */
export const limitWires = [
  { name: limitKindName, wire: limitWire },
  { name: limitServiceName, wire: limitWire },
] as const

/** The service of one member. `recentOf` looks into its leases. */
export function limitService(
  recentOf: (question: AdmitsQuestion) => RecentAdmits,
): Service<AdmitsQuestion, RecentAdmits> {
  return {
    name: limitServiceName,
    wire: limitWire,
    answer: async (question) => recentOf(question),
  }
}
