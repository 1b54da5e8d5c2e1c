/** The thread as it was when one of its runs began, for an execution that is no part of it. */

import { serialize } from 'node:v8'

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { CheckpointReader, decodeRow, encodeRow } from '../../checkpoint/index.ts'
import type { LogHead, LogPort } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { LimitedSource } from '../log/limited-source.ts'
import { noResumePoint, planOf, runRequest } from '../model/run-request.ts'
import type { ReplayAnswer, ReplayBegin, ReplayReading } from '../model/replay-reading.ts'
import { stateBytes } from './state-values.ts'

/** Answers about an ended run. Throws `not_found` if its history was removed. */
export async function replayBase(context: ThreadContext, run: RunRow, reading: ReplayReading,
  cancelled?: AbortSignal): Promise<ReplayAnswer> {
  const { threadLog, tenant, ports: { log, reads } } = context
  await threadLog.durable
  if (reading.kind === 'begin') return { begin: beginOf(run) }
  const head = await headAt(context, run)
  const reader = new CheckpointReader(logBefore(log, run), () => head)
  const tuples = await reads.read({ tenant, bytes: stateBytes, cancelled }, async (allowance) => {
    const source = new LimitedSource(reader, allowance)
    if (reading.kind === 'list') return await source.list(reading.query)
    const { ns, checkpointId } = reading
    // Later rows may have moved the place of the newest one.
    const found = ns !== '' && checkpointId === null
      ? await source.list({ ns, checkpointId, before: null, limit: 1, filter: null })
      : [await source.tuple(ns, checkpointId)]
    return found.filter((tuple) => tuple !== undefined)
  })
  return { packed: serialize(tuples).toString('base64') }
}

function beginOf(run: RunRow): ReplayBegin {
  const plan = planOf(run)
  return { graphId: plan.graphId, request: runRequest(run, plan, noResumePoint),
    headId: run.baseCheckpointId || null, startedAtMs: run.startedAtMs, status: run.status,
    errorJson: run.errorJson, finalCheckpointId: run.finalCheckpointId, starts: run.starts ?? 1,
    revision: run.revision ?? '' }
}

async function headAt({ threadLog, ports: { log } }: ThreadContext,
  { baseCheckpointId: base, firstSeq }: RunRow): Promise<LogHead> {
  const { row } = threadLog.state
  const branch = row.branch!
  const place = base === '' ? undefined : await log.findCheckpoint(branch, base)
  const start = row.historyStart
  const isGone = base !== '' && (place === undefined || place.seq === 0
    || (start !== undefined && place.seq < start.seq))
  if (isGone) throw new HeddleError('not_found', 'The history before this run was removed.')
  return { branch, seq: firstSeq, stepSeq: firstSeq, head: place ?? null, movedBack: false, start,
    ends: row.historyEnds?.ends, patches: row.checkpointPatches?.patches }
}

/** The log up to the record with which the run began: a replay must not see its own future. */
function logBefore(log: LogPort,
  { firstSeq, runId }: RunRow): Pick<LogPort, 'read' | 'findCheckpoint'> {
  return {
    read: async (branch, range) => {
      if (range.from > firstSeq) return []
      const rows = await log.read(branch, { ...range, through: Math.min(range.through, firstSeq) })
      return rows.map((row) => row.seq < firstSeq ? row : { ...row, body: cut(row.body, runId) })
    },
    findCheckpoint: async (branch, id, statedAfter) => {
      const place = await log.findCheckpoint(branch, id, statedAfter)
      return place && place.seq <= firstSeq ? place : undefined
    },
  }
}

function cut(body: Uint8Array, runId: string): Uint8Array {
  const records = decodeRow(body)
  const at = records.findIndex((each) => each.$case === 'runStarted' && each.value.runId === runId)
  return at < 0 ? body : encodeRow(records.slice(0, at))
}
