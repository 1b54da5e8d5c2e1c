/** Reports of the limits and quotas that a caller has, and of how much is used. */

import { LRUCache } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { LimitReport, LimitRow, RefusedCallers } from '../../api/index.ts'
import { timeText } from '../../json/index.ts'
import { limitWords, quotaWords, totalUse } from '../../limits/index.ts'
import type { LimitUse, LimitUseAnswer, LimitUseQuestion, Quotas, RateLimit,
  RefusedCaller } from '../../limits/index.ts'
import type { Platform } from '../../platform/index.ts'
import type { AddressOf } from '../http/connections/client-address.ts'
import type { LimitSubjects } from '../http/limit-gate.ts'

/** The limits of a server, and how its members are asked about them. */
export interface LimitSource {
  readonly rows: readonly RateLimit[]
  readonly addressOf: AddressOf
  /** The answers of the members that answered. */
  ask(question: LimitUseQuestion): Promise<readonly LimitUseAnswer[]>
}

/** Parts from which reports are made: a clock, and the sources of use. */
export interface LimitReportParts {
  readonly env: Pick<Env, 'monotonicMs'>
  readonly quotas: Pick<Quotas, 'useOf'>
  /** Undefined if there is none, and so no quota of models. */
  readonly platform?: Pick<Platform, 'modelQuota'>
  /** Undefined if requests are not charged. */
  readonly limits?: LimitSource
}

/** Reports are not charged, so that each caller gets the same one for this long. */
const freshMs = 500
const keptMax = 1_000

interface Kept {
  readonly atMs: number
  readonly report: Promise<LimitReport>
}

/** Makes reports at one front door. */
export class LimitReports {
  readonly #parts: LimitReportParts
  readonly #kept = new LRUCache<string, Kept>({ max: keptMax })

  constructor(parts: LimitReportParts) {
    this.#parts = parts
  }

  /** The report on a caller of a tenant. */
  of(tenant: string, subjects: LimitSubjects): Promise<LimitReport> {
    const name = JSON.stringify([tenant, subjects])
    const nowMs = this.#parts.env.monotonicMs()
    const kept = this.#kept.get(name)
    if (kept !== undefined && nowMs - kept.atMs < freshMs) return kept.report
    const report = this.#report(tenant, subjects)
    this.#kept.set(name, { atMs: nowMs, report })
    // A failure is not kept: the next request tries again.
    report.catch(() => this.#kept.delete(name))
    return report
  }

  /** Callers of these tenants that were refused. The last ones come first. */
  async refused(tenants: readonly string[]): Promise<RefusedCallers> {
    const { limits } = this.#parts
    const answers = await Promise.all(
      tenants.map((tenant) => limits?.ask({ what: 'refused', tenant }) ?? []),
    )
    const callers = answers.flat().flatMap((answer) => answer.callers)
    return { callers: summed(callers).map(refusedJson) }
  }

  async #report(tenant: string, subjects: LimitSubjects): Promise<LimitReport> {
    const { limits, quotas, platform } = this.#parts
    const [rows, uses, models = []] = await Promise.all([
      limits === undefined ? [] : usedRows(limits, tenant, subjects),
      quotas.useOf(tenant),
      platform?.modelQuota.useOf(tenant),
    ])
    return {
      rows,
      quotas: [...uses.map((use) => ({ ...use, name: quotaWords[use.name] })), ...models]
        .map(({ name, limit, used }) => ({ name, words: wordsOf(name),
          limit: limit === Infinity ? null : limit, used })
        ),
      enabled: limits !== undefined,
    }
  }
}

async function usedRows({ rows, ask }: LimitSource, tenant: string,
  subjects: LimitSubjects): Promise<readonly LimitRow[]> {
  const own = rows.flatMap((limit) => {
    const who = subjects[limit.identity]
    return who === undefined ? [] : [{ limit, key: { row: limit.name, who } }]
  })
  const answers = await ask({ what: 'use', tenant, keys: own.map(({ key }) => key) })
  return own.map(({ limit }, index) =>
    rowJson(limit, totalUse(answers.flatMap(({ uses }) =>
      uses[index] === undefined ? [] : [uses[index]]
    )))
  )
}

function rowJson({ name, match, category, count, intervalMs }: RateLimit,
  { used, waitMs, refused }: LimitUse): LimitRow {
  return { id: name, words: limitWords(name), category, pattern: match, limit: count,
    window_s: intervalMs / 1_000, remaining: Math.max(0, count - used),
    reset_s: Math.ceil(waitMs / 1_000), refused }
}

/** `unfinished_runs` is shown as `Unfinished runs`. */
function wordsOf(name: string): string {
  return name[0]!.toUpperCase() + name.slice(1).replaceAll('_', ' ')
}

/** One entry for each caller and limit: several front doors may have refused it. */
function summed(callers: readonly RefusedCaller[]): readonly RefusedCaller[] {
  const groups = Map.groupBy(callers, ({ name, row }) => JSON.stringify([name, row]))
  return [...groups.values()].map((group) => ({ ...group[0]!,
    refused: group.reduce((sum, each) => sum + each.refused, 0),
    lastMs: Math.max(...group.map((each) => each.lastMs)) })
  ).toSorted((a, b) => b.lastMs - a.lastMs)
}

function refusedJson(
  { name, row, refused, lastMs }: RefusedCaller,
): RefusedCallers['callers'][number] {
  const shown = 'keyId' in name ? { key_id: name.keyId } : name
  return { ...shown, row, refused, last: timeText(lastMs) }
}
