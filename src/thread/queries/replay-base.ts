/**
 * The thread as it was when one of its runs began, for an execution that is no part of it: at the
 * last start, if the run went on after its process had ended.
 */

import { serialize } from 'node:v8'

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { CheckpointReader, decodeRow, encodeRow, rowsOf } from '../../checkpoint/index.ts'
import type { LogHead, LogPort, RecordOf } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { resumePointOf } from '../context/resume-point.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { LimitedSource } from '../log/limited-source.ts'
import { noResumePoint, planOf, runRequest } from '../model/run-request.ts'
import type { ReplayAnswer, ReplayBegin, ReplayReading } from '../model/replay-reading.ts'
import { stateBytes, untrackedOf } from './state-values.ts'

/** The row of a start, and the head of the thread then; empty for none. */
interface Start {
  readonly seq: number
  readonly headId: string
}

/** Answers about an ended run. Throws `not_found` if its history was removed. */
export async function replayBase(context: ThreadContext, run: RunRow, reading: ReplayReading,
  cancelled?: AbortSignal): Promise<ReplayAnswer> {
  const { threadLog, tenant, ports: { log, reads } } = context
  await threadLog.durable
  const start = await lastStart(context, run)
  const before = logBefore(log, run, start)
  if (reading.kind === 'begin') return { begin: await beginOf(context, run, before, start) }
  const head = await headAt(context, start)
  const reader = new CheckpointReader(before, () => head)
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

/** The last start is found from the end of the run: few rows stand behind it. */
async function lastStart({ threadLog, ports: { log } }: ThreadContext,
  run: RunRow): Promise<Start> {
  const { starts = 1, firstSeq, lastSeq, baseCheckpointId } = run
  if (starts <= 1) return { seq: firstSeq, headId: baseCheckpointId }
  let found: number | undefined
  const rows = rowsOf({ log, branch: threadLog.state.row.branch!, from: firstSeq, through: lastSeq,
    reverse: true })
  for await (const { body, seq } of rows) {
    for (const record of decodeRow(body).toReversed()) {
      if (found === undefined) found = isStartOf(run, record) ? seq : undefined
      else if (record.$case === 'checkpoint' && record.value.ns === '') {
        return { seq: found, headId: record.value.id }
      }
    }
  }
  return { seq: found ?? firstSeq, headId: baseCheckpointId }
}

function isStartOf({ runId }: RunRow, record: RecordOf): boolean {
  return record.$case === 'runStarted' && record.value.runId === runId
}

async function beginOf(context: ThreadContext, run: RunRow, log: RowsBefore,
  { seq, headId }: Start): Promise<ReplayBegin> {
  const { threadLog } = context
  const plan = planOf(run)
  const isFirst = seq === run.firstSeq
  const resumePoint = isFirst
    ? noResumePoint
    : await resumePointOf(run, { log, branch: threadLog.state.row.branch!, through: seq })
  return { graphId: plan.graphId, request: runRequest(run, plan, resumePoint),
    headId: headId || null, startedAtMs: run.startedAtMs, status: run.status,
    errorJson: run.errorJson, finalCheckpointId: run.finalCheckpointId, starts: run.starts ?? 1,
    revision: run.revision ?? '', untracked: await untrackedOf(context, run) }
}

async function headAt({ threadLog, ports: { log } }: ThreadContext,
  { seq, headId }: Start): Promise<LogHead> {
  const { row } = threadLog.state
  const branch = row.branch!
  const place = headId === '' ? undefined : await log.findCheckpoint(branch, headId)
  const start = row.historyStart
  const isGone = headId !== '' && (place === undefined || place.seq === 0
    || (start !== undefined && place.seq < start.seq))
  if (isGone) throw new HeddleError('not_found', 'The history before this run was removed.')
  return { branch, seq, stepSeq: seq, head: place ?? null, movedBack: false, start,
    ends: row.historyEnds?.ends, patches: row.checkpointPatches?.patches }
}

type RowsBefore = Pick<LogPort, 'read' | 'findCheckpoint'>

/**
 * The log up to the record of the start: a replay must not see its own future. Rule: [as_of_start].
 */
function logBefore(log: LogPort, run: RunRow, { seq }: Start): RowsBefore {
  return {
    read: async (branch, range) => {
      if (range.from > seq) return []
      const rows = await log.read(branch, { ...range, through: Math.min(range.through, seq) })
      return rows.map((row) => row.seq < seq ? row : { ...row, body: cut(row.body, run) })
    },
    findCheckpoint: async (branch, id, statedAfter) => {
      const place = await log.findCheckpoint(branch, id, statedAfter)
      return place && place.seq <= seq ? place : undefined
    },
  }
}

function cut(body: Uint8Array, run: RunRow): Uint8Array {
  const records = decodeRow(body)
  const at = records.findLastIndex((each) => isStartOf(run, each))
  return at < 0 ? body : encodeRow(records.slice(0, at))
}
