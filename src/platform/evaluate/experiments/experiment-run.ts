/**
 * One run of an experiment: its answer becomes a span, and evaluators judge that. All has ids that
 * are made of the experiment and the run, so that it is the same when it is repeated.
 */

import type { Env } from '../../../../cluster/index.ts'
import type { RuleEvaluator } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import type { Calls } from '../../calls/calls.ts'
import type { SpanWrites } from '../../ingest/ingest-call.ts'
import type { SpanReads } from '../../query/question.ts'
import { namedId } from '../../records/catalog/named-id.ts'
import type { Project } from '../../records/projects/project.ts'
import type { Uuid } from '../../spans/span.ts'
import { spanBody } from '../models/call-span.ts'
import type { Models } from '../models/model.ts'
import type { ModelQuota } from '../models/model-quota.ts'
import type { Template } from './model-question.ts'
import { judge } from '../rules/judge.ts'
import type { JudgeParts, SpanDetail } from '../rules/judge.ts'
import { detailOf } from '../rules/rule-pass.ts'
import { verdictFeedback } from '../rules/verdict-feedback.ts'
import type { BackgroundExperiment, RunEnd } from './background-experiment.ts'
import type { AssistantsPort } from './experiment-port.ts'
import { assistantSpanBody, inputOf, outputsOf, usageOfMessages } from './experiment-span.ts'
import { afterFailure, LimitReached } from './retry.ts'

/** Models, assistants, judges and traces that runs work with. */
export interface RunParts extends JudgeParts {
  readonly models: Pick<Models, 'ask'>
  readonly quota: Pick<ModelQuota, 'begin' | 'spend'>
  /** Missing on a server without assistants. */
  readonly assistants?: AssistantsPort
  readonly ingest: () => Pick<Calls<SpanWrites>, 'ingest' | 'putFeedback'>
  readonly query: () => Pick<Calls<SpanReads>, 'run' | 'spanIds'>
  readonly env: Pick<Env, 'nowMs' | 'uuid7' | 'after' | 'random'>
}

/** An experiment whose runs are done. */
export interface RunningExperiment {
  readonly tenant: string
  readonly experiment: BackgroundExperiment
  readonly project: Project
  /** Null if an assistant is asked. */
  readonly template: Template | null
  readonly evaluators: readonly RuleEvaluator[]
}

/** An example, as one of the runs asks about it. */
export interface NumberedExample {
  readonly no: number
  readonly id: Uuid
  readonly inputs: unknown
}

/** Characters of a sentence that is kept. */
const sentenceMax = 500

/** Id of the span of a run. */
export function spanIdOf(experiment: Uuid, no: number): Uuid {
  return namedId('experiment', `run\n${experiment}\n${no}`)
}

/**
 * Does a run, or what is left of it. Throws `LimitReached` if a limit holds it up, and other errors
 * only if this server fails or the signal aborts.
 */
export async function doRun(parts: RunParts, here: RunningExperiment, example: NumberedExample,
  isThere: boolean, signal: AbortSignal): Promise<RunEnd> {
  const { no } = example
  const id = spanIdOf(here.experiment.id, no)
  if (!isThere) {
    const failure = await tried(parts, signal, () => answered(parts, here, example, signal))
    if (failure !== undefined) await writeFailure(parts, here, example, failure.message)
  }
  const { tenant, project, evaluators } = here
  const span = await detailOf(parts, tenant, id, [project], signal)
  if (typeof span['error'] === 'string') {
    return { no, failed: true, verdicts: 0, failedVerdicts: 0,
      error: span['error'].slice(0, sentenceMax) }
  }
  return { no, failed: false, ...await judged(parts, here, { span, evaluators }, signal) }
}

/** The failure that is final; undefined after a success. */
async function tried(parts: Pick<RunParts, 'env'>, signal: AbortSignal,
  work: () => Promise<void>): Promise<HeddleError | undefined> {
  for (let tries = 1;; tries++) {
    try {
      await work()
      return undefined
    } catch (caught) {
      signal.throwIfAborted()
      const error = HeddleError.from(caught)
      const next = afterFailure(error, tries)
      if (next.kind === 'wait') throw new LimitReached(error, next.ms)
      if (next.kind === 'own') throw error
      if (next.kind === 'failed') return error
      await pauseUnless(signal, parts.env, next.ms)
      signal.throwIfAborted()
    }
  }
}

/** Resolves after a while, or at once when the signal aborts. */
function pauseUnless(signal: AbortSignal, env: Pick<Env, 'after'>, ms: number): Promise<void> {
  return new Promise((resume) => {
    const stop = env.after(ms, resume)
    signal.addEventListener('abort', () => {
      stop()
      resume()
    }, { once: true })
  })
}

/** Asks, and writes the span. */
async function answered(parts: RunParts, here: RunningExperiment, example: NumberedExample,
  signal: AbortSignal): Promise<void> {
  const body = here.template === null
    ? await byAssistant(parts, here, example, signal)
    : await byPrompt(parts, here, here.template, example, signal)
  await written(parts, here.tenant, body)
}

