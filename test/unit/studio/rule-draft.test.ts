/** Rules as their editor has them: texts become a rule, and what is not shown stays. */

import fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { expect, it } from 'vitest'

import { createRule } from '../../../src/api/index.ts'
import type { RuleBody } from '../../../src/api/index.ts'
import { changedRule, ruleJson } from '../../../src/platform/evaluate/rules/rule.ts'
import type { Rule } from '../../../src/platform/evaluate/rules/rule.ts'
import { actionsOf, draftOf, emptyDraft, mappingIn, ruleOfDraft,
  samplingWords } from '../../../src/studio/rules/rule-draft.ts'
import type { WrittenRule } from '../../../src/studio/rules/rule-draft.ts'

const rule: WrittenRule = {
  display_name: 'Polite',
  session_id: 'p',
  dataset_id: null,
  is_enabled: true,
  sampling_rate: 0.25,
  filter: 'eq(is_root, true)',
  trace_filter: null,
  tree_filter: null,
  add_to_annotation_queue_id: null,
  add_to_dataset_id: 'd',
  webhooks: [{ url: 'https://a', headers: { 'x-key': '••••' } }, { url: 'https://b' }],
  evaluators: [{ graph_id: 'judge' }, { graph_id: 'other' }],
  evaluator_id: null,
  alerts: [{ metric: 'cost', threshold: 2, window_minutes: 5, url: 'https://c',
    headers: { 'x-key': '••••' } }],
  alert_rule: null,
  spend_limit: { calls_per_day: 3, tokens_per_day: 9 },
  backfill_from: null,
}

it('makes the same rule of a rule that nobody changed', () => {
  expect({ ...rule, ...ruleOfDraft(draftOf(rule), rule) }).toEqual(rule)
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

/** As much of a JSON schema as the bodies of rules have. */
interface Shape {
  readonly type?: string
  readonly anyOf?: readonly Shape[]
  readonly enum?: readonly unknown[]
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Shape>>
}

const pairs = fc.array(fc.tuple(fc.constantFrom('system', 'human', 'ai'), fc.string()), {
  maxLength: 3,
})

/** Anything that the server accepts by a schema. */
function accepted(shape: Shape, name = ''): Arbitrary<unknown> {
  if (shape.anyOf) return fc.oneof(...shape.anyOf.map((each) => accepted(each, name)))
  if (shape.enum) return fc.constantFrom(...shape.enum)
  if (name.endsWith('_id')) return fc.uuid()
  switch (shape.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: 0, max: 1_440 })
    case 'number':
      return fc.double({ min: 0, max: 1, noNaN: true })
    case 'array':
      return fc.array(accepted(shape.items!, name), { maxLength: 3 })
    case 'string':
      return name === 'url' ? fc.constantFrom('https://a', 'https://b') : fc.string()
    case 'object': {
      const [inner] = Object.values(shape.patternProperties ?? {})
      if (inner) return fc.dictionary(fc.constantFrom('x-key', 'x', 'a = b', 'n'), accepted(inner))
      if (!shape.properties) return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }))
      const members = Object.entries(shape.properties).map(([key, each]) =>
        [key, accepted(each, key)] as const
      )
      return fc.record(Object.fromEntries(members), { requiredKeys: [...shape.required ?? []] })
    }
    default:
      return fc.oneof(pairs, fc.jsonValue({ maxDepth: 2 }))
  }
}

const kept = accepted(createRule.body as Shape).map((body): Rule => {
  const { code_evaluators: _, ...written } = body as RuleBody
  const whole = changedRule(undefined, { ...written, display_name: written.display_name ?? '' })
  return { ...JSON.parse(JSON.stringify(whole)) as Rule, id: 'r', createdMs: 0, modifiedMs: 0 }
})

/** What is kept after the page has shown a rule, and saved a draft of it. */
function savedOf(before: Rule, change: (draft: ReturnType<typeof draftOf>) => object): RuleBody {
  const shown = JSON.parse(JSON.stringify(ruleJson(before, { tenant: 't' }))) as WrittenRule
  const draft = draftOf(shown)
  const body = JSON.parse(JSON.stringify(ruleOfDraft({ ...draft, ...change(draft) }, shown)))
  return changedRule(before, body as RuleBody)
}

/** Without headers that are none, in either spelling. */
const plain = (rule: RuleBody): unknown =>
  JSON.parse(JSON.stringify(rule), (name, value: unknown) =>
    name === 'headers' && value === null ? undefined : value)

it('keeps whatever the server accepts, when only the name was changed', () => {
  fc.assert(fc.property(kept, (before) => {
    expect(plain(savedOf(before, () => ({ name: 'Renamed' }))))
      .toEqual(plain(changedRule(before, { display_name: 'Renamed' })))
  }), { numRuns: 200, interruptAfterTimeLimit: 300 })
})

it('keeps the rest of what was changed', () => {
  const judge = {
    structured: { prompt: [['system', 'Be strict.'], ['human', 'Is {{a}} good?']],
      template_format: 'mustache' as const, schema: { type: 'object' },
      variable_mapping: { a: 'input.a' }, model: { dialect: 'openai' } },
  }
  const alert = { metric: 'feedback_score', threshold: 2, window_minutes: 5, url: 'https://c',
    comparison: 'below', feedback_key: 'k', headers: { 'x-key': 'secret' } } as const
  const before = {
    ...changedRule(undefined, { display_name: 'n', evaluators: [judge], alerts: [alert],
      webhooks: [{ url: 'https://a', headers: { 'x-key': 'one' } }, { url: 'https://a',
        headers: { 'x-key': 'two' } }] }),
    id: 'r',
    createdMs: 0,
    modifiedMs: 0,
  } as Rule
  const { headers: _, ...bare } = alert
  expect(savedOf(before, () => ({ alertUrl: 'https://d', percent: 10 })))
    .toEqual({ ...changedRule(before, {}), sampling_rate: 0.1,
      alerts: [{ ...bare, url: 'https://d' }] })
  expect(savedOf(before, () => ({ prompt: 'Is {{a}} bad?' })).evaluators).toEqual([
    {
      structured: { ...judge.structured,
        prompt: [['system', 'Be strict.'], ['human', 'Is {{a}} bad?']] },
    },
  ])
  expect(savedOf(before, () => ({ model: '' })).evaluators).toEqual([
    { structured: { ...judge.structured, model: null } },
  ])
  const manifest = { ...before, evaluators: [{ structured: { prompt: { lc: 1 } } }] }
  expect(savedOf(manifest, () => ({ prompt: '{"lc": 2}' })).evaluators)
    .toEqual([{ structured: { prompt: { lc: 2 } } }])
  expect(() => savedOf(manifest, () => ({ prompt: '{' }))).toThrow('Prompt: this is no JSON')
  const hub = { ...before, evaluators: [{ structured: { hub_ref: 'h', schema: { a: 1 } } }] }
  expect(savedOf(hub, () => ({ hub: 'other' })).evaluators)
    .toEqual([{ structured: { hub_ref: 'other', schema: { a: 1 } } }])
})
