/** Rules as their editor has them: texts become a rule, and what is not shown stays. */

import { expect, it } from 'vitest'

import { actionsOf, draftOf, emptyDraft, mappingIn, ruleOfDraft,
  samplingWords } from '../../../src/studio/rules/rule-draft.ts'
import type { RuleBody } from '../../../src/studio/rules/rule-calls.ts'

const rule: RuleBody = {
  display_name: 'Polite',
  session_id: 'p',
  dataset_id: null,
  is_enabled: true,
  sampling_rate: 0.25,
  filter: 'eq(is_root, true)',
  add_to_annotation_queue_id: null,
  add_to_dataset_id: 'd',
  webhooks: [{ url: 'https://a', headers: { 'x-key': '••••' } }, { url: 'https://b' }],
  evaluators: [{ graph_id: 'judge' }, { graph_id: 'other' }],
  alerts: [{ metric: 'cost', threshold: 2, window_minutes: 5, url: 'https://c',
    headers: { 'x-key': '••••' } }],
  spend_limit: { calls_per_day: 3, tokens_per_day: 9 },
}

it('makes the same rule of a rule that nobody changed', () => {
  const { is_enabled: _e, dataset_id: _d, ...said } = rule
  expect(ruleOfDraft(draftOf(rule), rule)).toEqual(said)
})

it('changes the first of each, and leaves out what is empty', () => {
  const changed = ruleOfDraft({ ...draftOf(rule), webhook: '', judge: 'none', metric: '',
    calls: '' }, { ...rule, spend_limit: null })
  expect(changed).toMatchObject({ webhooks: [{ url: 'https://b' }],
    evaluators: [{ graph_id: 'other' }], alerts: null, spend_limit: null })
  expect(ruleOfDraft(emptyDraft)).toMatchObject({ webhooks: null, evaluators: null, filter: null })
})

it('says which text of a prompt cannot be read', () => {
  expect(mappingIn('question = input.question\n\nanswer=output')).toEqual({
    question: 'input.question',
    answer: 'output',
  })
  expect(() => mappingIn('nothing')).toThrow('Variables: write "name = input.path"')
  const prompt = { ...emptyDraft, judge: 'prompt' } as const
  expect(() => ruleOfDraft({ ...prompt, schema: '[]' })).toThrow('Answer: this is no JSON object.')
  expect(ruleOfDraft({ ...prompt, model: '{"model": "m"}' }).evaluators).toMatchObject([
    { structured: { prompt: [['human', emptyDraft.prompt]], model: { model: 'm' } } },
  ])
})

it('has words for samples and actions', () => {
  expect([100, 0, 25, 33].map(samplingWords))
    .toEqual(['Every trace', 'No trace', 'One trace in 4', '33 traces in 100'])
  expect(actionsOf(rule)).toBe('dataset, webhook, judge, alert')
})
