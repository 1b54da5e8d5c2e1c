/** The experiments that a server carries out: how they are begun, watched and cancelled. */

import type { Env, Router } from '../../../../cluster/index.ts'
import type { NewExperiment } from '../../../api/index.ts'
import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import { changeFresh } from '../../records/catalog/fresh-change.ts'
import type { Projects } from '../../records/projects/project.ts'
import type { Uuid } from '../../spans/span.ts'
import type { Datasets } from '../datasets/datasets.ts'
import type { Dataset } from '../datasets/dataset.ts'
import { versionName } from '../datasets/example-reader.ts'
import type { ExampleReads } from '../datasets/example-reader.ts'
import type { Calls } from '../../calls/calls.ts'
import { templateOf } from './model-question.ts'
import type { Prompts } from '../prompts/prompt.ts'
import type { TracedModels } from '../models/traced-models.ts'
import { cancelledExperiment } from './background-experiment.ts'
import type { BackgroundExperiment } from './background-experiment.ts'
import { experimentKindName } from './experiment-actor.ts'
import type { ExperimentCommand } from './experiment-actor.ts'
import type { ExperimentEngine } from './experiment-pass.ts'
import type { ExperimentName, ExperimentPage } from './experiment-records.ts'

/** The experiments of tenants. All methods throw HeddleError; `not_found` for an unknown one. */
export interface Experiments {
  readonly records: ExperimentEngine['records']
  /**
   * It goes on after any crash when this resolved. Throws `invalid` for what cannot be asked,
   * `exists` if the name of its project is taken, `full` if too many are open.
   */
  create(tenant: string, body: NewExperiment): Promise<BackgroundExperiment>
  /** The newest first. */
  list(tenant: string, page: ExperimentPage): Promise<readonly BackgroundExperiment[]>
  get(tenant: string, id: Uuid): Promise<BackgroundExperiment>
  /** Its runs stay. An experiment that is over stays as it is. */
  cancel(tenant: string, id: Uuid): Promise<BackgroundExperiment>
}

/** Wakes experiments, whichever member owns them. */
export interface ExperimentClient {
  /** Never throws. */
  wake(name: ExperimentName, listedMs: number): void
}

/** The client that asks owners through a router. */
export function experimentClient(router: Router, env: Pick<Env, 'log'>): ExperimentClient {
  return {
    wake: ({ tenant, id }, listedMs) => {
      const command: ExperimentCommand = { kind: 'look', listedMs }
      router.ask({ kind: experimentKindName, tenant, id }, command).catch((error: unknown) => {
        // The watch over all experiments wakes it again.
        env.log.debug('An experiment could not be woken.', { experiment: id, error })
      })
    },
  }
}

/** Parts that experiments are made of. */
export interface ExperimentsParts {
  readonly engine: ExperimentEngine
  readonly client: ExperimentClient
  readonly datasets: Pick<Datasets, 'one'>
  readonly projects: Pick<Projects, 'create' | 'delete'>
  readonly tracedModels: Pick<TracedModels, 'requireCallable'>
  readonly prompts: Pick<Prompts, 'pull'>
  readonly query: () => Pick<Calls<ExampleReads>, 'countExamples'>
  readonly env: Pick<Env, 'nowMs' | 'uuid'>
}

/** Runs of one experiment at most. */
const runsMax = 10_000

/** The experiments in catalogs. */
export function createExperiments(parts: ExperimentsParts): Experiments {
  const { engine: { records }, client, env } = parts
  const get = async (tenant: string, id: Uuid) => {
    const found = await records.get({ tenant, id })
    if (found === undefined) throw new HeddleError('not_found', 'There is no such experiment.')
    return found
  }
  return {
    records,
    list: records.list,
    get,
    create: async (tenant, body) => {
      const name = { tenant, id: env.uuid() }
      await records.requireRoom(tenant)
      const plan = await planned(parts, tenant, body)
      const project = await parts.projects.create(tenant, { name: plan.projectName,
        description: body.description ?? null, referenceDatasetId: body.dataset_id,
        startMs: env.nowMs(), extraJson: JSON.stringify({
          metadata: { experiment_id: name.id, num_repetitions: plan.asked.repetitions,
            dataset_version: plan.datasetVersion, target: plan.target },
        }) }, false)
      try {
        const made = await records.add(name, { ...plan, project: project.id })
        client.wake(name, made.createdMs)
        return made
      } catch (error) {
        // Perhaps it was stored: then it says that its project is gone.
        await parts.projects.delete(tenant, project.id).catch(ignoreNotFound)
        throw error
      }
    },
    cancel: async (tenant, id) => {
      const cancelled = await changeFresh(async () => {
        const before = await get(tenant, id)
        const after = cancelledExperiment(before, env.nowMs())
        return after === undefined ? before : await records.save({ tenant, id }, before, after)
      })
      client.wake({ tenant, id }, cancelled.createdMs)
      return cancelled
    },
  }
}

