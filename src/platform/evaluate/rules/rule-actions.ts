/**
 * Actions of a rule on one span: queue, dataset, webhook, judges, in this order. Each effect has
 * an id that is made of the rule and the span, so that it is the same when it is repeated.
 */

import { pause } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import type { RuleEvaluator, RuleVerdict, RuleWebhook } from '../../../api/index.ts'
import { HeddleError, isOwnFailure } from '../../../errors.ts'
import { namedId } from '../../records/catalog/named-id.ts'
import type { Feedback } from '../../spans/feedback-port.ts'
import type { Uuid } from '../../spans/span.ts'
import { judge, JudgeFault } from './judge.ts'
import type { JudgeParts, SpanDetail } from './judge.ts'
import { ruleMark } from './rule.ts'
import type { Rule } from './rule.ts'
import type { ActionEntry, SpanOutcome } from './rule-state.ts'
import { verdictFeedback } from './verdict-feedback.ts'

/** Dependencies of the actions of a rule, with the writer of feedback. */
export interface ActionParts extends JudgeParts {
  readonly env: Pick<Env, 'nowMs' | 'uuid7' | 'after' | 'random'>
  putFeedback(rows: readonly Feedback[]): Promise<unknown>
}

/** A rule that acts for a tenant. */
export interface ActingRule {
  readonly tenant: string
  readonly rule: Rule
  readonly evaluators: readonly RuleEvaluator[]
  /** False when no more may be spent. */
  hasBudget(): boolean
}

/** Tries of an action, and the pause before the second one. */
const [triesMax, pauseMs] = [3, 500]

/** Does all actions. Throws only if this server fails, or `signal` aborts. */
export async function actOn(parts: ActionParts, acting: ActingRule, span: SpanDetail,
  signal: AbortSignal): Promise<SpanOutcome> {
  const { rule } = acting
  const actions: ActionEntry[] = []
  let tokens = 0
  const act = async (kind: ActionEntry['kind'], work: () => Promise<Done>) => {
    const done = await tried(parts, work, signal)
    tokens += done.tokens ?? 0
    actions.push({ kind, outcome: done.outcome, message: done.message,
      ...done.judgeRun !== undefined && { judge_run_id: done.judgeRun } })
  }
  if (rule.add_to_annotation_queue_id !== null)
    await act('queue', () => queued(parts, acting, span))
  if (rule.add_to_dataset_id !== null) await act('dataset', () => kept(parts, acting, span))
  for (const [no, webhook] of (rule.webhooks ?? []).entries()) {
    await act('webhook', () => sent(parts, acting, { span, webhook, no }, signal))
  }
  for (const [no, evaluator] of acting.evaluators.entries()) {
    await act('evaluator', () => judged(parts, acting, { span, evaluator, no }, signal))
  }
  return { line: lineOf(span, actions), tokens }
}

interface Done {
  readonly outcome: ActionEntry['outcome']
  readonly message: string
  readonly tokens?: number
  readonly judgeRun?: Uuid
}

function lineOf(span: SpanDetail, actions: readonly ActionEntry[]): SpanOutcome['line'] {
  const of = (outcome: string) => actions.find((action) => action.outcome === outcome)
  const worst = of('failed') ?? of('skipped')
  return { run_id: span.id, trace_id: span.trace_id, session_id: span.session_id,
    outcome: of('failed') !== undefined ? 'failed' : of('done') === undefined ? 'skipped' : 'done',
    message: worst?.message ?? actions.map(({ message }) => message).join(' '), actions }
}

async function tried({ env }: ActionParts, work: () => Promise<Done>,
  signal: AbortSignal): Promise<Done> {
  for (let tries = 1;; tries++) {
    try {
      return await work()
    } catch (caught) {
      signal.throwIfAborted()
      const error = caught instanceof JudgeFault ? caught : HeddleError.from(caught)
      // The whole span is tried again later.
      if (isOwnFailure(error)) throw error
      if (error.retry === 'no' || tries === triesMax) {
        return { outcome: 'failed', message: error.message,
          ...error instanceof JudgeFault && { tokens: error.tokens, judgeRun: error.judgeRun } }
      }
      await pause(env, pauseMs * 2 ** tries)
      signal.throwIfAborted()
    }
  }
}

