/** The rules of tenants: how they are made, changed, triggered and read. */

import { pause } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import type { Rule as RuleJson, RuleAlert, RuleBody, RuleEvaluator } from '../../../api/index.ts'
import { HeddleError, isOwnFailure } from '../../../errors.ts'
import { cautiousClock } from '../../../limits/index.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import { changeFresh } from '../../records/catalog/fresh-change.ts'
import type { DocumentPort } from '../../spans/document-port.ts'
import { tenantId } from '../../spans/tenant-id.ts'
import type { Projects } from '../../records/projects/project.ts'
import type { Uuid } from '../../spans/span.ts'
import { readTimeUs } from '../../spans/time.ts'
import type { Calls } from '../../calls/calls.ts'
import { evaluatorsOver } from './evaluator.ts'
import type { Evaluators } from './evaluator.ts'
import { detailOf } from './rule-pass.ts'
import { judge, manifestOf } from './judge.ts'
import type { JudgeParts, JudgeResult } from './judge.ts'
import type { RuleClient } from './rule-client.ts'
import { changedRule, ownerOf, requireSound, ruleJson, rulesMax } from './rule.ts'
import type { Rule } from './rule.ts'
import { callEndpoint } from './rule-alert.ts'
import type { AlertedRule } from './rule-alert.ts'
import { readLog } from './rule-log.ts'
import { ruleRecords } from './rule-records.ts'
import type { RuleRecords } from './rule-records.ts'
import type { LoggedEntry, RuleState } from './rule-state.ts'
import type { SpanReads } from '../../query/question.ts'

/** The rules of tenants. All methods throw HeddleError; `not_found` for what does not exist. */
export interface Rules {
  readonly records: RuleRecords
  readonly evaluators: Evaluators
  all(tenant: string): Promise<readonly Rule[]>
  get(tenant: string, id: Uuid): Promise<Rule>
  /** Spans that end after it resolved are read. `full` if there are too many. */
  create(tenant: string, body: RuleBody): Promise<Rule>
  /** Null takes away; what is absent stays, also what another change sets at the same time. */
  change(tenant: string, id: Uuid, body: RuleBody): Promise<Rule>
  delete(tenant: string, id: Uuid): Promise<void>
  state(tenant: string, id: Uuid): Promise<RuleState>
  log(tenant: string, id: Uuid,
    page: { readonly before?: number | undefined; readonly limit: number }
  ): Promise<
    readonly LoggedEntry[]
  >
  /**
   * Backfills spans that started in a period, by default the last day, after earlier backfills.
   * Throws `full`.
   */
  trigger(tenant: string, id: Uuid,
    time: { readonly fromUs?: number | undefined;
      readonly throughUs?: number | undefined }): Promise<RuleState>
  /** As clients read them. */
  json(tenant: string, rules: readonly Rule[]): Promise<readonly RuleJson[]>
  /** Asks a judge about one span. Only the call of the model is kept. */
  tryJudge(tenant: string, evaluator: RuleEvaluator, span: Uuid,
    signal: AbortSignal): Promise<JudgeResult>
  /** Calls the endpoint of an alert, as if it fired. Throws `invalid` if that does not take it. */
  tryAlert(tenant: string, rule: AlertedRule, alert: RuleAlert, signal: AbortSignal): Promise<void>
}

/** Dependencies of rules: the catalogs, the projects, the client of rules and their judges. */
export interface RuleParts {
  readonly catalogs: CatalogClient
  readonly documents: DocumentPort
  readonly projects: Projects
  readonly query: () => Pick<Calls<SpanReads>, 'validate' | 'locate' | 'run'>
  readonly client: RuleClient
  readonly judging: JudgeParts
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs' | 'uuid' | 'after'>
}

/** Time for which front doors may use what they know of a project, and a little more. */
const leaseMs = 1_050
const dayUs = 24 * 3_600e6