/** Plan of an experiment: the request, with all that is found out before anything is done. */
async function planned(parts: ExperimentsParts, tenant: string,
  { project_name: name, description: _, ...asked }: NewExperiment) {
  requireSound(asked)
  const prompt = asked.prompt == null ? {} : { prompt: await pinned(parts, tenant, asked.prompt) }
  const dataset = await parts.datasets.one(tenant, asked.dataset_id)
  const target = await targetOf(parts, tenant, asked)
  await requireEvaluators(parts, tenant, asked)
  const { datasetVersion, examples } = await examplesIn(parts, tenant, dataset,
    asked.dataset_splits)
  const { repetitions = 1, max_concurrency = 4 } = asked
  const total = examples * repetitions
  if (total === 0) {
    throw new HeddleError('invalid', 'dataset_id: there are no examples to ask about.')
  }
  if (total > runsMax) {
    throw new HeddleError('invalid', `repetitions: one experiment may have ${runsMax} runs, and ` +
      `these would be ${total}. Choose splits of the dataset, or repeat less.`)
  }
  const stamp = parts.env.uuid().slice(0, 8)
  return { asked: { ...asked, ...prompt, repetitions, max_concurrency }, target, datasetVersion,
    total, projectName: name ?? `${target}-${stamp}` }
}

/** The commit that a prompt means now: all runs ask the same. */
async function pinned({ prompts }: ExperimentsParts, tenant: string,
  prompt: NonNullable<NewExperiment['prompt']>): Promise<NonNullable<NewExperiment['prompt']>> {
  const { owner = '-', name, ref = 'latest' } = prompt
  const { commit: { hash } } = await prompts.pull(tenant, { owner, name }, ref)
  return { ...prompt, ref: hash }
}

function requireSound(asked: Omit<NewExperiment, 'project_name' | 'description'>): void {
  const { assistant_id: assistant, prompt, manifest, evaluators } = asked
  if ([assistant, prompt, manifest].filter((each) => each != null).length !== 1) {
    throw new HeddleError('invalid', 'Name one of `assistant_id`, `prompt` and `manifest`.')
  }
  for (const { structured, graph_id: graph } of evaluators ?? []) {
    const hasPrompt = structured != null &&
      (structured.hub_ref == null) !== (structured.prompt == null)
    if ((graph != null) === hasPrompt || (graph != null && structured != null)) {
      throw new HeddleError('invalid',
        'evaluators: each is a graph (graph_id), or a prompt (structured) with a hub_ref or a ' +
          'prompt.')
    }
  }
}

async function targetOf({ engine, tracedModels }: ExperimentsParts, tenant: string,
  { assistant_id: assistant, prompt = null, manifest = null, model }: NewExperiment
): Promise<string> {
  if (assistant != null) {
    if (engine.assistants === undefined) {
      throw new HeddleError('unsupported', 'This server runs no assistants.')
    }
    return await engine.assistants.name(tenant, assistant)
  }
  const { call } = await templateOf(engine.sources, tenant, { prompt, manifest,
    model: model ?? undefined })
  await tracedModels.requireCallable(tenant, call)
  return prompt?.name ?? call.endpoint.model
}

async function requireEvaluators({ engine }: ExperimentsParts, tenant: string,
  { evaluators, evaluator_ids: ids }: NewExperiment): Promise<void> {
  const { port: { graphs } } = engine
  for (const { graph_id: graph } of evaluators ?? []) {
    if (graph != null && graphs?.has(tenant, graph) !== true) {
      throw new HeddleError('invalid', `evaluators: there is no graph ${graph}.`)
    }
  }
  for (const id of ids ?? []) {
    if (await engine.evaluatorOf(tenant, id) === undefined) {
      throw new HeddleError('invalid', `evaluator_ids: there is no evaluator ${id}.`)
    }
  }
}

async function examplesIn({ query }: ExperimentsParts, tenant: string, dataset: Dataset,
  splits: readonly string[] | null | undefined) {
  const { head } = dataset
  if (head === null) return { datasetVersion: '', examples: 0 }
  const { as_of: datasetVersion } = versionName(dataset, head)
  const examples = splits?.length
    ? await query().countExamples({ tenant, dataset, asOf: datasetVersion, splits })
    : dataset.count
  return { datasetVersion, examples }
}