async function queued({ port: { queues } }: ActionParts, { tenant, rule }: ActingRule,
  { id }: SpanDetail): Promise<Done> {
  if (queues === undefined) throw new HeddleError('unsupported', 'There are no queues here.')
  await queues.add(tenant, rule.add_to_annotation_queue_id!, [id])
  return { outcome: 'done', message: 'Added to the queue.' }
}

async function kept({ port: { datasets } }: ActionParts, { tenant, rule }: ActingRule,
  span: SpanDetail): Promise<Done> {
  if (datasets === undefined) throw new HeddleError('unsupported', 'There are no datasets here.')
  requirePayload(span)
  const dataset = rule.add_to_dataset_id!
  await datasets.addExample(tenant, dataset, {
    id: namedId('rule', `example\n${dataset}\n${span.id}`),
    inputsJson: JSON.stringify(span['inputs'] ?? {}),
    outputsJson: span['outputs'] == null ? null : JSON.stringify(span['outputs']),
    metadataJson: null,
    sourceRun: span.id,
  })
  return { outcome: 'done', message: 'Added to the dataset.' }
}

async function sent({ port: { egress } }: ActionParts, { tenant, rule }: ActingRule,
  { span, webhook: { url, headers }, no }: { readonly span: SpanDetail;
    readonly webhook: RuleWebhook; readonly no: number }, signal: AbortSignal): Promise<Done> {
  const key = namedId('rule', `webhook\n${rule.id}\n${span.id}\n${no}`)
  const body = JSON.stringify({ rule_id: rule.id, rule_name: rule.display_name,
    idempotency_key: key, runs: [span], metadata: { [ruleMark]: rule.id } })
  return webhookDone(
    await egress.send({ tenant, method: 'POST', url, tries: triesMax,
      headers: { 'content-type': 'application/json', ...headers, 'idempotency-key': key },
      body: () => Promise.resolve(body) }, signal),
  )
}

/** Outcome of a call of an endpoint. Its own words are not kept: they may be secret. */
export function webhookDone(
  outcome: Awaited<ReturnType<ActionParts['port']['egress']['send']>>,
): { readonly outcome: 'done' | 'failed'; readonly message: string } {
  if (outcome.kind !== 'answered') {
    return { outcome: 'failed', message: `The webhook was not called: ${outcome.reason}` }
  }
  return outcome.status < 300
    ? { outcome: 'done', message: 'The webhook was called.' }
    : { outcome: 'failed', message: `The webhook answered ${outcome.status}.` }
}

async function judged(parts: ActionParts, { tenant, rule, hasBudget }: ActingRule,
  { span, evaluator, no }: { readonly span: SpanDetail; readonly evaluator: RuleEvaluator;
    readonly no: number }, signal: AbortSignal): Promise<Done> {
  if (!hasBudget()) {
    return { outcome: 'skipped', message: 'Not judged: the spend limit of the day is reached.' }
  }
  requirePayload(span)
  const { verdicts, judgeRun, tokens } = await judge(parts, { tenant, evaluator, no, span,
    rule: { id: rule.id, name: rule.display_name } }, signal)
  if (verdicts.length === 0) {
    throw new JudgeFault('The judge answered nothing that can be kept.', judgeRun, tokens)
  }
  await parts.putFeedback(
    verdicts.map((verdict) =>
      verdictFeedback({ tenant, span, verdict, judgeRun, askedBy: { rule_id: rule.id },
        id: namedId('rule', `feedback\n${rule.id}\n${span.id}\n${verdict.key}`) },
        parts.env.nowMs())
    ),
  )
  return { outcome: 'done', message: saidBy(verdicts), tokens, judgeRun }
}

function requirePayload(span: SpanDetail): void {
  if (span['too_long'] !== true) return
  throw new HeddleError('invalid', 'The run is longer than 1 MiB.')
}

function saidBy(verdicts: readonly RuleVerdict[]): string {
  const said = verdicts.map(({ key, score, value }) => `${key}: ${String(score ?? value)}`)
  return `Judged: ${said.join(', ')}.`.slice(0, 500)
}
