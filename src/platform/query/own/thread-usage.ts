/**
 * Use of models by the runs of a thread, from its steps. Pure. Each message of a model counts
 * once: what a run does again after its server died is in one step, and a node may write again what
 * earlier ones wrote.
 */

import type { LeanMessage } from '../../../json/index.ts'
import { modelUsage } from '../../spans/model-usage.ts'
import type { PriceModel } from '../../spans/model-usage.ts'
import { readTimeUs } from '../../spans/time.ts'
import { addedUsage, dollars, noUsage } from '../../spans/usage.ts'
import type { Usage } from '../../spans/usage.ts'

/** A step of a thread with the messages that its tasks wrote, as `tasks.messages` selects them. */
export interface UsageStep {
  readonly checkpoint_id: string | null
  readonly parent_checkpoint_id: string | null
  readonly created_at: string | null
  readonly metadata?: { readonly run_id?: unknown } | null
  readonly tasks?: readonly { readonly name?: unknown;
    readonly messages?: readonly LeanMessage[] }[]
}

/** Use of one model. */
export interface ModelUse {
  /** Null where the messages do not say it. */
  readonly model: string | null
  readonly provider: string | null
  readonly calls: number
  readonly usage: Usage
}

/** Use of models by a run, and the last message that it wrote. */
export interface RunUse {
  readonly models: readonly ModelUse[]
  readonly lastMessage: string | null
}

/** Models of a thread whose prices are looked for. Calls of others have no cost. */
const modelsMax = 100

interface Call {
  readonly message: LeanMessage
  readonly atUs: number
}

interface Written {
  readonly calls: Call[]
  lastMessage: string | null
}

/** Use by run, from the steps, newest first. */
export function usageOfRuns(steps: readonly UsageStep[],
  price: PriceModel): ReadonlyMap<string, RunUse> {
  const known = new Set<string>()
  const priced: PriceModel = (names, usage, atUs) => {
    const key = JSON.stringify([names.model, names.provider])
    if (!known.has(key) && known.size >= modelsMax) return usage
    known.add(key)
    return price(names, usage, atUs)
  }
  return new Map(
    [...writtenBy(steps)].map(([run, { calls, lastMessage }]) =>
      [run, { models: modelsOf(calls, priced), lastMessage }] as const
    ),
  )
}

/**
 * The messages that each run wrote. Tasks belong to the step that they led to, or to their own if
 * to none.
 */
function writtenBy(steps: readonly UsageStep[]): ReadonlyMap<string, Written> {
  const byId = new Map(steps.map((step) => [step.checkpoint_id, step]))
  const parents = new Set(steps.map(({ parent_checkpoint_id: id }) => id))
  const seen = new Set<string>()
  const runs = new Map<string, Written>()
  const take = (run: unknown, { tasks = [], created_at: at }: UsageStep) => {
    if (typeof run !== 'string') return
    const written = runs.get(run) ?? { calls: [], lastMessage: null }
    runs.set(run, written)
    const atUs = readTimeUs(at ?? undefined) ?? 0
    const all = tasks.flatMap(({ name, messages = [] }) =>
      // Messages of an input may be answers of models, but this run asked none for them.
      messages.map((message) => ({ message, isInput: name === '__start__' }))
    )
    for (const { message, isInput } of all) {
      const { id, type, usage_metadata: usage } = message
      const isNew = id === null || !seen.has(id)
      if (id !== null && isNew) {
        seen.add(id)
        // A node may write the question again, which had no id as an input.
        if (type !== 'human' || written.lastMessage === null) written.lastMessage = id
      }
      if (usage !== undefined && isNew && !isInput) written.calls.push({ message, atUs })
    }
  }
  for (const step of steps.toReversed()) {
    const run = step.metadata?.run_id
    const parent = byId.get(step.parent_checkpoint_id)
    if (parent !== undefined) take(run, parent)
    if (!parents.has(step.checkpoint_id)) take(run, step)
  }
  return runs
}

function modelsOf(calls: readonly Call[], price: PriceModel): readonly ModelUse[] {
  const byModel = Map.groupBy(calls,
    ({ message: { model, provider } }) => JSON.stringify([model, provider]))
  return [...byModel.values()].map((own) => {
    const { model = null, provider = null } = own[0]!.message
    const usage = own
      .map(({ message, atUs }) => price(message, modelUsage(message.usage_metadata), atUs))
      .reduce(addedUsage, noUsage)
    return { model, provider, calls: own.length, usage }
  })
}

/** Tokens, costs and models of one or more runs. */
export interface UsageSum {
  readonly calls: number
  readonly usage: Usage
  readonly models: readonly ModelUse[]
  /** The models without a price. The cost is that of the others; null if all are without. */
  readonly unpriced: readonly string[]
}

/** Name of a model that its messages do not name. */
const unnamedModel = 'a model without a name'

/** The sum over models, in which each is named once. */
export function usageSum(uses: readonly ModelUse[]): UsageSum {
  const models = [...Map.groupBy(uses, ({ model, provider }) => JSON.stringify([model, provider]))
    .values()].map((own): ModelUse => ({ model: own[0]!.model, provider: own[0]!.provider,
      calls: own.reduce((all, { calls }) => all + calls, 0),
      usage: own.map(({ usage }) => usage).reduce(addedUsage, noUsage) })
    )
  const sum = models.map(({ usage }) => usage).reduce(addedUsage, noUsage)
  const usage = { ...sum, totalCost: sum.totalCost === null ? null : dollars(sum.totalCost) }
  const unpriced = models.filter(({ usage: { totalCost } }) => totalCost === null)
    .map(({ model }) => model ?? unnamedModel)
  return { calls: models.reduce((all, { calls }) => all + calls, 0), usage, models,
    unpriced: [...new Set(unpriced)] }
}
