/** The question about an effect of which nobody knows whether it was done, and its answer. Pure. */

import { isObject, textAt } from '../../json/index.ts'
import type { Decision } from '../state/effect-notes.ts'

/** The value of the interrupt that asks. */
export interface EffectQuestion {
  readonly reason: 'effect'
  readonly effect: string
  readonly message: string
  /** The answers, in the form of which the Studio makes buttons. */
  readonly choices: readonly { readonly label: string; readonly value: Decision }[]
  readonly input: unknown
  /** Time at which it was about to be done. */
  readonly since: string
}

/** The question about an effect that was about to be done at a time. */
export function effectQuestion(effect: string, input: unknown, sinceMs: number): EffectQuestion {
  const since = new Date(sinceMs).toISOString()
  return {
    reason: 'effect',
    effect,
    message: `It is not known whether the effect "${effect}" was done (${since}).`,
    choices: [{ label: 'It was done', value: 'done' }, { label: 'Do it now', value: 'do' }, {
      label: 'Fail the step',
      value: 'fail',
    }],
    input,
    since,
  }
}

/** An answer: `"done"`, `"do"`, `"fail"`, or `{decision, result}` with the result it had. */
export function decisionIn(
  answer: unknown,
): { readonly decision: Decision; readonly result: unknown } {
  const said = typeof answer === 'string' ? answer : textAt(answer, 'decision')
  const decision = said === 'done' || said === 'do' || said === 'fail' ? said : 'unclear'
  const result = isObject(answer) ? Reflect.get(answer, 'result') : undefined
  return { decision, result: result ?? null }
}
