/** The records that admitting a run adds to its thread's log. Pure. */

import type { RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import { objectIn, objectOf } from '../../json/index.ts'
import { textWithPlaces } from '../../raw-json.ts'
import { openingOf } from './opening.ts'
import type { StartRun } from './thread-client.ts'

/** The run's changes of its thread, then the run itself. */
export function admissionRecords(run: StartRun, row: ThreadRow, nowMs: number): RecordOf[] {
  return [...patched(run, row, nowMs), created(run, row, nowMs)]
}

/** Fields of a run that has ended: it is blamed for no crash. */
export const blameless = { ownerDeaths: 0, suspect: false, attempt: 0 } as const

/** Begins an attempt of a run. */
export function startedRecord(run: RunRow, atMs: number): RecordOf {
  const { runId, attempt, baseCheckpointId, ownerDeaths, suspect, revision } = run
  return { $case: 'runStarted',
    value: { runId, atMs, attempt, baseCheckpointId, ownerDeaths, suspect,
      ...revision !== undefined && { revision } } }
}

/** Gives a run back to the queue. Its next start continues this attempt. */
export function handedBack({ runId, attempt, ownerDeaths, suspect }: RunRow,
  atMs: number): RecordOf {
  return { $case: 'runEnded',
    value: { runId, atMs, status: 'pending', errorJson: '', interruptsJson: '', waiting: false,
      finalCheckpointId: '', owesWebhook: false, attempt, ownerDeaths, suspect } }
}

/** A thread takes on the graph, the assistant and the configuration of its latest run. */
function patched(run: StartRun, { metadataJson, configJson }: ThreadRow, atMs: number): RecordOf[] {
  const before = objectIn(metadataJson)
  const metadata = JSON.stringify({ ...before, ...idsOf(run) })
  const config = JSON.stringify(threadConfig(run))
  if (metadata === metadataJson && config === configJson) return []
  return [{ $case: 'threadPatched', value: { atMs, metadataJson: metadata, configJson: config } }]
}

/**
 * The run's own metadata wins over the thread's, and that over the assistant's. The ids that the
 * thread took on from an earlier run are replaced by this run's.
 */
function created(run: StartRun, row: ThreadRow, nowMs: number): RecordOf {
  const { metadataJson, updatedAtMs } = row
  const opening = row.opening === undefined && !row.hidden ? openingOf(run.kwargs.input) : undefined
  const thread = objectIn(metadataJson)
  const { text: kwargsJson, places } = textWithPlaces(run.kwargs)
  const plan = places.length === 0 ? run.plan : { ...run.plan, rawKwargs: places }
  const metadata = { ...run.plan.assistantMetadata, ...thread, ...idsOf(run), ...run.metadata }
  return { $case: 'runCreated', value: {
    // Runs are listed by this time: it is not before that of those before, whatever the clock says.
    runId: run.runId,
    atMs: Math.max(nowMs, updatedAtMs),
    assistantId: run.assistantId,
    commandId: run.commandId,
    multitaskStrategy: run.strategy,
    metadataJson: JSON.stringify(metadata),
    kwargsJson,
    planJson: JSON.stringify(plan),
    notBeforeMs: run.afterMs > 0 ? nowMs + run.afterMs : 0,
    strictResume: run.strictResume,
    opening,
  } }
}

function idsOf(run: StartRun): Record<string, string> {
  return { graph_id: run.graphId, assistant_id: run.assistantId }
}

/** A run's configuration as its thread shows it: without what belongs to that run alone. */
function threadConfig({ kwargs }: StartRun): Record<string, unknown> {
  const config = objectOf(kwargs.config)
  const { run_id: _run, checkpoint_id: _id, checkpoint_ns: _ns, checkpoint_map: _map,
    ...configurable } = objectOf(config['configurable'])
  return { ...config, configurable }
}
