/** A rule as its editor has it: texts of fields, and the rule that they make. Pure. */

import type { Rule, RuleAlert, RuleBody, RuleEvaluator, RuleWebhook } from '../../api/index.ts'
import type { JsonObject } from '../api/client.ts'
import { isObject } from '../json/is-object.ts'

/** Kind of evaluator of a rule. */
export type JudgeKind = 'none' | 'graph' | 'prompt' | 'hub'

/** Texts in the fields of the editor of a rule. */
export interface RuleDraft {
  readonly name: string
  readonly project: string
  readonly filter: string
  /** Of a hundred traces. */
  readonly percent: number
  readonly queue: string
  readonly dataset: string
  readonly webhook: string
  readonly judge: JudgeKind
  readonly graph: string
  readonly hub: string
  readonly prompt: string
  readonly schema: string
  readonly model: string
  readonly mapping: string
  readonly calls: string
  readonly metric: RuleAlert['metric'] | ''
  readonly threshold: string
  readonly minutes: string
  readonly alertUrl: string
}

/** The members of a rule that its author writes. */
export type WrittenRule = Pick<Rule, keyof Rule & keyof RuleBody>

/** Draft that parts of the form read, and the callback that changes it. */
export interface DraftProps {
  readonly draft: RuleDraft
  readonly set: (change: Partial<RuleDraft>) => void
}

/** Statistics that an alert may watch, in words. */
export const metrics: Readonly<Record<string, string>> = { error_count: 'Failed runs',
  error_rate: 'Share of failed runs', run_count: 'Runs', latency_avg: 'Mean latency in seconds',
  latency_p50: 'Median latency in seconds', latency_p99: 'Latency of the slowest 1 % in seconds',
  cost: 'Cost in US dollars' }

const schemaOfNewJudge = `{
  "type": "object",
  "properties": {
    "correct": { "type": "boolean" },
    "comment": { "type": "string" }
  },
  "required": ["correct"]
}`

/** The draft of a new rule. */
export const emptyDraft: RuleDraft = { name: '', project: '', filter: '', percent: 100, queue: '',
  dataset: '', webhook: '', judge: 'none', graph: '', hub: '',
  prompt: 'Question: {question}\nAnswer: {answer}\nIs the answer correct?',
  schema: schemaOfNewJudge, model: '', mapping: 'question = input\nanswer = output', calls: '',
  metric: '', threshold: '', minutes: '60', alertUrl: '' }

/** The draft of a rule. What the editor does not show stays as it is when it is saved. */
export function draftOf(rule: WrittenRule): RuleDraft {
  const [judge] = rule.evaluators ?? []
  const [alert] = rule.alerts ?? []
  return {
    ...emptyDraft,
    name: rule.display_name,
    project: rule.session_id ?? '',
    filter: rule.filter ?? '',
    percent: Math.round(rule.sampling_rate * 100),
    queue: rule.add_to_annotation_queue_id ?? '',
    dataset: rule.add_to_dataset_id ?? '',
    webhook: rule.webhooks?.[0]?.url ?? '',
    judge: kindOf(judge),
    ...fieldsOf(judge),
    calls: String(rule.spend_limit?.calls_per_day ?? ''),
    ...alert &&
      { metric: alert.metric, threshold: String(alert.threshold),
        minutes: String(alert.window_minutes), alertUrl: alert.url },
  }
}

/** The fields of a judge. Those that its kind does not have are those of a new one. */
function fieldsOf(judge: RuleEvaluator | undefined) {
  const { graph, hub, prompt, schema, model, mapping } = emptyDraft
  const { structured, graph_id: id } = judge ?? {}
  if (!structured) return { graph: id ?? graph, hub, prompt, schema, model, mapping }
  return {
    graph: id ?? graph,
    hub: structured.hub_ref ?? hub,
    prompt: structured.prompt === undefined || structured.prompt === null
      ? prompt
      : promptText(structured.prompt),
    schema: structured.schema
      ? JSON.stringify(structured.schema, null, 2)
      : structured.hub_ref
      ? schema
      : '',
    model: structured.model ? JSON.stringify(structured.model, null, 2) : model,
    mapping: mappingText(structured.variable_mapping ?? {}),
  }
}

function kindOf(judge: RuleEvaluator | undefined): JudgeKind {
  if (judge === undefined) return 'none'
  if (judge.graph_id) return 'graph'
  return judge.structured?.hub_ref ? 'hub' : 'prompt'
}

/**
 * The rule that a draft makes, over the rule before. What was not changed is what it was before,
 * also where the fields cannot show all of it. Throws an error with a sentence.
 */
export function ruleOfDraft(draft: RuleDraft, before?: WrittenRule): RuleBody {
  const shown = before && draftOf(before)
  const edited = <Value>(names: readonly (keyof RuleDraft)[], was: Value | undefined,
    make: () => Value): Value =>
    was !== undefined && shown && names.every((name) => draft[name] === shown[name]) ? was : make()
  return {
    display_name: edited(['name'], before?.display_name, () => draft.name.trim()),
    session_id: edited(['project'], before?.session_id, () => draft.project || null),
    filter: edited(['filter'], before?.filter, () => draft.filter.trim() || null),
    sampling_rate: edited(['percent'], before?.sampling_rate, () => draft.percent / 100),
    add_to_annotation_queue_id: edited(['queue'], before?.add_to_annotation_queue_id,
      () => draft.queue || null),
    add_to_dataset_id: edited(['dataset'], before?.add_to_dataset_id, () => draft.dataset || null),
    webhooks: edited(['webhook'], before?.webhooks, () =>
      listOf(draft.webhook.trim() === ''
        ? undefined
        : calledAt(draft.webhook.trim(), before?.webhooks?.[0]), before?.webhooks)),
    evaluators: edited(judgeFields, before?.evaluators,
      () => listOf(judgeOf(draft, before?.evaluators?.[0]), before?.evaluators)),
    alerts: edited(['metric', 'threshold', 'minutes', 'alertUrl'], before?.alerts,
      () => listOf(alertOf(draft, before?.alerts?.[0]), before?.alerts)),
    spend_limit: edited(['calls'], before?.spend_limit, () => {
      const calls = draft.calls.trim() === '' ? null : Number(draft.calls)
      return calls === null && before?.spend_limit?.tokens_per_day == null
        ? null
        : { ...before?.spend_limit, calls_per_day: calls }
    }),
  }
}

