/** The question about an effect of which nobody knows whether it was done, and its answer. Pure. */

import { isObject, memberOf, textAt } from '../../json/index.ts'
import type { Decision } from '../state/effect-notes.ts'

/** The value of the interrupt that asks. */
export interface EffectQuestion {
  readonly reason: 'effect'
  readonly effect: string
  /** Identifies the effect and its input. Missing in questions of older versions. */
  readonly id?: string
  readonly message: string
  /** The answers, in the form of which the Studio makes buttons. */
  readonly choices: readonly { readonly label: string; readonly value: Decision }[]
  readonly input: unknown
  /** Time at which it was about to be done. */
  readonly since: string
}

/**
 * uncertain  it is not known whether it was done
 * replaced   the same, and the step continues with another input
 * removed    a run that was rolled back started it with another input
 */
export type QuestionCause = 'uncertain' | 'replaced' | 'removed'

const messages: Readonly<Record<QuestionCause, (effect: string, since: string) => string>> = {
  uncertain: (effect, since) =>
    `It is not known whether the effect "${effect}" was done (${since}).`,
  replaced: (effect, since) =>
    `It is not known whether the effect "${effect}" was done (${since}), and the step continues ` +
    'with another input: decide about the first one.',
  removed: (effect, since) =>
    `The effect "${effect}" was started with another input (${since}) by a run that was rolled ` +
    'back.',
}

/** The question about an effect that was about to be done at a time in milliseconds since 1970. */
export function effectQuestion(effect: string, input: unknown, sinceMs: number,
  { id, cause = 'uncertain' }: { readonly id?: string; readonly cause?: QuestionCause } =
    {}): EffectQuestion {
  const since = new Date(sinceMs).toISOString()
  return {
    reason: 'effect',
    effect,
    ...id !== undefined && { id },
    message: messages[cause](effect, since),
    choices: [{ label: 'It was done', value: 'done' }, { label: 'Do it now', value: 'do' }, {
      label: 'Fail the step',
      value: 'fail',
    }],
    input,
    since,
  }
}

/** The effect and the id of a question. */
export type QuestionName = Pick<EffectQuestion, 'effect' | 'id'>

/** The effect that the value of an interrupt is about; undefined for a question of a node. */
export function questionIn(value: unknown): QuestionName | undefined {
  const effect = textAt(value, 'effect')
  if (memberOf(value, 'reason') !== 'effect' || effect === undefined) return undefined
  const id = textAt(value, 'id')
  return { effect, ...id !== undefined && { id } }
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
