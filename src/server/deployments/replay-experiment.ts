/** Keeps a replay as an experiment: its runs are a dataset, and verdicts are feedback. */

import type { Env } from '../../../cluster/index.ts'
import { namespaceParts } from '../../deployment/index.ts'
import type { ReplaysParts } from '../../deployment/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import { isObject, timeText, valueIn } from '../../json/index.ts'
import { datasetChanged, transferOf } from '../../platform/index.ts'
import type { Platform } from '../../platform/index.ts'

/** The part of the platform in which experiments are. */
export type ExperimentPlace = Pick<Platform, 'datasets' | 'projects' | 'ingest' | 'removals'>

/** Writes the experiment of a replay. A failure leaves no dataset and no project. */
export function replayExperiments(
  { datasets, projects, ingest, removals }: ExperimentPlace,
  env: Pick<Env, 'uuid'>,
): ReplaysParts['keep'] {
  return async ({ id, request: { revision }, deployment, startedAtMs }, tenant, runs) => {
    if (runs.length === 0) return null
    const name = `replay of ${deployment} on ${revision}, ${timeText(startedAtMs)}`
    const dataset = await datasets.create(tenant, {
      ...datasetChanged({
        description: `Recorded runs of ${namespaceParts(tenant).deployment ?? ''}, replay ${id}`,
      }),
      name,
    })
    const body = Buffer.from(JSON.stringify({
      experiment_name: name,
      dataset_id: dataset.id,
      experiment_start_time: timeText(startedAtMs),
      experiment_end_time: timeText(startedAtMs + 1),
      results: runs.map(({ verdict, input, expected, actual }) => ({
        row_id: verdict.runId,
        inputs: objectIn(input, 'input'),
        expected_outputs: objectIn(expected, 'values'),
        actual_outputs: objectIn(actual, 'values'),
        run_name: verdict.graphId || 'run',
        run_metadata: { replay: id, thread_id: verdict.threadId, source_run_id: verdict.runId,
          recorded_revision: verdict.recordedRevision, revision },
        start_time: timeText(startedAtMs),
        end_time: timeText(startedAtMs + verdict.ms),
        evaluation_scores: [
          { key: 'replay.verdict', value: verdict.verdict, comment: verdict.reason ?? '' },
          { key: 'replay.calls_missing', score: verdict.missing.length },
        ],
      })),
    }))
    const made = { dataset: dataset.id, project: env.uuid() }
    const discard = () => removeExperiment(removals, tenant, made)
    try {
      await projects.create(tenant, { id: made.project, name, description: null,
        startMs: startedAtMs, endMs: startedAtMs + 1, extraJson: '{"metadata":{}}',
        referenceDatasetId: dataset.id }, false)
      await ingest.addExperiment({ tenant, ...made, body }, { transfer: transferOf(body) })
    } catch (error) {
      await discard()
      throw error
    }
    return { id: made.project, discard }
  }
}

async function removeExperiment(removals: ExperimentPlace['removals'], tenant: string,
  { dataset, project }: { readonly dataset: string; readonly project: string }): Promise<void> {
  await removals.remove('project', tenant, project).catch(ignoreNotFound)
  await removals.remove('dataset', tenant, dataset).catch(ignoreNotFound)
}

function objectIn(text: string | undefined, name: string): object {
  if (text === undefined) return {}
  const value = valueIn(text)
  return isObject(value) ? value : { [name]: value }
}