const judgeFields = ['judge', 'graph', 'hub', 'prompt', 'schema', 'model', 'mapping'] as const

/** The first one as it is edited, the others as they were. */
function listOf<Each>(first: Each | undefined, before: readonly Each[] | null | undefined):
  | readonly Each[]
  | null {
  const all = [...first === undefined ? [] : [first], ...before?.slice(1) ?? []]
  return all.length === 0 ? null : all
}

/** The call at an address. Headers may be secrets of the one before: only that gets them. */
function calledAt<Call extends RuleWebhook>(url: string, before: Call | undefined): Call | {
  url: string
} {
  if (before === undefined || before.url === url) return { ...before, url }
  const { headers: _, ...rest } = before
  return { ...rest, url }
}

/**
 * The judge of a draft, over the one before: a part that the fields do not show stays, and so does
 * one whose field was not changed. Throws an error with a sentence.
 */
export function judgeOf(draft: RuleDraft, given?: RuleEvaluator): RuleEvaluator | undefined {
  const before = kindOf(given) === draft.judge ? given : undefined
  const was = before?.structured ?? {}
  const shown = fieldsOf(before)
  const isSame = (name: keyof typeof shown) => before !== undefined && draft[name] === shown[name]
  const model = isSame('model')
    ? {}
    : { model: draft.model.trim() === '' ? null : objectIn('Model', draft.model) }
  const mapping = isSame('mapping') ? {} : { variable_mapping: mappingIn(draft.mapping) }
  switch (draft.judge) {
    case 'none':
      return undefined
    case 'graph':
      return { ...before, graph_id: draft.graph }
    case 'hub':
      return {
        ...before,
        structured: { ...was, ...!isSame('hub') && { hub_ref: draft.hub.trim() }, ...mapping,
          ...model },
      }
    case 'prompt':
      return {
        ...before,
        structured: { ...before === undefined && { template_format: 'f-string' }, ...was,
          ...!isSame('prompt') && { prompt: promptOf(draft.prompt, was.prompt) }, ...mapping,
          ...!isSame('schema') && { schema: draft.schema.trim() === ''
            ? null
            : objectIn('Answer', draft.schema) }, ...model },
      }
  }
}

function alertOf({ metric, threshold, minutes, alertUrl }: RuleDraft,
  before: RuleAlert | undefined
):
  | RuleAlert
  | undefined {
  if (metric === '') return undefined
  return { ...calledAt(alertUrl.trim(), before), metric, threshold: Number(threshold),
    window_minutes: Number(minutes) }
}

/** Lines such as `question = input.question`. */
export function mappingIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(text.split('\n').filter((line) => line.trim() !== '').map((line) => {
    const at = line.indexOf('=')
    if (at < 1) throw new Error(`Variables: write "name = input.path" instead of "${line}".`)
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  }))
}

function mappingText(mapping: Readonly<Record<string, string>>): string {
  return Object.entries(mapping).map(([name, path]) => `${name} = ${path}`).join('\n')
}

/** The text of the last message of a prompt; JSON of what is no list of messages. */
function promptText(prompt: unknown): string {
  return lastText(prompt) ?? JSON.stringify(prompt, null, 2)
}

function lastText(prompt: unknown): string | undefined {
  const last: unknown = Array.isArray(prompt) ? prompt.at(-1) : undefined
  const text: unknown = Array.isArray(last) ? last[1] : undefined
  return typeof text === 'string' ? text : undefined
}

/** The prompt with another text, which `promptText` showed. The messages before it stay. */
function promptOf(text: string, before: unknown): unknown {
  if (before === undefined || before === null) return [['human', text]]
  if (lastText(before) === undefined) {
    try {
      return JSON.parse(text) as unknown
    } catch {
      throw new Error('Prompt: this is no JSON, as it was before.')
    }
  }
  const all = before as readonly unknown[]
  const [role, , ...more] = all.at(-1) as readonly unknown[]
  return [...all.slice(0, -1), [role, text, ...more]]
}

function objectIn(label: string, text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value as JsonObject
  } catch {
    // The sentence below says it.
  }
  throw new Error(`${label}: this is no JSON object.`)
}

/** Sampling rate in words, from the percentage of traces. */
export function samplingWords(percent: number): string {
  if (percent === 100) return 'Every trace'
  if (percent === 0) return 'No trace'
  const one = 100 / percent
  return Number.isInteger(one) ? `One trace in ${one}` : `${percent} traces in 100`
}

/** Actions of a rule, in words. */
export function actionsOf(rule: WrittenRule): string {
  const words = [
    rule.add_to_annotation_queue_id && 'queue',
    rule.add_to_dataset_id && 'dataset',
    rule.webhooks?.length && 'webhook',
    (rule.evaluators?.length || rule.evaluator_id) && 'judge',
    rule.alerts?.length && 'alert',
  ]
  return words.filter((word) => typeof word === 'string').join(', ')
}
