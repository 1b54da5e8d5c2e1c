/** The errors that an effect throws in a node. */

/**
 * unnamed   langgraph.json has no rule for it
 * outside   no task of a run asked for it, or its checkpoint is never stored
 * unfit     its input or its result is no JSON, or is too large
 * changed   its step has already done it with another input
 * lost      it was done, and its result was too large to be kept
 * failed    a person let it fail
 * unknown   nobody knows whether it was done, and the engine is too old to ask
 * late      the store took too long to confirm that it is about to be done
 */
export type EffectFault = 'unnamed' | 'outside' | 'unfit' | 'changed' | 'lost' | 'failed'
  | 'unknown' | 'late'

/** An effect that was not done. */
export class EffectError extends Error {
  override readonly name = 'EffectError'
  readonly fault: EffectFault
  readonly effect: string

  constructor(fault: EffectFault, effect: string, message: string) {
    super(message)
    this.fault = fault
    this.effect = effect
  }
}

/** The error of a fault that needs no more words. */
export function effectError(fault: 'changed' | 'lost' | 'failed' | 'unknown' | 'late' | 'outside',
  effect: string): EffectError {
  return new EffectError(fault, effect, sentences[fault](effect))
}

const sentences = {
  changed: (name: string) =>
    `This step has already done the effect "${name}" with another input: it is not done again.`,
  lost: (name: string) =>
    `The effect "${name}" was done before, and its result was too large to be kept.`,
  failed: (name: string) => `The effect "${name}" was let fail by a person.`,
  unknown: (name: string) =>
    `It is not known whether the effect "${name}" was done: it is not done again.`,
  late: (name: string) =>
    `The store is too slow to confirm the effect "${name}" in time: it was not done.`,
  outside: (name: string) =>
    `The effect "${name}" belongs into a node of a run, whose graph stores its checkpoints.`,
}
