/** Details of a member, for others that show the cluster. */

import { availableParallelism } from 'node:os'

import type { Env, Service } from '../../../cluster/index.ts'
import type { MemberDetails } from '../../frontdoor/index.ts'
import { rawValues } from '../../json/index.ts'

/** Sources of the figures in a member's details. */
export interface MemberDetailsParts {
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs'>
  readonly version: string
  /** The newest version of the tables that this program supports. */
  readonly tables: number
  /** Actors in memory. */
  actors(): number
  /** Executions in progress. */
  runs(): number
}

/** The service and its wire. */
export const memberDetailsWire = { name: 'member_details', wire: { values: rawValues } } as const

/** The shortest time over which the load is taken. */
const loadMs = 1_000

/** Makes the service of this member. It counts as started now. */
export function memberDetailsService(
  { env, version, tables, actors, runs }: MemberDetailsParts,
): Service<unknown, MemberDetails> {
  const startedAtMs = env.nowMs()
  const load = processorLoad(env)
  return {
    ...memberDetailsWire,
    answer: async () => ({ version, tables, startedAtMs, actors: actors(), runs: runs(),
      load: load() }),
  }
}

/** The share of the processors that this process used since the reading before. */
function processorLoad(env: Pick<Env, 'monotonicMs'>): () => number {
  const read = () => {
    const { user, system } = process.cpuUsage()
    return { atMs: env.monotonicMs(), usedMs: (user + system) / 1_000 }
  }
  let last = read()
  let load = 0
  return () => {
    const now = read()
    const passedMs = now.atMs - last.atMs
    if (passedMs < loadMs) return load
    const share = (now.usedMs - last.usedMs) / passedMs / availableParallelism()
    load = Math.round(Math.min(1, share) * 1_000) / 1_000
    last = now
    return load
  }
}
