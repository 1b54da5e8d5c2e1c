/** What becomes of an effect, in every state that the log may show. */

import { describe, expect, it } from 'vitest'

import type { EffectNote } from '../../../../proto/gen/storage/v1/log.ts'
import { decideEffect } from '../../../../src/graph/effects/decide-effect.ts'
import { after, EffectNotes } from '../../../../src/graph/state/effect-notes.ts'
import type { KnownEffect } from '../../../../src/graph/state/effect-notes.ts'
import { effectKey, inputHash } from '../../../../src/graph/effects/effect-position.ts'
import type { EffectRule, EffectStrength } from '../../../../src/graph/effect-rule.ts'

const hourMs = 3_600_000
const ruleOf = (strength: EffectStrength): EffectRule => ({ name: 'e', isCall: false, strength,
  keyHours: 24, keptOnError: false })
const due = { hash: 'h', key: 'k', hasThrown: false, nowMs: 1_000 }

type Kind = NonNullable<EffectNote['note']>

const intended: Kind = { $case: 'intended', value: { key: 'k', hash: 'h' } }
const settled: Kind = { $case: 'settled', value: { hash: 'h', resultJson: '1', isCut: false } }
const decided = (decision: string): Kind => ({ $case: 'decided', value: { decision, runId: 'r' } })

/** What is known after these notes. */
function knownAfter(...notes: readonly Kind[]): KnownEffect {
  return notes.map((note) => ({ rule: 'e', ordinal: 0, atMs: 1_000, note }))
    .reduce<KnownEffect>(after, { isOpen: false })
}

describe('decideEffect', () => {
  it.each<[EffectStrength, string, readonly Kind[], object]>([
    ['key', 'nothing', [], { kind: 'call', intends: true }],
    ['key', 'an open intent', [intended], { kind: 'call', intends: false, key: 'k' }],
    ['key', 'a receipt', [intended, settled], { kind: 'answer', resultJson: '1' }],
    ['ask', 'nothing', [], { kind: 'call', intends: true }],
    ['ask', 'an open intent', [intended], { kind: 'ask' }],
    ['ask', 'an answer that decides nothing', [intended, decided('unclear')], { kind: 'ask' }],
    ['ask', 'an order', [intended, decided('do')], { kind: 'call', intends: true }],
    ['ask', 'an order under way', [intended, decided('do'), intended], { kind: 'ask' }],
    ['ask', 'a refusal', [intended, decided('fail')], { kind: 'failed' }],
    ['ask', 'that it was done, and nothing more', [intended, decided('done')], { kind: 'ask' }],
    ['ask', 'the same about an effect without an intent', [decided('done')], { kind: 'ask' }],
    ['ask', 'an order, and later that it was done', [intended, decided('do'), decided('done')], {
      kind: 'ask',
    }],
    ['ask', 'a refusal, and later an order', [intended, decided('fail'), decided('do')], {
      kind: 'call',
    }],
    ['ask', 'a refusal, and later an answer that decides nothing', [intended, decided('fail'),
      decided('unclear')], { kind: 'ask' }],
    ['ask', 'a receipt by a person', [intended, decided('done'), settled], { kind: 'answer' }],
    ['keep', 'nothing', [], { kind: 'call', intends: false }],
    ['keep', 'a receipt', [settled], { kind: 'answer' }],
  ])('with %s, after %s', (strength, _, notes, order) => {
    expect(decideEffect(ruleOf(strength), knownAfter(...notes), due)).toMatchObject(order)
  })

  it('asks about a key that the receiver may have forgotten.', () => {
    const known = knownAfter(intended)
    const at = (nowMs: number) => decideEffect(ruleOf('key'), known, { ...due, nowMs }).kind
    expect([at(24 * hourMs), at(24 * hourMs + 1_000)]).toEqual(['call', 'ask'])
  })

  it('does not use a key again if the time of its intent is in the future', () => {
    const known = knownAfter(intended)
    const at = (nowMs: number) => decideEffect(ruleOf('key'), known, { ...due, nowMs }).kind
    expect([at(1_000 - 59_000), at(1_000 - 60_000), at(1_000 - 1_440 * hourMs)])
      .toEqual(['call', 'ask', 'ask'])
    const short = { ...ruleOf('key'), keyHours: 1 / 3_600 }
    expect(decideEffect(short, known, { ...due, nowMs: 0 }).kind).toBe('ask')
  })

  it.each<[EffectStrength, EffectStrength, string]>([
    ['ask', 'key', 'ask'],
    ['key', 'ask', 'ask'],
    ['key', 'keep', 'ask'],
    ['key', 'key', 'call'],
  ])('after an intent with %s, with %s: %s', (once, strength, kind) => {
    const known = knownAfter({ $case: 'intended', value: { key: 'k', hash: 'h', once } })
    expect(decideEffect(ruleOf(strength), known, due).kind).toBe(kind)
  })

  it('returns the receipt of an effect with an intent if its rule only keeps results now', () => {
    expect(
      decideEffect(ruleOf('keep'), knownAfter(intended, settled), { ...due, hasThrown: true }).kind,
    ).toBe('answer')
  })

  it('asks in a copy of a thread about an effect that the original may be about to do.', () => {
    expect(decideEffect(ruleOf('key'), knownAfter(intended), { ...due, key: 'copy' }).kind)
      .toBe('ask')
    expect(decideEffect(ruleOf('key'), knownAfter(intended, settled), { ...due, key: 'copy' }).kind)
      .toBe('answer')
  })

  it.each(['key', 'ask'] as const)('with %s, never does another thing there.', (strength) => {
    for (const notes of [[intended], [intended, settled], [intended, decided('do')]]) {
      expect(decideEffect(ruleOf(strength), knownAfter(...notes), { ...due, hash: 'other' }).kind)
        .toBe('changed')
    }
  })

  it('says that a result is lost which was too large.', () => {
    const cut: Kind = { $case: 'settled', value: { hash: 'h', resultJson: '', isCut: true } }
    expect(decideEffect(ruleOf('key'), knownAfter(intended, cut), due).kind).toBe('lost')
    expect(decideEffect(ruleOf('keep'), knownAfter(cut), due).kind).toBe('call')
  })

  it('keeps the first receipt of an effect, and the last answer that is only kept.', () => {
    const later: Kind = { $case: 'settled', value: { hash: 'h', resultJson: '2', isCut: false } }
    expect(knownAfter(intended, settled, later).receipt?.resultJson).toBe('1')
    expect(knownAfter(settled, later).receipt?.resultJson).toBe('2')
  })
})

