/** Decides what becomes of an effect, by its rule and by what the log knows. Pure. */

import type { KnownEffect } from '../state/effect-notes.ts'
import type { EffectRule } from '../effect-rule.ts'

/** An effect that is due. */
export interface DueEffect {
  readonly hash: string
  /** Key of its position on this thread. */
  readonly key: string
  /** True if its task threw since the result was kept. */
  readonly hasThrown: boolean
  readonly nowMs: number
}

/**
 * answer   its result is known
 * call     do it: after an intent in the log, if `intends`
 * ask      nobody knows whether it was done
 * changed  its step has done another thing there: do nothing
 * lost     it was done, and its result was too large to be kept
 * failed   a person let it fail
 */
export type EffectOrder =
  | { readonly kind: 'answer'; readonly resultJson: string }
  | { readonly kind: 'call'; readonly key: string; readonly intends: boolean }
  | { readonly kind: 'ask' | 'changed' | 'lost' | 'failed' }

const hourMs = 3_600_000
/** Milliseconds by which the clock of an intent may be ahead of the clock of its reader. */
const skewMs = 60_000

/** The next thing to do about an effect. Rule: [ask_once]. */
export function decideEffect(rule: EffectRule, known: KnownEffect, due: DueEffect): EffectOrder {
  const { intent, receipt, isOpen, decided } = known
  // An effect with an intent keeps `once`, also if the rule has changed to `keep` since.
  if (rule.strength === 'keep' && intent === undefined) return kept(rule, known, due)
  const hash = receipt?.hash ?? intent?.hash ?? due.hash
  if (hash !== due.hash) return { kind: 'changed' }
  if (receipt) {
    return receipt.isCut ? { kind: 'lost' } : { kind: 'answer', resultJson: receipt.resultJson }
  }
  if (decided?.decision === 'fail') return { kind: 'failed' }
  if (!isOpen) {
    // A copy has the decisions of the original, which may act on them itself.
    const isOwn = (decided?.key ?? intent?.key ?? due.key) === due.key
    return decided?.decision === 'do' && !isOwn
      ? { kind: 'ask' }
      : { kind: 'call', key: due.key, intends: true }
  }
  if (intent === undefined) return { kind: 'ask' }
  // The intent of a copy is that of the original, which may still be about to act on it.
  const isOwn = intent.key === due.key
  // A call of `once: "ask"` went out without its key.
  const isKeyed = rule.strength === 'key' && intent.once !== 'ask'
  return isKeyed && isOwn && isFresh(rule, due.nowMs - intent.atMs)
    ? { kind: 'call', key: due.key, intends: false }
    : { kind: 'ask' }
}

/** True if the receiver has the key. An age far below 0 is wrong, because a clock was ahead. */
function isFresh({ keyHours }: EffectRule, ageMs: number): boolean {
  const keyMs = keyHours * hourMs
  return ageMs < keyMs && ageMs > -Math.min(skewMs, keyMs)
}

function kept({ keptOnError }: EffectRule, { receipt }: KnownEffect,
  { hash, key, hasThrown }: DueEffect): EffectOrder {
  const isGood = receipt?.hash === hash && !receipt.isCut && (keptOnError || !hasThrown)
  return isGood
    ? { kind: 'answer', resultJson: receipt.resultJson }
    : { kind: 'call', key, intends: false }
}
