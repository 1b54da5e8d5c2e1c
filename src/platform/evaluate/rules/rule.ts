/** A rule: which spans it is about, and what is done with each. As clients write it. Pure. */

import { hash } from 'node:crypto'

import { RuleFields } from '../../../api/index.ts'
import type { RuleBody, Rule as RuleJson, RuleEvaluator, RuleWebhook } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import { withoutLogins } from '../models/endpoint.ts'
import type { Uuid } from '../../spans/span.ts'

/** A rule as its catalog keeps it. */
export interface Rule extends Pick<RuleJson, keyof typeof RuleFields.properties> {
  readonly id: Uuid
  /** Rises with each change. */
  readonly revision: number
  readonly createdMs: number
  readonly modifiedMs: number
}

/** Rules of a tenant at most. */
export const rulesMax = 100

/** Spans that rules made have this key in their metadata: no rule looks at them. */
export const ruleMark = '__rule'

/** The project of the calls of judges. */
export const judgeProject = 'evaluators'

/** A rule that says nothing: with all members, so that a record of an earlier version has them. */
const empty = {
  ...Object.fromEntries(Object.keys(RuleFields.properties).map((name) => [name, null])),
  display_name: '',
  is_enabled: true,
  sampling_rate: 1,
  revision: 0,
}

/** The rule of a record. */
export function ruleOf({ id, name, bodyJson, createdAtMs, modifiedAtMs }: CatalogRecord): Rule {
  return { ...empty, ...JSON.parse(bodyJson) as RuleBody, id, display_name: shownName(id, name),
    createdMs: createdAtMs, modifiedMs: modifiedAtMs } as Rule
}

/** Names of records are taken once; those of rules need not be. */
export function recordName(id: Uuid, name: string): string {
  return `${name}\n${id}`
}

function shownName(id: Uuid, name: string): string {
  return name.endsWith(`\n${id}`) ? name.slice(0, -id.length - 1) : name
}

/** Project or dataset whose ended spans a rule reads; empty if it has neither. */
export function ownerOf({ session_id: project, dataset_id: dataset }: RuleBody): Uuid | '' {
  return project ?? dataset ?? ''
}

/** A header that is not shown; sent back, it stays as it is. */
const hidden = '••••'

/** Puts a body over the rule before; null removes a member, absent ones stay. */
export function changedRule(before: Rule | undefined, body: RuleBody): RuleBody {
  const { id: _i, createdMs: _c, modifiedMs: _m, revision: _r, ...kept } = before ??
    { ...empty, id: '', createdMs: 0, modifiedMs: 0 }
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
  const after: RuleBody = { ...kept, ...given, is_enabled: body.is_enabled ?? kept.is_enabled,
    sampling_rate: body.sampling_rate ?? kept.sampling_rate }
  return {
    ...after,
    webhooks: after.webhooks?.map((each, at) => withHidden(each, before?.webhooks, at)) ?? null,
    alerts: after.alerts?.map((each, at) => withHidden(each, before?.alerts, at)) ?? null,
  }
}

/** Headers that were sent back hidden are those of the call to the same URL before. */
function withHidden<Call extends RuleWebhook>(call: Call,
  before: readonly RuleWebhook[] | null | undefined, at: number): Call {
  if (!call.headers) return call
  const isSame = ({ url }: RuleWebhook) => call.url === url || call.url === withoutLogins(url)
  const there = before?.[at]
  const known = (there && isSame(there) ? there : before?.find(isSame))?.headers ?? {}
  return { ...call, headers: Object.fromEntries(
    Object.entries(call.headers).map((
      [name, value],
    ) => [name.toLowerCase(), value === hidden ? known[name.toLowerCase()] ?? '' : value]),
  ) }
}

/** With another host than the URL has, a call would reach what may not be called. */
const ownHeaders: ReadonlySet<string> = new Set(['host', 'connection', 'content-length',
  'transfer-encoding'])

