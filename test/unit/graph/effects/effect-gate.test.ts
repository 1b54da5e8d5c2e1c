/** HTTP calls of nodes that happen once: what the gate decides, behind a door that is played. */

import { describe, expect, it } from 'vitest'

import type { Call, CallAnswer } from '../../../../src/graph/calls/call.ts'
import type { CallDecision } from '../../../../src/graph/calls/call-gate.ts'
import { callPattern, isCallPattern } from '../../../../src/graph/call-pattern.ts'
import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { effectGate } from '../../../../src/graph/effects/effect-gate.ts'
import { EffectRunner } from '../../../../src/graph/effects/effect-runner.ts'
import { EffectNotes } from '../../../../src/graph/state/effect-notes.ts'
import { afterShort } from '../../../support/short-pauses.ts'

const host = 'https://api.example.org'
const rules = effectRulesOf([{ match: `POST ${host}/charges`, once: 'key' }, {
  match: `* ${host}/models/**`,
  keep: 'answer',
}])

/** The attempts of one task, whose notes the log keeps. */
function task() {
  const notes = new EffectNotes()
  const kinds: string[] = []
  const ignored: string[] = []
  const attempt = () => {
    const runner = new EffectRunner({
      thread: { tenant: 'a', threadId: 'b' },
      runId: 'r',
      rules,
      sink: { step: ({ value }) => {
        if ('effect' in value) kinds.push(value.effect!.note!.$case)
      }, acknowledged: async () => {} },
      signal: new AbortController().signal,
      answer: { scope: 'none', isUsed: false },
      questions: { takeAnswer: () => undefined, dropAnswer: () => {}, ask: () => {} },
      nowMs: () => 0,
      monotonicMs: () => 0,
      ignoresKey: (effect) => ignored.push(effect),
      after: afterShort,
    })
    runner.put('', 'c', { effects: notes, thrown: [], answered: () => 0 })
    const gate = effectGate(rules, () => runner, (text) => text)
    const site: Call['site'] = { checkpointNs: '', checkpointId: 'c', taskId: 't', step: 1,
      nodes: ['n'], path: [], attempt: 1 }
    return async (path: string, body = '{}', method = 'POST') =>
      await gate.decide({ id: 1, client: 'fetch', method, url: `${host}${path}`, headers: [], site,
        body: { length: body.length, read: async (max) =>
          body.length > max ? undefined : Buffer.from(body) } })
  }
  return { attempt, kinds, ignored }
}

/** Plays the answer of a receiver to a call that passed. */
async function answer(decision: CallDecision, status: number, body = 'paid'): Promise<void> {
  if (decision.kind !== 'pass') throw new Error(`the call does not pass: ${decision.kind}`)
  const { watcher } = decision
  watcher!.head!({ status, statusText: 'OK',
    headers: [['content-type', 'a/b'], ['set-cookie', 'secret']] })
  watcher!.chunk!(Buffer.from(body))
  await watcher!.ended!({ kind: 'done' })
}

const keyOf = (decision: CallDecision) =>
  decision.kind === 'pass' ? decision.headers?.['idempotency-key'] : undefined

