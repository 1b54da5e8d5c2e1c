/** The limit that the owner of a deployment sets. All of its callers share one counter. */

import type { LimitRule } from './limit-actor.ts'
import type { Limit } from './limit-counter.ts'
import type { ChargedLimit } from './limit-rows.ts'
import type { LimitKey } from './limit-table.ts'

const name = 'deployment'

/** Limit that a request is charged to, and the subject that it counts for. */
export interface Charge {
  readonly limit: ChargedLimit
  readonly subject: string
}

/**
 * The charge of a deployment with this limit. The subject has the limit in it: whoever owns the
 * counter knows its rule from its key, and after a change of the limit, counting begins anew.
 */
export function deploymentCharge(id: string, { count, intervalMs }: Limit): Charge {
  return { subject: `${id}/${count}/${intervalMs}`, limit: ruleOf({ count, intervalMs }) }
}

/** Makes the function that finds the rule of a counter. `rows` are the limits of the server. */
export function counterRules(rows: readonly LimitRule[]): (key: LimitKey) => LimitRule | undefined {
  const rules = new Map(rows.map((row) => [row.name, row]))
  return (key) => key.row === name ? ruleIn(key.who) : rules.get(key.row)
}

function ruleIn(subject: string): LimitRule | undefined {
  const { count, intervalMs } = /\/(?<count>\d+)\/(?<intervalMs>\d+)$/.exec(subject)?.groups ?? {}
  return count === undefined
    ? undefined
    : ruleOf({ count: Number(count), intervalMs: Number(intervalMs) })
}

function ruleOf(limit: Limit): ChargedLimit {
  return { ...limit, name, category: 'the deployment', onOutage: 'allow', durable: false }
}