async function byPrompt({ models, quota, env }: RunParts, here: RunningExperiment,
  { call, render }: Template, example: NumberedExample, signal: AbortSignal): Promise<Uint8Array> {
  const { tenant, experiment: { asked } } = here
  const messages = render(isObject(example.inputs) ? example.inputs : {})
  await quota.begin(tenant)
  const startMs = env.nowMs()
  const answer = await models.ask(tenant, { ...call, messages }, signal)
  const { inputTokens = 0, outputTokens = 0 } = answer.usage ?? {}
  quota.spend(tenant, inputTokens + outputTokens)
  return spanBody({ ...nameOf(here, example), call: { ...call, messages }, startMs,
    firstTextMs: null, endMs: env.nowMs(), ended: { answer },
    ...typeof asked.output_text === 'string' && { outputMember: asked.output_text } })
}

async function byAssistant({ assistants, env }: RunParts, here: RunningExperiment,
  example: NumberedExample, signal: AbortSignal): Promise<Uint8Array> {
  const { tenant, experiment, project } = here
  const { asked, target } = experiment
  if (assistants === undefined) {
    throw new HeddleError('unsupported', 'This server runs no assistants.')
  }
  const named = nameOf(here, example)
  const { run, thread, startMs, values, error } = await assistants.run(tenant, {
    assistant: asked.assistant_id!,
    input: inputOf(example.inputs, asked.input_text ?? null),
    key: named.id,
    metadata: { experiment_id: experiment.id, reference_example_id: example.id },
  }, signal)
  return assistantSpanBody({ id: named.id, project: project.id, example: example.id, name: target,
    startMs, endMs: env.nowMs(), inputs: example.inputs, error,
    outputs: outputsOf(values, asked.output_text ?? null),
    metadata: { ...named.metadata, ...usageOfMessages(values), thread_id: thread, run_id: run } })
}

function nameOf({ experiment, project }: RunningExperiment, { no, id: example }: NumberedExample) {
  return { id: spanIdOf(experiment.id, no), project: project.name, example,
    metadata: { experiment_id: experiment.id,
      repetition: no % (experiment.asked.repetitions ?? 1) } }
}

/** A run that failed for good is a span, too. */
async function writeFailure(parts: RunParts, here: RunningExperiment, example: NumberedExample,
  error: string): Promise<void> {
  const { id, metadata } = nameOf(here, example)
  const nowMs = parts.env.nowMs()
  await written(parts, here.tenant,
    assistantSpanBody({ id, project: here.project.id, example: example.id, error, outputs: {},
      name: here.experiment.target, startMs: nowMs, endMs: nowMs, inputs: example.inputs,
      metadata }))
}

async function written({ ingest }: RunParts, tenant: string, body: Uint8Array): Promise<void> {
  const { rejected } = await ingest().ingest({ tenant, form: 'batch', body, encoding: '',
    contentType: 'application/json' })
  const [first] = rejected
  if (first !== undefined) throw new HeddleError('invalid', first.reason)
}

type Verdicts = Pick<RunEnd, 'verdicts' | 'failedVerdicts' | 'error'>

async function judged(parts: RunParts, here: RunningExperiment,
  { span, evaluators }: { readonly span: SpanDetail;
    readonly evaluators: readonly RuleEvaluator[] }, signal: AbortSignal): Promise<Verdicts> {
  let [verdicts, failedVerdicts, error] = [0, 0, null as string | null]
  for (const [no, evaluator] of evaluators.entries()) {
    const failure = await tried(parts, signal, async () => {
      if (span['too_long'] === true) {
        throw new HeddleError('invalid', 'The run is longer than 1 MiB.')
      }
      verdicts += await judgedBy(parts, here, { span, evaluator, no }, signal)
    })
    if (failure === undefined) continue
    failedVerdicts++
    error = failure.message.slice(0, sentenceMax)
  }
  return { verdicts, failedVerdicts, error }
}

/** Verdicts that were kept. */
async function judgedBy(parts: RunParts, { tenant, experiment }: RunningExperiment,
  { span, evaluator, no }: { readonly span: SpanDetail; readonly evaluator: RuleEvaluator;
    readonly no: number }, signal: AbortSignal): Promise<number> {
  const { quota, ingest, env } = parts
  if (evaluator.structured != null) await quota.begin(tenant)
  const { verdicts, judgeRun, tokens } = await judge(parts, { tenant, evaluator, no, span,
    rule: { id: experiment.id, name: experiment.projectName } }, signal)
  if (tokens > 0) quota.spend(tenant, tokens)
  if (verdicts.length === 0) {
    throw new HeddleError('invalid', 'The evaluator answered nothing that can be kept.')
  }
  await ingest().putFeedback(
    verdicts.map((verdict) =>
      verdictFeedback({ tenant, span, verdict, judgeRun, askedBy: { experiment_id: experiment.id },
        id: namedId('experiment', `feedback\n${span.id}\n${verdict.key}`) }, env.nowMs())
    ),
  )
  return verdicts.length
}
