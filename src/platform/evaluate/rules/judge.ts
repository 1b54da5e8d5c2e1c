/** Judges: what a model or a graph says of a span, as feedback. */

import { withTimeout } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import type { RuleEvaluator, RuleVerdict } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import { namedId } from '../../records/catalog/named-id.ts'
import type { Uuid } from '../../spans/span.ts'
import type { JudgeAnswer, JudgeMessage, RulePort } from './judge-port.ts'
import { judgeProject, ruleMark, valueAt } from './rule.ts'

/** A span as judges and webhooks get it. */
export type SpanDetail = Readonly<Record<string, unknown>> & {
  readonly id: Uuid
  readonly trace_id: Uuid
  readonly session_id: Uuid
}

/** Dependencies of judges: the ports of rules, and the call that keeps their spans. */
export interface JudgeParts {
  readonly port: RulePort
  readonly env: Pick<Env, 'nowMs' | 'uuid7' | 'after'>
  /** Keeps the call of a model as a span of a project. */
  keepSpan(tenant: string, span: Readonly<Record<string, unknown>>): Promise<void>
}

/** One question to a judge. */
export interface Judgement {
  readonly tenant: string
  readonly rule: { readonly id: Uuid; readonly name: string }
  readonly evaluator: RuleEvaluator
  /** Its place among the evaluators of the rule. */
  readonly no: number
  readonly span: SpanDetail
}

/** Verdicts of a judge on one span, and the tokens that they took. */
export interface JudgeResult {
  readonly verdicts: readonly RuleVerdict[]
  /** The trace of the judge itself. */
  readonly judgeRun: Uuid
  readonly tokens: number
}

/** Time that a judge may take. */
const [modelMs, graphMs] = [150_000, 300_000]
/** Characters that all variables may have together. */
const inputMax = 256 * 1024
/** Keys of one answer, and characters of each text. */
const [verdictsMax, textMax] = [50, 8 * 1024]
const commentKeys: ReadonlySet<string> = new Set(['comment', 'reasoning', 'explanation'])

/** Asks the judge. Throws HeddleError with a sentence for the log if it says nothing of use. */
export async function judge(parts: JudgeParts, judgement: Judgement,
  signal: AbortSignal): Promise<JudgeResult> {
  const { graph_id: graph } = judgement.evaluator
  return graph == null
    ? await byModel(parts, judgement, signal)
    : await byGraph(parts, judgement, graph, signal)
}

async function byGraph({ port, env }: JudgeParts, { tenant, rule, no, span }: Judgement,
  graphId: string, signal: AbortSignal): Promise<JudgeResult> {
  const { graphs } = port
  if (graphs === undefined) throw unoffered('graphs as judges')
  const reference = await referenceOf(port, tenant, span)
  const { runId, values } = await inTime(env, graphMs, signal,
    (signal) =>
      graphs.run(tenant, { graphId, key: namedId('rule', `graph\n${rule.id}\n${span.id}\n${no}`),
        input: { inputs: span['inputs'] ?? null, outputs: span['outputs'] ?? null,
          reference: reference ?? null },
        metadata: { [ruleMark]: rule.id, project: judgeProject, rule_name: rule.name,
          judged_run_id: span.id } }, signal))
  const { inputs: _i, outputs: _o, reference: _r, ...said } = isObject(values) ? values : {}
  return { verdicts: verdictsOf(said), judgeRun: runId, tokens: 0 }
}

async function byModel(parts: JudgeParts, judgement: Judgement,
  signal: AbortSignal): Promise<JudgeResult> {
  const { port: { models }, env } = parts
  if (models === undefined) throw unoffered('judges by prompt')
  const { messages, model, schema } = await questionOf(parts.port, judgement)
  const judgeRun = env.uuid7()
  const startMs = env.nowMs()
  const keep = (said: { readonly answer?: JudgeAnswer; readonly error?: string }) =>
    parts.keepSpan(judgement.tenant,
      llmSpan(judgement, { judgeRun, messages, startMs, endMs: env.nowMs() }, said))
  let answer: JudgeAnswer
  try {
    answer = await inTime(env, modelMs, signal, (signal) =>
      models.ask(judgement.tenant, { model, messages, schema }, signal))
  } catch (error) {
    signal.throwIfAborted()
    await keep({ error: HeddleError.from(error).message })
    throw error
  }
  await keep({ answer })
  const { inputTokens = 0, outputTokens = 0 } = answer.usage ?? {}
  const tokens = inputTokens + outputTokens
  if (!isObject(answer.json)) {
    throw new JudgeFault('The judge did not answer as its schema says.', judgeRun, tokens)
  }
  const verdicts = verdictsOf(answer.json)
  if (verdicts.length === 0) {
    throw new JudgeFault('The judge answered nothing that can be kept.', judgeRun, tokens)
  }
  return { verdicts, judgeRun, tokens }
}

/** A judge that answered in vain. */
export class JudgeFault extends HeddleError {
  readonly judgeRun: Uuid
  readonly tokens: number
  constructor(message: string, judgeRun: Uuid, tokens: number) {
    super('invalid', message)
    this.judgeRun = judgeRun
    this.tokens = tokens
  }
}

/** The manifest of an evaluator: that of the hub, or its own prompt as one. */
export async function manifestOf({ prompts }: RulePort, tenant: string,
  { structured }: RuleEvaluator): Promise<unknown> {
  if (prompts === undefined) throw unoffered('judges by prompt')
  const { hub_ref: ref, prompt, template_format: format } = structured!
  if (ref != null) return await prompts.manifest(tenant, ref)
  return Array.isArray(prompt) ? inlineManifest(prompt, format ?? 'f-string') : prompt
}

