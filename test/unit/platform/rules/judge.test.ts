/** Judges: what is asked, what is kept of the answer, and what is said when there is none. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { judge, verdictsOf } from '../../../../src/platform/evaluate/rules/judge.ts'
import type { JudgeParts, Judgement } from '../../../../src/platform/evaluate/rules/judge.ts'
import type { JudgeAnswer, JudgeModels,
  RulePort } from '../../../../src/platform/evaluate/rules/judge-port.ts'
import { crosses, valueIn } from '../../../../src/platform/evaluate/rules/rule-alert.ts'
import { virtualEnv } from '../../../support/env.ts'
import { eventually } from '../../../support/eventually.ts'

const span = { id: 'a', trace_id: 'a', session_id: 'p', inputs: { question: 'why?' },
  outputs: { answer: 'because' } }
const evaluator = {
  structured: { prompt: [['system', 'Judge.'], ['human', '{q} {a}']],
    variable_mapping: { q: 'input.question', a: 'output' },
    schema: { type: 'object', properties: { good: { type: 'boolean' } } }, model: { name: 'm' } },
}
const judgement: Judgement = { tenant: 't', rule: { id: 'r', name: 'Rule' }, evaluator, no: 0,
  span }

interface Asked {
  readonly call: Parameters<JudgeModels['ask']>[1]
}

function house(answer: (asked: Asked) => Promise<JudgeAnswer>) {
  const env = virtualEnv()
  const asked: Asked[] = []
  const kept: Readonly<Record<string, unknown>>[] = []
  const port: RulePort = {
    egress: { check: () => {}, send: () => Promise.reject(new Error()) },
    models: { check: () => {}, ask: (_, call) => {
      asked.push({ call })
      return answer({ call })
    } },
    prompts: {
      manifest: () => Promise.reject(new HeddleError('not_found')),
      messagesOf: (_, values) => [{ role: 'user', content: JSON.stringify(values) }],
      variablesOf: () => ['q', 'a'],
      modelOf: () => null,
      schemaOf: () => null,
    },
  }
  const parts: JudgeParts = { port, env, keepSpan: (_, each) => {
    kept.push(each)
    return Promise.resolve()
  } }
  return { env, asked, kept, parts }
}

const { signal } = new AbortController()
const usage = { inputTokens: 3, outputTokens: 4 }

it('fills variables from paths, and keeps the call as a span that rules leave alone', async () => {
  const { parts, asked, kept } = house(() =>
    Promise.resolve({ text: '{}', json: { good: true, comment: 'ok' }, usage })
  )
  const result = await judge(parts, judgement, signal)
  expect(JSON.parse(asked[0]!.call.messages[0]!.content))
    .toEqual({ q: 'why?', a: '{"answer":"because"}' })
  expect(result).toMatchObject({ tokens: 7,
    verdicts: [{ key: 'good', score: true, comment: 'ok' }] })
  expect(kept).toMatchObject([{ id: result.judgeRun, run_type: 'llm', session_name: 'evaluators',
    extra: { metadata: { __rule: 'r' } } }])
})

it.each([
  ['no object', { text: 'maybe', json: 'maybe', usage }],
  ['nothing', { text: '', usage }],
  ['nothing that can be kept', { text: '{}', json: { good: [1] }, usage }],
])('says so when the judge answers %s, and counts what that used', async (_, answer) => {
  const { parts, kept } = house(() => Promise.resolve(answer))
  await expect(judge(parts, judgement, signal)).rejects.toMatchObject({ code: 'invalid', tokens: 7,
    message: expect.stringMatching(/^The judge (did not answer|answered nothing)/) as string })
  expect(kept).toHaveLength(1)
})

it('gives up a judge that never answers', async () => {
  const { parts, env, kept, asked } = house(() => new Promise(() => {}))
  const judged = judge(parts, judgement, signal)
  const refused = expect(judged).rejects.toThrow('The judge took too long.')
  await eventually(() => expect(asked).toHaveLength(1))
  env.advance(151_000)
  await refused
  expect(kept).toMatchObject([{ error: 'The judge took too long.' }])
})

it('asks nothing about a run that is too long', async () => {
  const { parts, asked } = house(() => Promise.resolve({ text: '', usage }))
  const long = { ...span, outputs: { answer: 'x'.repeat(300 * 1024) } }
  await expect(judge(parts, { ...judgement, span: long }, signal))
    .rejects.toThrow('The run is too long for a judge')
  expect(asked).toEqual([])
})

it('makes feedback of what can be feedback', () => {
  expect(
    verdictsOf({ score: 0.5, word: 'good', reasoning: 'why', list: [1], none: null,
      own: { score: 1, comment: 'mine' }, ['x'.repeat(181)]: 1 }),
  ).toEqual([
    { key: 'score', score: 0.5, value: null, comment: 'why' },
    { key: 'word', score: null, value: 'good', comment: 'why' },
    { key: 'own', score: 1, value: null, comment: 'mine' },
  ])
})

it('reads what alerts measure', () => {
  const stats = { run_count: 8, error_rate: 0.25, latency_p50: 1.5, total_cost: '0.002',
    feedback_stats: { good: { n: 2, avg: 0.5 } } }
  const value = (metric: Parameters<typeof valueIn>[0]['metric']) =>
    valueIn({ metric, feedback_key: 'good' }, stats)
  expect([value('error_count'), value('error_rate'), value('latency_p50'), value('cost'),
    value('feedback_score')]).toEqual([2, 0.25, 1.5, 0.002, 0.5])
  expect(valueIn({ metric: 'latency_p50' }, { latency_p50: null })).toBeNull()
  expect(crosses({ threshold: 1 }, 1)).toBe(false)
  expect(crosses({ threshold: 1, comparison: 'below' }, 0.5)).toBe(true)
})
