/** The route that tells what the runs of a thread took and cost. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import { getThreadUsage } from '../api/index.ts'
import type { RunUsage, ThreadUsage, UsageSum } from '../api/index.ts'
import { timeText } from '../json/index.ts'
import { pricedBy, PriceList, usageOfRuns, usageSum } from '../platform/index.ts'
import type { ModelUse, Platform, PriceModel, RunUse } from '../platform/index.ts'
import type { RunStatus } from '../search/index.ts'
import { leftSignal, sendJson } from './http/list-reply.ts'
import type { App, RouteParts } from './http/route.ts'
import { serve } from './http/serve.ts'
import type { UsedThread } from './operations/index.ts'

/** Prices of workspaces; without a platform only the usual ones are known. */
export interface UsagePrices {
  readonly platform?: { readonly prices: Pick<Platform['prices'], 'list'> } | undefined
}

/** Adds the route. */
export function threadUsageRoutes(app: App, { threads, platform }: RouteParts & UsagePrices): void {
  serve(app, getThreadUsage, async ({ params: { thread_id: id }, caller }, reply) => {
    const used = await threads.usage(caller, id, leftSignal(reply))
    const prices = new PriceList(await platform?.prices.list(caller.tenant) ?? [])
    const usage = await pricedBy(prices, (price) => usageOf(used, price))
    return sendJson(reply, JSON.stringify(usage))
  })
}

const noUse: RunUse = { models: [], lastMessage: null }

function usageOf({ steps, runs, isPartial }: UsedThread, price: PriceModel): ThreadUsage {
  const used = usageOfRuns(steps, price)
  const rows = new Map(runs.map((run) => [run.runId, run]))
  // A run that was deleted has left its steps behind.
  const gone = [...used].filter(([id]) => !rows.has(id)).map(([id, use]) =>
    runJson(id, undefined, use)
  ).toReversed()
  const shown = [...runs.map((run) => runJson(run.runId, run, used.get(run.runId) ?? noUse)),
    ...gone]
  const durations = shown.flatMap(({ duration_ms: ms }) => ms ?? [])
  const total = sumJson([...used.values()].flatMap(({ models }) => models),
    durations.length === 0 ? null : durations.reduce((a, b) => a + b, 0))
  return { runs: shown, total, is_partial: isPartial }
}

const unfinished: ReadonlySet<string> = new Set<RunStatus>(['pending', 'running'])

/** The times are those of the trace of the run. */
function runJson(id: string, run: RunRow | undefined, { models, lastMessage }: RunUse): RunUsage {
  const startMs = run?.startedAtMs || undefined
  const endMs = run === undefined || unfinished.has(run.status) ? undefined : run.updatedAtMs
  const timeOf = (ms: number | undefined) => (ms === undefined ? null : timeText(ms))
  const tookMs = startMs === undefined || endMs === undefined ? null : Math.max(0, endMs - startMs)
  return { run_id: id, status: run?.status ?? null, started_at: timeOf(startMs),
    ended_at: timeOf(endMs), message_id: lastMessage, ...sumJson(models, tookMs) }
}

function sumJson(uses: readonly ModelUse[], duration: number | null): UsageSum {
  const { calls, usage: { promptTokens, completionTokens, totalTokens, totalCost, kinds }, models,
    unpriced } = usageSum(uses)
  return {
    duration_ms: duration,
    calls,
    input_tokens: promptTokens ?? 0,
    output_tokens: completionTokens ?? 0,
    total_tokens: totalTokens ?? 0,
    cached_tokens: kinds?.promptTokens?.['cache_read'] ?? 0,
    reasoning_tokens: kinds?.completionTokens?.['reasoning'] ?? 0,
    cost: totalCost,
    models: models.map(({ model, provider, calls: own, usage }) => ({ model, provider, calls: own,
      total_tokens: usage.totalTokens ?? 0, cost: usage.totalCost })
    ),
    unpriced_models: [...unpriced],
  }
}
