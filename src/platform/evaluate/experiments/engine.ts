/** Makes the experiments of one member and their engine from the parts of its platform. */

import { FairSemaphore } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { cautiousClock } from '../../../limits/index.ts'
import type { Calls } from '../../calls/calls.ts'
import type { SpanWrites } from '../../ingest/ingest-call.ts'
import type { SpanReads } from '../../query/question.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { Projects } from '../../records/projects/project.ts'
import type { Datasets } from '../datasets/datasets.ts'
import type { ExampleReads } from '../datasets/example-reader.ts'
import type { Models } from '../models/model.ts'
import type { ModelQuota } from '../models/model-quota.ts'
import type { TracedModels } from '../models/traced-models.ts'
import type { Prompts } from '../prompts/prompt.ts'
import type { PlaygroundSettings } from '../models/playground-settings.ts'
import { judgingOver } from '../rules/engine.ts'
import { asRuleEvaluator, evaluatorsOver } from '../rules/evaluator.ts'
import type { RulePort } from '../rules/judge-port.ts'
import type { ExperimentEngine } from './experiment-pass.ts'
import type { AssistantsPort } from './experiment-port.ts'
import { experimentRecords } from './experiment-records.ts'
import { createExperiments } from './experiments.ts'
import type { ExperimentClient, Experiments } from './experiments.ts'

/** Options of the experiments of a platform: their client, and the assistants of the server. */
export interface ExperimentOptions {
  readonly client: ExperimentClient
  readonly assistants?: AssistantsPort
}

/** The parts of a platform that experiments use. */
export interface EngineParts extends ExperimentOptions {
  readonly port: RulePort
  readonly catalogs: CatalogClient
  readonly projects: Projects
  readonly datasets: Datasets
  readonly models: Pick<Models, 'ask'>
  readonly tracedModels: Pick<TracedModels, 'requireCallable'>
  readonly quota: Pick<ModelQuota, 'begin' | 'spend'>
  readonly prompts: Prompts
  readonly playgroundSettings: PlaygroundSettings
  readonly ingest: () => Pick<Calls<SpanWrites>, 'ingest' | 'putFeedback'>
  readonly query: () => Pick<Calls<SpanReads & ExampleReads>, 'run' | 'spanIds' | 'countExamples'>
  readonly env: Env
}

/** Runs in progress at once on one member. */
const runs = { inAll: 64, each: 8, waiting: 10_000, full: 'Too many runs wait for their turn.' }

/** The experiments, and what their actors work with. */
export function experimentEngine(
  parts: EngineParts,
): { readonly experiments: Experiments; readonly engine: ExperimentEngine } {
  const { catalogs, env, prompts, playgroundSettings } = parts
  const evaluators = evaluatorsOver(catalogs, env)
  const engine: ExperimentEngine = {
    ...parts,
    ...judgingOver(parts),
    records: experimentRecords(catalogs, env),
    sources: { prompts, playgroundSettings },
    evaluatorOf: async (tenant, id) => {
      try {
        return asRuleEvaluator(await evaluators.get(tenant, id))
      } catch (error) {
        if (HeddleError.from(error).code !== 'not_found') throw error
        return undefined
      }
    },
    turns: new FairSemaphore(runs),
    env,
    cautiousNowMs: cautiousClock(env),
  }
  return { engine, experiments: createExperiments({ ...parts, engine }) }
}
