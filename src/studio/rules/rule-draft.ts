/** A rule as its editor has it: texts of fields, and the rule that they make. Pure. */

import type { Alert, Judge, RuleBody } from './rule-calls.ts'
import type { JsonObject } from '../api/client.ts'
import { isObject } from '../json/is-object.ts'

/** What judges. */
export type JudgeKind = 'none' | 'graph' | 'prompt' | 'hub'

/** Fields of the editor. */
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
  readonly metric: string
  readonly threshold: string
  readonly minutes: string
  readonly alertUrl: string
}

/** What parts of the form read and write. */
export interface DraftProps {
  readonly draft: RuleDraft
  readonly set: (change: Partial<RuleDraft>) => void
}

/** Statistics that an alert may watch, in words. */
export const metrics: Readonly<Record<string, string>> = { error_count: 'Failed runs',
  error_rate: 'Share of failed runs', run_count: 'Runs', latency_p50: 'Median latency in seconds',
  latency_p99: 'Latency of the slowest 1 % in seconds', cost: 'Cost in US dollars' }

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
export function draftOf(rule: RuleBody): RuleDraft {
  const [judge] = rule.evaluators ?? []
  const [alert] = rule.alerts ?? []
  const { structured, graph_id: graph } = judge ?? {}
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
    graph: graph ?? '',
    hub: structured?.hub_ref ?? '',
    ...structured?.prompt !== undefined && structured.prompt !== null && {
      prompt: promptText(structured.prompt),
    },
    ...structured?.schema && { schema: JSON.stringify(structured.schema, null, 2) },
    model: structured?.model ? JSON.stringify(structured.model, null, 2) : '',
    ...structured && { mapping: mappingText(structured.variable_mapping ?? {}) },
    calls: String(rule.spend_limit?.calls_per_day ?? ''),
    ...alert &&
      { metric: alert.metric, threshold: String(alert.threshold),
        minutes: String(alert.window_minutes), alertUrl: alert.url },
  }
}

function kindOf(judge: Judge | undefined): JudgeKind {
  if (judge === undefined) return 'none'
  if (judge.graph_id) return 'graph'
  return judge.structured?.hub_ref ? 'hub' : 'prompt'
}

/** The rule that a draft makes, over the rule before. Throws an error with a sentence. */
export function ruleOfDraft(draft: RuleDraft, before?: RuleBody): Partial<RuleBody> {
  const judge = judgeOf(draft)
  const alert = alertOf(draft, before?.alerts?.[0])
  const webhook = before?.webhooks?.[0]
  const calls = draft.calls.trim() === '' ? null : Number(draft.calls)
  return {
    display_name: draft.name.trim(),
    session_id: draft.project || null,
    filter: draft.filter.trim() || null,
    sampling_rate: draft.percent / 100,
    add_to_annotation_queue_id: draft.queue || null,
    add_to_dataset_id: draft.dataset || null,
    webhooks: listOf(draft.webhook.trim() === ''
      ? undefined
      : { ...webhook?.url === draft.webhook && webhook, url: draft.webhook.trim() },
      before?.webhooks),
    evaluators: listOf(judge, before?.evaluators),
    alerts: listOf(alert, before?.alerts),
    spend_limit: calls === null && before?.spend_limit?.tokens_per_day == null
      ? null
      : { ...before?.spend_limit, calls_per_day: calls },
  }
}

/** The first one as it is edited, the others as they were. */
function listOf<Each>(first: Each | undefined, before: readonly Each[] | null | undefined):
  | readonly Each[]
  | null {
  const all = [...first === undefined ? [] : [first], ...before?.slice(1) ?? []]
  return all.length === 0 ? null : all
}

/** The judge of a draft. Throws an error with a sentence. */
export function judgeOf(draft: RuleDraft): Judge | undefined {
  switch (draft.judge) {
    case 'none':
      return undefined
    case 'graph':
      return { graph_id: draft.graph }
    case 'hub':
      return {
        structured: { hub_ref: draft.hub.trim(), variable_mapping: mappingIn(draft.mapping),
          ...draft.model.trim() !== '' && { model: objectIn('Model', draft.model) } },
      }
    case 'prompt':
      return {
        structured: { prompt: [['human', draft.prompt]], template_format: 'f-string',
          variable_mapping: mappingIn(draft.mapping), schema: objectIn('Answer', draft.schema),
          ...draft.model.trim() !== '' && { model: objectIn('Model', draft.model) } },
      }
  }
}

function alertOf({ metric, threshold, minutes, alertUrl: url }: RuleDraft,
  before: Alert | undefined): Alert | undefined {
  if (metric === '') return undefined
  return { ...before?.url === url && before, metric, threshold: Number(threshold),
    window_minutes: Number(minutes), url }
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
  const last: unknown = Array.isArray(prompt) ? prompt.at(-1) : undefined
  const text: unknown = Array.isArray(last) ? last[1] : undefined
  return typeof text === 'string' ? text : JSON.stringify(prompt, null, 2)
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

/** How many traces are looked at, in words. */
export function samplingWords(percent: number): string {
  if (percent === 100) return 'Every trace'
  if (percent === 0) return 'No trace'
  const one = 100 / percent
  return Number.isInteger(one) ? `One trace in ${one}` : `${percent} traces in 100`
}

/** What a rule does, in words. */
export function actionsOf(rule: RuleBody & { readonly evaluator_id?: string | null }): string {
  const words = [
    rule.add_to_annotation_queue_id && 'queue',
    rule.add_to_dataset_id && 'dataset',
    rule.webhooks?.length && 'webhook',
    (rule.evaluators?.length || rule.evaluator_id) && 'judge',
    rule.alerts?.length && 'alert',
  ]
  return words.filter((word) => typeof word === 'string').join(', ')
}