/** Rules over the catalogs of all tenants; changes wake the actors of rules. */
export function rulesOver(parts: RuleParts): Rules {
  const { catalogs, documents, env, client } = parts
  const cautiousNowMs = cautiousClock(env)
  const records = ruleRecords(catalogs, env)
  const evaluators = evaluatorsOver(catalogs, env)
  const get = async (tenant: string, id: Uuid) => {
    const rule = await records.get(tenant, id)
    if (rule === undefined) throw new HeddleError('not_found', `The rule ${id} does not exist.`)
    return rule
  }
  return {
    ...ruleChanges(parts, { records, evaluators, get }),
    records,
    evaluators,
    all: records.all,
    get,
    state: async (tenant, id) => {
      await get(tenant, id)
      return await client.get({ tenant, id })
    },
    log: async (tenant, id, page) => {
      await get(tenant, id)
      return await readLog(documents, tenant, id, page)
    },
    trigger: async (tenant, id, { fromUs, throughUs }) => {
      const { is_enabled: isEnabled } = await get(tenant, id)
      if (!isEnabled) throw new HeddleError('invalid', 'The rule is disabled: enable it first.')
      // A clock that jumped moves only the end of the window that it makes wider.
      return await client.trigger({ tenant, id }, fromUs ?? cautiousNowMs() * 1_000 - dayUs,
        throughUs ?? env.nowMs() * 1_000)
    },
    json: (tenant, rules) => rulesJson(parts, tenant, rules),
    tryJudge: (tenant, evaluator, span, signal) =>
      judgeSpan(parts, { tenant, evaluator, span }, signal),
    tryAlert: (tenant, rule, alert, signal) => tryAlert(parts, { tenant, rule }, alert, signal),
  }
}

function ruleChanges(parts: RuleParts,
  { records, evaluators, get }: Pick<Rules, 'records' | 'evaluators' | 'get'>
): Pick<Rules, 'create' | 'change' | 'delete'> {
  const { env, client } = parts
  const wakeable = async (tenant: string, id: Uuid) => {
    await records.awake.add({ tenant, id })
    await client.begin({ tenant, id })
  }
  return {
    create: async (tenant, body) => {
      const made = changedRule(undefined, body)
      await requireUsable(parts, tenant, made, evaluators)
      if ((await records.all(tenant)).length >= rulesMax) {
        throw new HeddleError('full', `There may be ${rulesMax} rules. Delete some.`)
      }
      const id = env.uuid()
      if (made.is_enabled) await wakeable(tenant, id)
      const rule = await records.create(tenant, id, made)
      // A watch that found no rule yet has taken it off the list.
      if (made.is_enabled) await records.awake.add({ tenant, id })
      // All front doors know of it then.
      if (made.is_enabled) await pause(env, leaseMs)
      const fromUs = backfillOf(made)
      if (fromUs !== undefined) await client.trigger({ tenant, id }, fromUs, env.nowMs() * 1_000)
      return rule
    },
    change: async (tenant, id, body) => {
      const { rule, begins } = await changeFresh(async () => {
        const before = await get(tenant, id)
        const after = changedRule(before, body)
        await requireUsable(parts, tenant, after, evaluators)
        const starts = after.is_enabled === true &&
          (!before.is_enabled || ownerOf(before) !== ownerOf(after))
        if (starts) await wakeable(tenant, id)
        return { rule: await records.change(tenant, before, after), begins: starts }
      })
      if (begins) await pause(env, leaseMs)
      const fromUs = body.backfill_from == null ? undefined : backfillOf(body)
      if (fromUs !== undefined) await client.trigger({ tenant, id }, fromUs, env.nowMs() * 1_000)
      client.wake({ tenant, id })
      return rule
    },
    delete: async (tenant, id) => {
      const owner = ownerOf(await get(tenant, id))
      await records.delete(tenant, id)
      await client.drop({ tenant, id }, owner)
    },
  }
}

async function judgeSpan(parts: RuleParts,
  { tenant, evaluator, span }: { readonly tenant: string; readonly evaluator: RuleEvaluator;
    readonly span: Uuid }, signal: AbortSignal): Promise<JudgeResult> {
  await requireJudge(parts, tenant, evaluator)
  const query = parts.query()
  const [place] = await query.locate({ tenant, ids: [span] })
  const projects = place === undefined ? [] : await parts.projects.get(tenant, [place.project])
  if (projects.length === 0) throw new HeddleError('not_found', 'There is no such run.')
  const detail = await detailOf({ query: parts.query }, tenant, span, projects, signal)
  return await judge(parts.judging, { tenant, evaluator, no: 0, span: detail,
    rule: { id: parts.env.uuid(), name: 'Dry run' } }, signal)
}

async function tryAlert({ judging: { port }, projects, env }: RuleParts,
  { tenant, rule }: { readonly tenant: string; readonly rule: AlertedRule }, alert: RuleAlert,
  signal: AbortSignal): Promise<void> {
  requireUrl(port, tenant, alert.url)
  const [project] = rule.session_id === null ? [] : await projects.get(tenant, [rule.session_id])
  const { outcome, message } = await callEndpoint({ port }, { tenant, rule }, alert, {
    value: alert.threshold,
    sinceMs: env.nowMs(),
    why: 'this is a test.',
    key: env.uuid(),
    projectName: project?.name,
  }, signal)
  if (outcome !== 'done') throw new HeddleError('invalid', message)
}

