/** What a front door let through of late, as a service that counters ask when they begin. */

import type { Service } from '../../cluster/index.ts'
import { limitKindName, limitWire } from './limit-actor.ts'
import type { AdmitsQuestion } from './limit-actor.ts'
import type { RecentAdmits } from './limit-counter.ts'

export const limitServiceName = 'limit_admits'

/** Of the counters and of this service: how what they hear and say crosses. */
export const limitWires = [
  { name: limitKindName, wire: limitWire },
  { name: limitServiceName, wire: limitWire },
] as const

export function limitService(toldOf: (question: AdmitsQuestion) => RecentAdmits): Service {
  return {
    name: limitServiceName,
    wire: limitWire,
    answer: async (question) => toldOf(question as AdmitsQuestion),
  }
}
