/** One pass of a rule: reads the ends after its cursor, and acts on the spans that it is about. */

import { limitConcurrency } from '../../../../cluster/index.ts'
import type { RuleEvaluator } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { DocumentPort } from '../../spans/document-port.ts'
import type { Project, Projects } from '../../records/projects/project.ts'
import type { Uuid } from '../../spans/span.ts'
import type { Calls } from '../../calls/calls.ts'
import type { RunsQuestion, SpanReads } from '../../query/question.ts'
import { batchSpans, endedPlace, hourOf, hourOfKey, keptHours, keyAt,
  readEnded } from '../../ingest/ended/ended-span.ts'
import type { EndedName } from '../../ingest/ended/ended-span.ts'
import type { SpanDetail } from './judge.ts'
import { actOn } from './rule-actions.ts'
import type { ActingRule, ActionParts } from './rule-actions.ts'
import { isSampled, ownerOf } from './rule.ts'
import type { Rule } from './rule.ts'
import type { MatchedSpan, RuleReads } from './rule-query.ts'
import type { Progress, RuleCommand, RuleState, SpanOutcome } from './rule-state.ts'

/** Dependencies of passes: documents, projects and queries, besides those of actions. */
export interface PassParts extends ActionParts {
  readonly documents: DocumentPort
  readonly projects: Pick<Projects, 'get' | 'find'>
  readonly query: () => Pick<Calls<SpanReads & RuleReads>, 'ruleSpans' | 'run' | 'runs' | 'stats'>
  /** Milliseconds that ends are old before they are read. */
  readonly lagMs: number
}

/** The state of a rule, and how it is changed. */
export interface StateKeeper {
  readonly state: RuleState
  /** Durable when it resolves. Answers how many calls were granted. */
  decide(command: RuleCommand): Promise<number>
}

/** A rule in a pass. */
export interface RuleInPass {
  readonly tenant: string
  readonly rule: Rule
  readonly evaluators: readonly RuleEvaluator[]
  readonly keeper: StateKeeper
  /** Outcomes of spans whose pass failed after them. */
  readonly known: Map<Uuid, SpanOutcome>
}

/** Spans that are worked on at once. */
const atOnce = 8
/** Bytes of a span that are parsed here. */
const detailBytesMax = 1024 * 1024
const detailMembers = ['id', 'trace_id', 'session_id', 'name', 'run_type', 'status', 'start_time',
  'end_time', 'error', 'parent_run_id', 'thread_id', 'reference_example_id', 'total_tokens',
  'total_cost', 'tags', 'feedback_stats']

/** Reads ends until none is left, then the second cursor. */
export async function readAll(parts: PassParts, here: RuleInPass,
  signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const batch = await nextEnded(parts, here)
    if (batch !== undefined) await actOnSome(parts, here, batch, signal)
    else if (!await secondPage(parts, here, signal)) return
  }
}

/** True if ends wait that are too young to be read. */
export async function hasYounger({ documents, env }: PassParts,
  { tenant, rule, keeper }: RuleInPass): Promise<boolean> {
  const hour = hourOf(env.nowMs() * 1_000)
  for (const each of [hour, hour + 1]) {
    const place = endedPlace(tenant, ownerOf(rule), each)
    const found = await documents.listDocuments(place, { after: keeper.state.cursor, limit: 1 })
    if (found.length > 0) return true
  }
  return false
}

interface Batch {
  readonly projects: readonly Uuid[]
  readonly spans: readonly EndedName[]
  readonly at: Progress
}

async function nextEnded({ documents, env, lagMs }: PassParts,
  { tenant, rule, keeper }: RuleInPass): Promise<Batch | undefined> {
  const throughUs = (env.nowMs() - lagMs) * 1_000
  const { cursor } = keeper.state
  const last = hourOf(throughUs)
  for (let hour = Math.max(hourOfKey(cursor), last - keptHours); hour <= last; hour++) {
    const found = await documents.listDocuments(endedPlace(tenant, ownerOf(rule), hour), {
      after: cursor,
      before: keyAt(throughUs),
      limit: batchSpans,
    })
    if (found.length === 0) continue
    const spans = new Map<Uuid, EndedName>()
    const projects = new Set<Uuid>()
    let key = ''
    for (const batch of found.map(readEnded)) {
      if (key !== '' && spans.size + batch.spans.length > batchSpans) break
      for (const span of batch.spans) spans.set(span.id, span)
      projects.add(batch.project)
      key = batch.key
    }
    return { projects: [...projects], spans: [...spans.values()],
      at: { source: 'ended', cursor: key } }
  }
  return undefined
}

/** A page of the second cursor. False if there is none. */
async function secondPage(parts: PassParts, here: RuleInPass,
  signal: AbortSignal): Promise<boolean> {
  const { second } = here.keeper.state
  if (second === null) return false
  const projects = await projectsOf(parts, here)
  const question: RunsQuestion = { ...questionOf(here, projects), order: 'oldest',
    fromUs: second.fromUs, toUs: second.throughUs, select: ['id', 'trace_id', 'end_time'],
    ...second.cursor !== null && { cursor: second.cursor } }
  const page = parsed(await parts.query().runs(question, { signal })) as {
    readonly runs: readonly { readonly id: Uuid; readonly trace_id: Uuid;
      readonly end_time: string | null }[]
    readonly cursors: { readonly next: string | null }
  }
  const spans = page.runs.filter(({ end_time: end }) => end !== null)
    .map(({ id, trace_id: trace }) => ({ id, trace }))
  await actOnSome(parts, here, { projects: projects.map(({ id }) => id), spans,
    at: { source: 'second', cursor: page.cursors.next ?? null, askedMs: second.askedMs } }, signal)
  return true
}