function backfillOf({ backfill_from: from }: RuleBody): number | undefined {
  if (from == null) return undefined
  const us = readTimeUs(from)
  if (us === undefined) throw new HeddleError('invalid', 'backfill_from: expected a time.')
  return us
}

async function rulesJson({ projects, judging }: RuleParts, tenant: string,
  rules: readonly Rule[]): Promise<readonly RuleJson[]> {
  const ids = rules.flatMap(({ session_id: id }) => (id === null ? [] : [id]))
  const sets = new Set(rules.flatMap(({ dataset_id: id }) => (id === null ? [] : [id])))
  const named = new Map((await projects.get(tenant, [...new Set(ids)]))
    .map(({ id, name }) => [id, name]))
  const datasets = new Map(
    await Promise.all(
      [...sets].map(async (id) => [id, await judging.port.datasets?.name(tenant, id)] as const),
    ),
  )
  return rules.map((rule) =>
    ruleJson(rule, { tenant: tenantId(tenant), project: named.get(rule.session_id ?? ''),
      dataset: datasets.get(rule.dataset_id ?? '') })
  )
}

/** Throws `invalid` or `not_found` if the rule could never do what it says. */
async function requireUsable(parts: RuleParts, tenant: string, rule: RuleBody,
  evaluators: Evaluators): Promise<void> {
  const { projects, judging: { port } } = parts
  const project = rule.session_id == null
    ? undefined
    : (await projects.get(tenant, [rule.session_id]))[0]
  if (rule.session_id != null && project === undefined) throw missing('project')
  requireSound(rule, project?.name)
  for (const dataset of [rule.dataset_id, rule.add_to_dataset_id]) {
    if (dataset == null) continue
    if (port.datasets === undefined) throw unoffered('Datasets')
    if (await port.datasets.name(tenant, dataset) === undefined) throw missing('dataset')
  }
  const queue = rule.add_to_annotation_queue_id
  if (queue != null) {
    if (port.queues === undefined) throw unoffered('Annotation queues')
    if (!await port.queues.exists(tenant, queue)) throw missing('queue')
  }
  for (const { url } of [...rule.webhooks ?? [], ...rule.alerts ?? []])
    requireUrl(port, tenant, url)
  for (const filter of [rule.filter, rule.trace_filter, rule.tree_filter]) {
    const fault = filter == null || filter.trim() === ''
      ? null
      : await parts.query().validate({ filter })
    if (fault !== null) throw new HeddleError('invalid', fault)
  }
  for (const evaluator of rule.evaluators ?? []) await requireJudge(parts, tenant, evaluator)
  if (rule.evaluator_id != null) await evaluators.get(tenant, rule.evaluator_id)
  backfillOf(rule)
}

function requireUrl({ egress }: JudgeParts['port'], tenant: string, url: string): void {
  try {
    egress.check(url, tenant)
  } catch (error) {
    const { code, message } = HeddleError.from(error)
    if (isOwnFailure({ code })) throw error
    throw new HeddleError('invalid', `url: ${message}.`)
  }
}

async function requireJudge({ judging: { port } }: RuleParts, tenant: string,
  evaluator: RuleEvaluator): Promise<void> {
  const { graph_id: graph, structured } = evaluator
  if (graph != null) {
    if (port.graphs?.has(tenant, graph) === true) return
    throw new HeddleError('invalid', `This server has no graph ${JSON.stringify(graph)}.`)
  }
  if (structured == null) throw new HeddleError('invalid', 'An evaluator has a prompt or a graph.')
  const { models, prompts } = port
  if (models === undefined || prompts === undefined) throw unoffered('Judges by prompt')
  const manifest = await manifestOf(port, tenant, evaluator)
  if ((structured.schema ?? prompts.schemaOf(manifest)) === null) {
    throw new HeddleError('invalid', 'schema: say what the judge answers, as a JSON schema.')
  }
  const variables = prompts.variablesOf(manifest)
  prompts.messagesOf(manifest, Object.fromEntries(variables.map((name) => [name, ''])))
  models.check(structured.model ?? prompts.modelOf(manifest))
}

function missing(noun: string): HeddleError {
  return new HeddleError('not_found', `There is no such ${noun}.`)
}

function unoffered(what: string): HeddleError {
  return new HeddleError('unsupported', `${what} are not offered by this server.`)
}