async function questionOf(port: RulePort, { tenant, evaluator, span }: Judgement) {
  const { prompts } = port
  const { structured } = evaluator
  const manifest = await manifestOf(port, tenant, evaluator)
  const source = { input: span['inputs'], inputs: span['inputs'], output: span['outputs'],
    outputs: span['outputs'], error: span['error'],
    ...await needed(port, tenant, span, structured?.variable_mapping ?? {}) }
  const values: Record<string, string> = {}
  let characters = 0
  for (const name of prompts!.variablesOf(manifest)) {
    const text = textOf(valueAt(source, structured?.variable_mapping?.[name] ?? name))
    characters += text.length
    if (characters > inputMax) {
      throw new HeddleError('invalid',
        `The run is too long for a judge: ${inputMax / 1024} KB of text at most.`)
    }
    values[name] = text
  }
  const schema = structured?.schema ?? prompts!.schemaOf(manifest)
  if (schema === null) throw new HeddleError('invalid', 'The evaluator has no schema.')
  return { messages: prompts!.messagesOf(manifest, values), schema,
    model: structured?.model ?? prompts!.modelOf(manifest) }
}

/** The reference, if a variable is made of it. */
async function needed(port: RulePort, tenant: string, span: SpanDetail,
  mapping: Readonly<Record<string, string>>): Promise<Readonly<Record<string, unknown>>> {
  const wanted = Object.values(mapping).some((path) => path.startsWith('reference'))
  if (!wanted) return {}
  const reference = await referenceOf(port, tenant, span)
  return { reference, reference_output: reference, referenceOutput: reference }
}

async function referenceOf({ datasets }: RulePort, tenant: string,
  span: SpanDetail): Promise<unknown> {
  const example = span['reference_example_id']
  return typeof example === 'string' ? await datasets?.reference(tenant, example) : undefined
}

/** Pairs of a role and a template as a prompt of LangChain. */
function inlineManifest(pairs: readonly unknown[], format: string): unknown {
  const classes: Readonly<Record<string, string>> = { system: 'SystemMessagePromptTemplate',
    human: 'HumanMessagePromptTemplate', user: 'HumanMessagePromptTemplate',
    ai: 'AIMessagePromptTemplate', assistant: 'AIMessagePromptTemplate' }
  const messages = pairs.map((pair) => {
    const [role, template] = Array.isArray(pair) ? pair as unknown[] : []
    const name = classes[String(role)]
    if (name === undefined || typeof template !== 'string') {
      throw new HeddleError('invalid',
        'prompt: expected pairs of a role (system, human or ai) and a template.')
    }
    return constructed(name, {
      prompt: constructed('PromptTemplate', { template, template_format: format,
        input_variables: [] }),
    })
  })
  return constructed('ChatPromptTemplate', { messages, input_variables: [] })
}

function constructed(name: string, kwargs: Readonly<Record<string, unknown>>) {
  return { lc: 1, type: 'constructor', id: ['langchain_core', 'prompts', 'chat', name], kwargs }
}

/** Each property is a verdict. An object says score, value and comment by itself. */
export function verdictsOf(said: Readonly<Record<string, unknown>>): readonly RuleVerdict[] {
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, textMax) : null)
  const comment =
    Object.entries(said).map(([key, value]) => commentKeys.has(key) ? text(value) : null).find((
      each,
    ) => each !== null) ?? null
  return Object.entries(said).flatMap(([key, value]): RuleVerdict[] => {
    if (key === '' || key.length > 180 || commentKeys.has(key)) return []
    if (typeof value === 'number' || typeof value === 'boolean') {
      return [{ key, score: value, value: null, comment }]
    }
    if (typeof value === 'string') return [{ key, score: null, value: text(value), comment }]
    if (!isObject(value)) return []
    const { score = null, value: own = null } = value
    if (typeof score !== 'number' && typeof score !== 'boolean' && typeof own !== 'string')
      return []
    return [{ key, score: typeof score === 'number' || typeof score === 'boolean' ? score : null,
      value: text(own), comment: text(value['comment'] ?? value['reasoning']) ?? comment }]
  }).slice(0, verdictsMax)
}

/** The call of a model as a span. */
function llmSpan({ rule, span, tenant: _ }: Judgement,
  { judgeRun, messages, startMs, endMs }: { readonly judgeRun: Uuid;
    readonly messages: readonly JudgeMessage[]; readonly startMs: number; readonly endMs: number },
  { answer, error }: { readonly answer?: JudgeAnswer; readonly error?: string }) {
  const stamp = new Date(startMs).toISOString().replace(/[-:.]|Z$/g, '')
  const usage = answer?.usage
  return {
    id: judgeRun,
    trace_id: judgeRun,
    dotted_order: `${stamp}000Z${judgeRun}`,
    name: rule.name,
    run_type: 'llm',
    session_name: judgeProject,
    start_time: startMs,
    end_time: Math.max(startMs + 1, endMs),
    inputs: { messages },
    ...answer && { outputs: { content: answer.text, ...usage && { usage_metadata: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      total_tokens: usage.inputTokens + usage.outputTokens,
    } } } },
    ...error !== undefined && { error },
    extra: { metadata: { [ruleMark]: rule.id, judged_run_id: span.id } },
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
}

function unoffered(what: string): HeddleError {
  return new HeddleError('unsupported', `This server does not offer ${what}.`)
}

/** Work that is cut off after a time. */
async function inTime<Result>(env: Pick<Env, 'after'>, ms: number, signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const late = new AbortController()
  try {
    return await withTimeout(env, ms, work(AbortSignal.any([signal, late.signal])), () =>
      new HeddleError('invalid', 'The judge took too long.'))
  } finally {
    late.abort()
  }
}
