/** The client of rules: one call for each command, whichever member owns the rule. */

import { LRUCache } from '../../../../cluster/index.ts'
import type { Env, Router } from '../../../../cluster/index.ts'
import { asUnread } from '../../../errors.ts'
import type { Uuid } from '../../spans/span.ts'
import { ruleKindName } from './rule-actor.ts'
import type { RuleActorCommand } from './rule-actor.ts'
import type { RuleName } from './rule-records.ts'
import type { RuleState } from './rule-state.ts'

/** Calls rules. Every call throws HeddleError. */
export interface RuleClient {
  get(rule: RuleName): Promise<RuleState>
  /** Reads what ends from now on. */
  begin(rule: RuleName): Promise<RuleState>
  /** Backfills spans that started in a period. Throws `full` if too many backfills wait. */
  trigger(rule: RuleName, fromUs: number, throughUs: number): Promise<RuleState>
  drop(rule: RuleName, owner: Uuid | ''): Promise<void>
  /** Looks soon. Many calls in a second are one. Never throws. */
  wake(rule: RuleName): void
}

const togetherMs = 500
const waitingMax = 10_000

/** The client that asks owners through a router. */
export function ruleClient(router: Router, env: Pick<Env, 'after' | 'log'>): RuleClient {
  const ask = ({ tenant, id }: RuleName, command: RuleActorCommand) =>
    router.ask({ kind: ruleKindName, tenant, id }, command)
  const askState = async (rule: RuleName, command: RuleActorCommand) =>
    await ask(rule, command) as RuleState
  const waiting = new LRUCache<string, true>({ max: waitingMax })
  return {
    get: (rule) => askState(rule, { kind: 'get' }).catch(asUnread) as Promise<RuleState>,
    begin: (rule) => askState(rule, { kind: 'begin' }),
    trigger: (rule, fromUs, throughUs) => askState(rule, { kind: 'trigger', fromUs, throughUs }),
    drop: async (rule, owner) => {
      await ask(rule, { kind: 'drop', owner })
    },
    wake: (rule) => {
      const key = `${rule.tenant}\n${rule.id}`
      if (waiting.has(key)) return
      waiting.set(key, true)
      ask(rule, { kind: 'look' }).catch((error: unknown) => {
        // It is woken again by the next end, and by the watch over all rules.
        env.log.debug('A rule could not be woken.', { rule: rule.id, error })
      })
      env.after(togetherMs, () => waiting.delete(key))
    },
  }
}
