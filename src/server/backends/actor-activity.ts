/** Says whether actors of a member are in memory, as a service for other members. */

import type { ActivationTable, ActorKey, Service } from '../../../cluster/index.ts'
import { rawValues } from '../../json/index.ts'

/** The service and its wire. */
export const activityWire = { name: 'actor_activity', wire: { values: rawValues } } as const

/** The service of one member. It activates nothing. */
export function activityService(
  activations: Pick<ActivationTable, 'has'>,
): Service<ActorKey, boolean> {
  return { ...activityWire, answer: async (key) => activations.has(key) }
}