/** Throws `invalid` for what a rule may not be. */
export function requireSound(rule: RuleBody, projectName: string | undefined): void {
  if (!rule.display_name) throw wrong('display_name: expected a text.')
  if ((rule.session_id == null) === (rule.dataset_id == null)) {
    throw wrong('A rule is about one project or one dataset: give session_id or dataset_id.')
  }
  const judges = (rule.evaluators?.length ?? 0) > 0 || rule.evaluator_id != null
  if (projectName === judgeProject && judges) {
    throw wrong(`A rule on the project ${judgeProject} cannot have an evaluator: it would feed ` +
      'itself.')
  }
  for (const evaluator of rule.evaluators ?? []) {
    const { structured, graph_id: graph } = evaluator
    if ((structured == null) === (graph == null)) {
      throw wrong('An evaluator is a prompt (structured) or a graph (graph_id).')
    }
    if (structured && (structured.hub_ref == null) === (structured.prompt == null)) {
      throw wrong('An evaluator has a prompt or a hub_ref.')
    }
  }
  for (const { headers } of [...rule.webhooks ?? [], ...rule.alerts ?? []]) {
    const name = Object.keys(headers ?? {}).find((each) => ownHeaders.has(each.toLowerCase()))
    if (name !== undefined) throw wrong(`headers: ${name} is made of the URL and of the body.`)
  }
  const acts = judges || rule.alerts?.length || rule.webhooks?.length ||
    rule.add_to_dataset_id != null || rule.add_to_annotation_queue_id != null
  if (!acts)
    throw wrong('A rule needs an action: a queue, a dataset, a webhook, an evaluator or ' +
      'an alert.')
}

/** True if a trace is in the sample: the same for all of its spans and at any time. */
export function isSampled(trace: Uuid, rate: number): boolean {
  return hash('sha256', trace, 'buffer').readUInt32BE() < rate * 2 ** 32
}

/** A rule as clients read it: values of headers are hidden, logins in addresses left out. */
export function ruleJson({ createdMs, modifiedMs, revision: _, ...rule }: Rule,
  names: { readonly tenant: string; readonly project?: string | undefined;
    readonly dataset?: string | undefined }): RuleJson {
  const shown = <Call extends RuleWebhook>(calls: readonly Call[] | null) =>
    calls?.map((call) => ({ ...call, url: withoutLogins(call.url) as string, headers: call.headers
      ? Object.fromEntries(
        Object.keys(call.headers).map((name) => [name, hidden]),
      )
      : null })
    ) ?? null
  return {
    ...rule,
    tenant_id: names.tenant,
    session_name: names.project ?? null,
    dataset_name: names.dataset ?? null,
    webhooks: shown(rule.webhooks),
    alerts: shown(rule.alerts),
    evaluators: rule.evaluators?.map(shownEvaluator) ?? null,
    evaluator_version: 1,
    created_at: new Date(createdMs).toISOString(),
    updated_at: new Date(modifiedMs).toISOString(),
  }
}

/** Models that were kept before logins were refused may have some. Templates stay as they are. */
function shownEvaluator({ structured, ...evaluator }: RuleEvaluator): RuleEvaluator {
  if (structured == null) return { ...evaluator, ...structured === null && { structured } }
  const { model, prompt } = structured
  return { ...evaluator, structured: {
    ...structured,
    ...isObject(model) && { model: shownModel(model) },
    ...isObject(prompt) && { prompt: shownModel(prompt) },
  } }
}

/** Nothing of one that is deeper than a model can be: it was never called. */
function shownModel(serialised: Record<string, unknown>): Record<string, unknown> | null {
  try {
    return withoutLogins(serialised) as Record<string, unknown>
  } catch {
    return null
  }
}

/** The value at a path such as `input.question`: `input`, `output` or `reference` come first. */
export function valueAt(source: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>(
    (value, name) =>
      (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    source,
  )
}

function wrong(message: string): HeddleError {
  return new HeddleError('invalid', message)
}