describe('A call with a key', () => {
  it('passes with its key, and is answered in the next attempt.', async () => {
    const { attempt, kinds } = task()
    const first = await attempt()('/charges')
    expect(keyOf(first)).toMatch(/^hdl_/)
    expect(first).toMatchObject({ watcher: { holds: 'end' } })
    await answer(first, 201)
    expect(kinds).toEqual(['intended', 'settled'])
    const again = await attempt()('/charges')
    expect(again).toMatchObject({ kind: 'answer',
      answer: { head: { status: 201, headers: [['content-type', 'a/b']] } } })
    const { body } = (again as { readonly answer: CallAnswer }).answer
    expect(String([...body as Iterable<Uint8Array>][0])).toBe('paid')
  })

  it.each([500, 503, 429, 408])('has the same key again after a %i.', async (status) => {
    const { attempt, kinds } = task()
    const call = attempt()
    const first = await call('/charges')
    await answer(first, status)
    const retried = await call('/charges')
    expect(keyOf(retried)).toBe(keyOf(first))
    expect(keyOf(await attempt()('/charges'))).toBe(keyOf(first))
    expect(kinds).toEqual(['intended'])
  })

  it('keeps a refusal that would come again, and no answer that was cut.', async () => {
    const { attempt, kinds } = task()
    const first = await attempt()('/charges')
    await (first as { watcher: { ended: (end: object) => Promise<void> } }).watcher
      .ended({ kind: 'failed', error: new Error('reset') })
    expect(kinds).toEqual(['intended'])
    await answer(await attempt()('/charges'), 402)
    expect(await attempt()('/charges')).toMatchObject({ kind: 'answer',
      answer: { head: { status: 402 } } })
  })

  it.each<[string, string, number]>([
    ['{"id":1}', '{"id":2}', 1],
    ['{"id":1,"at":"2026-11-29T14:02:11Z"}', '{"id":1,"at":"2026-11-29T14:02:12Z"}', 0],
  ])('that is answered with %s and then with %s warns %i times.', async (one, other, warnings) => {
    const { attempt, ignored } = task()
    // The engine gave the first attempt up, whose call went on.
    const [first, second] = [await attempt()('/charges'), await attempt()('/charges')]
    expect(keyOf(second)).toBe(keyOf(first))
    await answer(first, 200, one)
    await answer(second, 200, other)
    expect(ignored).toEqual(Array.from({ length: warnings }, () => `POST ${host}/charges`))
  })

  it('fails with another body, but not with other ids and times.', async () => {
    const { attempt } = task()
    const body = (amount: number, at: string) =>
      JSON.stringify({ amount, at, id: crypto.randomUUID() })
    await answer(await attempt()('/charges', body(20, '2026-11-29T14:02:11.123Z')), 200)
    expect(await attempt()('/charges', body(20, '2026-11-29T15:02:11.123Z')))
      .toMatchObject({ kind: 'answer' })
    expect(await attempt()('/charges', body(30, '2026-11-29T15:02:11.123Z')))
      .toMatchObject({ kind: 'fail', error: { fault: 'changed' } })
  })

  it('is refused if it is too large to be known again.', async () => {
    const { attempt } = task()
    expect(await attempt()('/charges', 'x'.repeat(1024 * 1024 + 1)))
      .toMatchObject({ kind: 'fail', error: { fault: 'unfit' } })
  })

  it('is not repeated if its answer was too large to be kept.', async () => {
    const { attempt } = task()
    await answer(await attempt()('/charges'), 200, 'x'.repeat(300_000))
    expect(await attempt()('/charges')).toMatchObject({ kind: 'fail', error: { fault: 'lost' } })
  })
})

it('Answers of models are kept without intent or header, and all other calls pass.', async () => {
  const { attempt, kinds } = task()
  const first = await attempt()('/models/large/chat?a=1', '{"b":2,"a":1}')
  expect(keyOf(first)).toBeUndefined()
  await answer(first, 200)
  expect(await attempt()('/models/large/chat?a=1', '{"a":1,"b":2}'))
    .toMatchObject({ kind: 'answer' })
  expect(kinds).toEqual(['settled'])
  expect(await attempt()('/charges', '{}', 'GET')).toEqual({ kind: 'pass' })
  expect(await attempt()('/other')).toEqual({ kind: 'pass' })
})

describe('A pattern', () => {
  it.each(['POST https://a.b/', '* http://localhost:80/x/*/y', 'GET https://a.b/v1/**'])(
    'may be %s',
    (text) => {
      expect(isCallPattern(text)).toBe(true)
    },
  )

  it.each(['https://a.b/', 'POST /x', 'POST a.b/x', '* https://*/x', 'post https://a.b/x', '* **',
    'POST https://*.b/x', 'POST https://a.b', 'POST https://a.b/x?y=1', ''])(
      'may not be "%s"',
      (text) => {
        expect(isCallPattern(text)).toBe(false)
      },
    )

  it('takes * for a part of a path, and ** for a rest.', () => {
    const fits = (text: string, url: string) => callPattern(text)({ method: 'POST', url })
    expect(fits('POST https://a.b/x/*', 'https://a.b/x/1?q=2')).toBe(true)
    expect(fits('POST https://a.b/x/*', 'https://a.b/x/1/2')).toBe(false)
    expect(fits('POST https://a.b/**', 'https://a.b/x/1/2')).toBe(true)
    expect(fits('POST https://a.b/x.y', 'https://a.b/xzy')).toBe(false)
    expect(fits('GET https://a.b/**', 'https://a.b/x')).toBe(false)
  })
})
