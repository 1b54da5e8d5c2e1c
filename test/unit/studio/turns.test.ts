/** Turns of a chat: where their footers stand, and what these say. */

import { expect, it } from 'vitest'

import type { RunUsage } from '../../../src/api/index.ts'
import { turnsOf } from '../../../src/studio/chat/turns.ts'
import { nodesAt, timedBySteps } from '../../../src/studio/live/node-times.ts'
import { modelWords, sideWords, tokenWords } from '../../../src/studio/parts/usage/usage-words.ts'

const none = { duration_ms: 5, calls: 0, input_tokens: 0, output_tokens: 0, total_tokens: 0,
  cached_tokens: 0, reasoning_tokens: 0, cost: null, models: [], unpriced_models: [] }

const run = (run_id: string, message_id: string | null,
  ended_at: string | null = 'then'): RunUsage => ({ ...none, run_id, message_id, status: 'success',
    started_at: 'then', ended_at })

const messages = [{ type: 'human', id: 'h1', content: '' }, { type: 'ai', id: 'a1', content: '' }, {
  type: 'tool',
  id: 't1',
  content: '',
  tool_call_id: 'c',
}, { type: 'human', id: 'h2', content: '' }, { type: 'ai', id: 'a2', content: '' }]

const placesOf = (...given: Parameters<typeof turnsOf>) =>
  Object.fromEntries([...turnsOf(...given)].map(([row, { run_id: id }]) => [row, id]))

it('A footer stands at the last message of its run, above results of tools', () => {
  expect(placesOf(messages, [run('2', 'a2'), run('1', 't1')], undefined)).toEqual({ a2: '2',
    a1: '1' })
})

it('The last run, one that goes on and one without a message have none among the rows', () => {
  expect(
    placesOf(messages, [run('4', 'a2'), run('3', 'a1', null), run('2', null), run('1', 'gone')],
      '4'),
  ).toEqual({})
})

it('Of two runs that end at one message the newer one is shown', () => {
  expect(placesOf(messages, [run('2', 'h1'), run('1', 'h1')], undefined)).toEqual({ h1: '2' })
})

it('Words say what is known, cached and reasoning tokens apart', () => {
  expect(tokenWords(none)).toBe('')
  expect(tokenWords({ ...none, total_tokens: 1 })).toBe('1 token')
  expect(tokenWords({ total_tokens: 1_234, cached_tokens: 900, reasoning_tokens: 64 }))
    .toBe('1,234 tokens (900 cached, 64 reasoning)')
  expect(sideWords({ ...none, input_tokens: 1_000, output_tokens: 2 })).toBe('1,000 in, 2 out')
  const use = (model: string | null) => ({ model, provider: null, calls: 1, total_tokens: 1,
    cost: null })
  expect(modelWords({ models: [use('b'), use(null), use('a'), use('b')] })).toBe('b, a')
})

const step = (id: number, ms: number, tasks: readonly string[] = []) => ({
  checkpoint_id: String(id),
  parent_checkpoint_id: String(id - 1),
  created_at: new Date(ms).toISOString(),
  metadata: { source: 'loop' as const },
  tasks: tasks.map((name) => ({ id: name, name })),
})

it('Times of nodes are those of the steps, live and after a reload', () => {
  const [first, second] = [step(1, 1_000, ['agent']), step(2, 1_250)]
  const times = { startedMs: 1_000, endedMs: 1_250 }
  expect(nodesAt(second, first)).toEqual({ agent: { state: 'done', times: 1, ...times } })
  const live = { agent: { state: 'done' as const, times: 2, startedMs: 1_003, endedMs: 1_242 },
    'sub:plan': { state: 'done' as const, times: 1, startedMs: 1, endedMs: 2 },
    other: { state: 'waiting' as const, times: 1, startedMs: 1, endedMs: null } }
  expect(timedBySteps(live, [second, first])).toEqual({ ...live,
    agent: { state: 'done', times: 2, ...times } })
  expect(nodesAt(second, undefined)).toEqual({})
})