describe('keys and hashes', () => {
  const position = { ns: '', checkpointId: 'c', taskId: 't', rule: 'e', ordinal: 0 }
  const thread = { tenant: 'a', threadId: 'b' }

  it('differ by thread, task, rule and number, and not by checkpoint.', () => {
    const keys = [position, { ...position, ns: 'x' }, { ...position, taskId: 'u' }, { ...position,
      rule: 'f' }, { ...position, ordinal: 1 }]
      .map((each) => effectKey(thread, each))
    keys.push(effectKey({ ...thread, threadId: 'c' }, position),
      effectKey({ ...thread, tenant: 'c' }, position))
    expect(new Set(keys).size).toBe(7)
    expect(effectKey(thread, { ...position, checkpointId: 'd' })).toBe(keys[0])
    expect(keys[0]).toMatch(/^hdl_[\w-]{43}$/)
  })

  it('leave the order of members out.', () => {
    expect(inputHash({ a: 1, b: { c: 2, d: [1, 2] } })).toBe(
      inputHash({ b: { d: [1, 2], c: 2 }, a: 1 }),
    )
    expect(inputHash({ a: [1, 2] })).not.toBe(inputHash({ a: [2, 1] }))
    expect(inputHash(undefined)).toBe(inputHash(null))
  })
})

it('Notes of one task are not those of another, and a checkpoint without notes has none.', () => {
  const writes = { ns: '', checkpointId: 'c', writes: [] }
  const notes = EffectNotes.of([{ ...writes, taskId: 't',
    effect: { rule: 'e', ordinal: 1, atMs: 5, note: intended } }])
  expect(notes!.at({ taskId: 't', rule: 'e', ordinal: 1 }).isOpen).toBe(true)
  expect(notes!.at({ taskId: 'u', rule: 'e', ordinal: 1 }).isOpen).toBe(false)
  expect(notes!.at({ taskId: 't', rule: 'e', ordinal: 0 }).isOpen).toBe(false)
  expect(EffectNotes.of([{ ...writes, taskId: 't' }])).toBeUndefined()
})
