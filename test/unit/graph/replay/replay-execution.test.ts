/** A replay settles whatever its process tells of it. */

import { expect, it } from 'vitest'

import { executeReplay } from '../../../../src/graph/replay/replay-execution.ts'
import { listedMax, reportIn } from '../../../../src/graph/replay/replay-report.ts'
import type { ExecutionListener } from '../../../../src/graph/index.ts'
import { systemEnv } from '../../../../cluster/index.ts'

const env = systemEnv({ level: 'silent' })
const tokens = { model: 'a', input: 5, output: 2, cacheRead: 0, cacheCreation: 0 }
const whole = { answered: 1, moved: [], missing: [], recordedTokens: [tokens], tokens: [],
  stop: null }

function replayed(does: (listener: ExecutionListener) => void) {
  return executeReplay({ execute: (_, __, listener) => does(listener) }, { limitMs: 60_000,
    signal: new AbortController().signal, source: {} as never,
    execution: { request: { kind: 'edit' } } as never }, env)
}

function ends(listener: ExecutionListener, replay: string): void {
  listener.ended({ status: 'success', waiting: false, interrupts: '{}', error: null, replay })
}

it('A report that is no JSON, or of another form, fails the run alone.', async () => {
  for (const text of ['no JSON', '{}', '"', JSON.stringify({ ...whole, stop: { kind: 'call' } })]) {
    await expect(replayed((listener) => ends(listener, text)))
      .rejects.toMatchObject({ code: 'graph_failed' })
  }
  expect((await replayed((listener) => ends(listener, JSON.stringify(whole)))).report)
    .toEqual(whole)
})

it('Steps that cannot be read fail the run.', async () => {
  await expect(
    replayed((listener) =>
      void listener.steps({ steps: [],
        events: [{ name: 'updates', json: 'no JSON', valuesOf: '', durable: false }] })
    ),
  ).rejects.toMatchObject({ code: 'graph_failed' })
})

it('The first checkpoint says with which step it begins.', async () => {
  const begun = async (...written: readonly (readonly [ns: string, metadata: object])[]) =>
    (await replayed((listener) => {
      void listener.steps({ events: [], steps: written.map(([ns, metadata]) => ({
        $case: 'checkpoint',
        value: { ns, metadataJson: JSON.stringify(metadata) } as never,
      })) })
      ends(listener, JSON.stringify(whole))
    })).firstStep
  const loop = (step: number) => ['', { source: 'loop', step }] as const
  expect(await begun(['', { source: 'input', step: -1 }], loop(0), loop(1))).toBe(1)
  expect(await begun(['', { source: 'input', step: 5 }], loop(6))).toBe(7)
  expect(await begun(['sub:1', { source: 'input', step: -1 }], loop(4), loop(5))).toBe(4)
  expect(await begun()).toBeUndefined()
})

it('What all steps write has a bound.', async () => {
  const texts = ['{"ask":{"a":1}}', JSON.stringify({ ask: { a: 'x'.repeat(32 * 1024 * 1024) } })]
  await expect(replayed((listener) => {
    for (const json of texts) {
      void listener.steps({ steps: [],
        events: [{ name: 'updates', json, valuesOf: '', durable: false }] })
    }
    ends(listener, JSON.stringify(whole))
  })).rejects.toThrow('more than a replay can compare')
})

it('All members of a report are looked at, and have a bound.', () => {
  const shown = { site: { step: 1, nodes: ['a'] }, method: 'GET', url: 'u', text: '' }
  const of = (more: object) => reportIn(JSON.stringify({ ...whole, ...more }))
  expect(of({ stop: { kind: 'call', asked: shown, recorded: null } })).toBeDefined()
  expect(of({ moved: [{ from: null, to: shown.site }], missing: [shown] })).toBeDefined()
  for (const wrong of [{ answered: 'a' }, { moved: [1] }, { missing: [{ ...shown, text: 1 }] }, {
    missing: Array.from({ length: listedMax + 1 }, () => shown),
  }, { stop: { kind: 'connects' } }, { stop: { kind: 'items', more: 1 }, answered: null }, {
    stop: { kind: 'other' },
  }, { tokens: [{ ...tokens, input: -1 }] }, { recordedTokens: [{ ...tokens, output: 1e300 }] }, {
    tokens: [{ ...tokens, model: 1 }],
  }, { missing: [{ ...shown, text: 'x'.repeat(5000) }] }]) {
    expect(of(wrong)).toBeUndefined()
  }
})