/** Acts on those of a batch that the rule is about, and moves on. */
async function actOnSome(parts: PassParts, here: RuleInPass, { projects, spans, at }: Batch,
  signal: AbortSignal): Promise<void> {
  const { tenant, rule, keeper, evaluators, known } = here
  const sampled = spans.filter(({ trace }) => isSampled(trace, rule.sampling_rate))
  const found = await parts.projects.get(tenant, projects)
  const matched = sampled.length === 0 || !acts(here)
    ? []
    : parsed(
      await parts.query().ruleSpans({ ...questionOf(here, found),
        ids: sampled.map(({ id }) => id) }, { signal }),
    ) as readonly MatchedSpan[]
  const ours = matched.filter(({ marked }) => !marked)
  const granted = ours.length * evaluators.length === 0
    ? 0
    : await keeper.decide({ kind: 'charge', calls: ours.length * evaluators.length,
      limit: rule.spend_limit })
  const acting: ActingRule = { tenant, rule, evaluators,
    hasBudget: budget(granted, tokensLeft(rule, keeper.state), known) }
  const inTurn = limitConcurrency(atOnce)
  const outcomes = await Promise.all(matched.map((span) =>
    inTurn(async () => {
      signal.throwIfAborted()
      const outcome = known.get(span.id) ?? await outcomeOf(parts, acting, span, found, signal)
      known.set(span.id, outcome)
      return outcome
    })
  ))
  await keeper.decide({ kind: 'settle', looked: spans.length, outcomes, at })
  known.clear()
}

function acts({ rule, evaluators }: RuleInPass): boolean {
  return rule.add_to_annotation_queue_id !== null || rule.add_to_dataset_id !== null ||
    (rule.webhooks?.length ?? 0) > 0 || evaluators.length > 0
}

function tokensLeft({ spend_limit: limit }: Rule, { tokens }: RuleState): number {
  return (limit?.tokens_per_day ?? Infinity) - tokens
}

/** Answers whether one more call may be made. */
function budget(granted: number, tokens: number,
  known: ReadonlyMap<Uuid, SpanOutcome>): () => boolean {
  let calls = 0
  return () => {
    const used = [...known.values()].reduce((sum, outcome) => sum + outcome.tokens, 0)
    if (calls >= granted || used >= tokens) return false
    calls++
    return true
  }
}

async function outcomeOf(parts: PassParts, acting: ActingRule,
  { id, trace, project, marked }: MatchedSpan, projects: readonly Project[],
  signal: AbortSignal): Promise<SpanOutcome> {
  const line = { run_id: id, trace_id: trace, session_id: project } as const
  if (marked) {
    return { tokens: 0,
      line: { ...line, outcome: 'skipped',
        message: 'A rule made this run, so no rule acts on it.' } }
  }
  try {
    const detail = await detailOf(parts, acting.tenant, id, projects, signal)
    return await actOn(parts, acting, detail, signal)
  } catch (error) {
    if (HeddleError.from(error).code !== 'not_found') throw error
    return { tokens: 0, line: { ...line, outcome: 'skipped', message: 'The run is gone.' } }
  }
}

/** A span as actions get it. One that is very long has no payload. */
export async function detailOf(
  { query }: { readonly query: () => Pick<Calls<SpanReads>, 'run'> },
  tenant: string,
  id: Uuid,
  projects: readonly Project[],
  signal: AbortSignal,
): Promise<SpanDetail> {
  const ask = (select: readonly string[]) =>
    query().run({ tenant, id, version: 1, projects, select }, { signal })
  const whole = await ask([...detailMembers, 'inputs', 'outputs']).catch((error: unknown) => {
    // No later try makes it shorter: it would hold up the rule for ever.
    if (HeddleError.from(error).code !== 'too_large') throw error
    return undefined
  })
  if (whole !== undefined && whole.byteLength <= detailBytesMax) return parsed(whole) as SpanDetail
  return { ...parsed(await ask(detailMembers)) as SpanDetail, too_long: true }
}

/** The projects that a rule is about: its own, or those of experiments on its dataset. */
export async function projectsOf({ projects }: Pick<PassParts, 'projects'>,
  { tenant, rule }: Pick<RuleInPass, 'tenant' | 'rule'>): Promise<readonly Project[]> {
  if (rule.session_id !== null) return await projects.get(tenant, [rule.session_id])
  const found = await projects.find(tenant, { referenceDatasetIds: [rule.dataset_id!],
    sortBy: 'start_time', descending: true, limit: 100, offset: 0 })
  return found.projects
}

/** Question for the spans that meet the filters of a rule, the oldest first. */
export function questionOf({ tenant, rule }: Pick<RuleInPass, 'tenant' | 'rule'>,
  projects: readonly Project[]): RunsQuestion {
  return { tenant, projects, order: 'oldest', limit: batchSpans, version: 1,
    ...rule.filter !== null && { filter: rule.filter },
    ...rule.trace_filter !== null && { traceFilter: rule.trace_filter },
    ...rule.tree_filter !== null && { treeFilter: rule.tree_filter } }
}

function parsed(json: Uint8Array): unknown {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString())
}
