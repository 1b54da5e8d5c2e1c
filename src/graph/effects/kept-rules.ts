/** Refuses rules for HTTP calls that the clients of a project do not let it keep. */

import { HeddleError } from '../../errors.ts'
import type { EffectRule } from '../effect-rule.ts'
import type { Execution } from '../execution.ts'
import type { EffectBases, TaskRecords } from '../state/effect-notes.ts'

/**
 * Throws `graph_failed` if calls that must happen once would leave unseen. `fault` says which
 * client does not fit. A kept answer is a saving, and no promise: it may be missing.
 */
export function requireKept(rules: readonly EffectRule[], fault: string | undefined): void {
  if (fault === undefined) return
  const [first, ...others] = rules.filter(({ isCall, strength }) => isCall && strength !== 'keep')
  if (first === undefined) return
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  throw new HeddleError('graph_failed', `The effect "${first.name}"${more} cannot be kept from ` +
    `happening twice, because ${fault}: no graph of this project runs.`)
}

/**
 * Throws `graph_failed` if tasks have started HTTP calls as effects. Call it for a project without
 * rules for calls, because it would make them again.
 */
export function refuseCalls({ openCalls: [call] = [] }: Pick<TaskRecords, 'openCalls'>): void {
  if (call === undefined) return
  throw new HeddleError('graph_failed', `This step has started the effect "${call}", and ` +
    'langgraph.json has no rule for HTTP calls any more: they would be made again. Add the rule ' +
    'again, or continue from an earlier checkpoint.')
}

const refusingBases: EffectBases = {
  based: (_ns, _checkpointId, records) => refuseCalls(records),
  put: () => {},
}

/** Guards the steps of a run without effects; undefined for an edit or a replay. */
export function basesWithoutRules({ runId, replay }: Pick<Execution, 'runId' | 'replay'>):
  | EffectBases
  | undefined {
  return runId === '' || replay ? undefined : refusingBases
}
