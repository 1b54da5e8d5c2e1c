/**
 * Use of limits. The members are asked what they have in memory: nothing is charged, and no counter
 * is made. After a counter was lost with its member, what the front doors let through stands for it
 * until the next request makes a new one.
 */

import type { Service } from '../../cluster/index.ts'
import { limitWire } from './limit-actor.ts'
import type { LimitClients } from './limit-clients.ts'
import type { LimitKey } from './limit-table.ts'
import type { LiveCounters } from './live-counters.ts'
import type { RefusedCaller, RefusedCallers } from './refused-callers.ts'

/** Asks a member about limits of one caller, or who of a tenant was refused. */
export type LimitUseQuestion =
  | { readonly what: 'use'; readonly tenant: string; readonly keys: readonly LimitKey[] }
  | { readonly what: 'refused'; readonly tenant: string }

/** Use of a limit by a subject, as one member knows it. */
export interface MemberLimitUse {
  /** Counted here; null if the counter is not here. */
  readonly counted: number | null
  readonly waitMs: number
  /** Requests that the front door of this member let through lately. */
  readonly letThrough: number
  /** Tokens that this front door holds and has not given out. */
  readonly held: number
  readonly refused: number
}

/** Answer of a member: the uses in the order of the keys, or the callers. */
export interface LimitUseAnswer {
  readonly uses: readonly MemberLimitUse[]
  readonly callers: readonly RefusedCaller[]
}

/** Parts of a member in which it looks. */
export interface LimitUseParts {
  readonly counters: LiveCounters
  readonly clients: Pick<LimitClients, 'lately'>
  readonly refused: RefusedCallers
}

/** A limit and a subject, in the whole cluster. */
export interface LimitUse {
  readonly used: number
  /** Time until some of what is used is free; 0 if nothing is used. */
  readonly waitMs: number
  readonly refused: number
}

/** Name and codec of questions about limits to other members. */
export const limitUseWire = { name: 'limit_use', wire: limitWire } as const

/** Service that answers for one member. */
export function limitUseService(
  { counters, clients, refused }: LimitUseParts,
): Service<LimitUseQuestion, LimitUseAnswer> {
  const useOf = (tenant: string, key: LimitKey): MemberLimitUse => {
    const counter = counters.useOf(key)
    return { ...clients.lately(key), counted: counter?.used ?? null, waitMs: counter?.waitMs ?? 0,
      refused: refused.countOf(tenant, key) }
  }
  return {
    ...limitUseWire,
    answer: async (question) =>
      question.what === 'refused'
        ? { uses: [], callers: refused.of(question.tenant) }
        : { uses: question.keys.map((key) => useOf(question.tenant, key)), callers: [] },
  }
}

/** The use in the cluster, of what its members know of one limit and subject. */
export function totalUse(uses: readonly MemberLimitUse[]): LimitUse {
  const refused = uses.reduce((sum, use) => sum + use.refused, 0)
  // A member that lost its shard may still have the counter, which is older and has counted less.
  const [counter] = uses.filter(({ counted }) => counted !== null)
    .toSorted((a, b) => b.counted! - a.counted!)
  if (counter === undefined) {
    return { used: uses.reduce((sum, { letThrough }) => sum + letThrough, 0), waitMs: 0, refused }
  }
  const held = uses.reduce((sum, use) => sum + use.held, 0)
  return { used: Math.max(0, counter.counted! - held), waitMs: counter.waitMs, refused }
}
