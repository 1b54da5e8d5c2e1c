/** Assigns places to the effects that one attempt of a task starts. Reads nothing but the log. */

import type { KnownEffect, TaskEffect } from '../state/effect-notes.ts'

/** An effect as an attempt requests it. */
export interface WantedEffect {
  /** The name, or the pattern of HTTP calls. */
  readonly rule: string
  readonly hash: string
  /** True if another input is another effect: only a result is kept. */
  readonly isKept: boolean
  /** Set for an HTTP call. */
  readonly call?: WantedCall | undefined
}

/** An HTTP call that is an effect. */
export interface WantedCall {
  /** Method and URL: the operation that a retry with another body repeats. */
  readonly target: string
  /** True if the call matches the pattern of a rule. */
  fits(rule: string): boolean
}

/** Place of an effect among the effects of its task. */
export interface Slot {
  readonly rule: string
  readonly ordinal: number
}

/**
 * at         the effect has this place, also if it is new
 * undecided  `of` failed with another input, and a person must decide about it first
 * changed    the task has started `of` with another input, and this attempt has not reached it
 * removed    the same, but the runs that started `of` were rolled back
 */
export type Placing =
  | { readonly kind: 'at'; readonly slot: Slot }
  | { readonly kind: 'undecided'; readonly of: TaskEffect; readonly shown: unknown }
  | { readonly kind: 'changed' | 'removed'; readonly of: TaskEffect }

interface Claim {
  readonly slot: Slot
  readonly hash: string
  readonly target: string | undefined
  /** The input, in the form that questions show. */
  readonly shown: unknown
  state: 'running' | 'done' | 'failed'
}

/** The effects that one attempt of a task has started. */
export class EffectAttempt {
  readonly #claims = new Map<string, Claim>()
  /** True once the resume value of the task was taken. */
  hasTakenAnswer = false
  #changed = Promise.withResolvers<void>()

  /**
   * Returns the place of the known effect with this input, or a new place. The input is compared
   * first because concurrent effects come in any order. A retry has the place of the effect that
   * failed. Rule: [position].
   */
  place(wanted: WantedEffect, known: readonly TaskEffect[]): Placing {
    const others: TaskEffect[] = []
    for (const effect of known) {
      if (!isOfKind(wanted, effect.rule) || !this.#isFree(effect)) continue
      if (hashIn(effect.known) === wanted.hash) return { kind: 'at', slot: effect }
      others.push(effect)
    }
    const failed = this.#failedWith(wanted)
    if (failed) return { kind: 'at', slot: failed.slot }
    if (!wanted.isKept) {
      const undecided = others.find((effect) => this.#isUndecided(wanted, effect))
      if (undecided) {
        const { shown } = this.#claims.get(keyOf(undecided))!
        return { kind: 'undecided', of: undecided, shown }
      }
      const blocking = others.filter((effect) => this.#isUnreached(wanted, effect))
      const of = blocking.find(({ known: { isRemoved } }) => isRemoved !== true) ?? blocking[0]
      if (of) return { kind: of.known.isRemoved === true ? 'removed' : 'changed', of }
    }
    return { kind: 'at', slot: this.next(wanted, known) }
  }

  /** A place that no effect of the task has. */
  next({ rule }: Pick<WantedEffect, 'rule'>, known: readonly TaskEffect[]): Slot {
    const slots: Slot[] = [...known, ...[...this.#claims.values()].map(({ slot }) => slot)]
    const last = Math.max(-1, ...slots.flatMap((slot) => slot.rule === rule ? [slot.ordinal] : []))
    return { rule, ordinal: last + 1 }
  }

  /** Marks the effect as running. Returns a function that ends it. */
  claim({ rule, ordinal }: Slot, { hash, call }: WantedEffect,
    shown: unknown): (isDone: boolean) => void {
    const claim: Claim = { slot: { rule, ordinal }, hash, target: call?.target, shown,
      state: 'running' }
    this.#claims.set(keyOf(claim.slot), claim)
    this.#notify()
    return (isDone) => {
      claim.state = isDone ? 'done' : 'failed'
      this.#notify()
    }
  }

  /** True if an effect of the attempt is running. */
  get isRunning(): boolean {
    return [...this.#claims.values()].some(({ state }) => state === 'running')
  }

  /** Resolves when the next effect starts or ends. */
  get changed(): Promise<void> {
    return this.#changed.promise
  }

  #notify(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  /** True if the attempt has not reached the effect, or if it failed there. */
  #isFree(slot: Slot): boolean {
    const claim = this.#claims.get(keyOf(slot))
    return claim === undefined || claim.state === 'failed'
  }

  /** An effect of the attempt with this input that failed before its first note. */
  #failedWith(wanted: WantedEffect): Claim | undefined {
    return [...this.#claims.values()].find(({ slot, hash, state }) =>
      state === 'failed' && hash === wanted.hash && isOfKind(wanted, slot.rule)
    )
  }

  #isUndecided({ call }: WantedEffect, effect: TaskEffect): boolean {
    const claim = this.#claims.get(keyOf(effect))
    return claim !== undefined && effect.known.isOpen && claim.target === call?.target
  }

  #isUnreached({ rule, call }: WantedEffect, effect: TaskEffect): boolean {
    return !this.#claims.has(keyOf(effect)) && effect.known.intent !== undefined
      && (effect.rule === rule || call?.fits(effect.rule) === true)
  }
}

/** True if effects of the rule may be the wanted effect: patterns of calls may have changed. */
function isOfKind({ rule, call }: WantedEffect, other: string): boolean {
  return other === rule || call?.fits(other) === true
}

/** The hash of the input of an effect, or of a decision about it. */
export function hashIn({ intent, receipt, decided }: KnownEffect): string | undefined {
  return intent?.hash ?? receipt?.hash ?? decided?.hash
}

function keyOf({ rule, ordinal }: Slot): string {
  return `${ordinal}\n${rule}`
}
