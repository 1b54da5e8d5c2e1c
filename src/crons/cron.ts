/** A cron as a value: how it is made, changed, fired and stopped. Pure. */

import type { CronSaved } from '../../proto/gen/storage/v1/log.ts'
import type { Branch, CronRow } from '../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../checkpoint/index.ts'
import { requireShort } from '../search/index.ts'
import { latestDueMs, nextDueMs } from './schedule.ts'

/** What becomes of the own thread of a run when the run is done. */
export type OnRunCompleted = 'delete' | 'keep'

/** What a caller sets of a new cron. */
export interface CronContent {
  readonly assistantId: string
  /** Empty if each run has a thread of its own. */
  readonly threadId: string
  readonly schedule: string
  /** Empty for UTC. */
  readonly timezone: string
  /** 0 for no end. */
  readonly endTimeMs: number
  readonly enabled: boolean
  readonly onRunCompleted: OnRunCompleted
  readonly metadataJson: string
  /** The body of its runs without metadata, an object. */
  readonly payloadJson: string
  /** Empty if unknown. */
  readonly userId: string
}

/** A change of the content. What is absent stays as it is. Both JSON objects merge shallowly. */
export type CronChange = Partial<Omit<CronContent, 'assistantId' | 'threadId' | 'userId'>>

/** What never changes of a cron. */
export interface CronIdentity {
  readonly tenant: string
  readonly cronId: string
  readonly branch: Branch
}

/** A cron before its first record. */
export function unborn(identity: CronIdentity): CronRow {
  return { ...identity, epoch: 0, seq: 0, createdAtMs: 0, updatedAtMs: 0, assistantId: '',
    threadId: '', schedule: '', timezone: '', endTimeMs: 0, enabled: false, onRunCompleted: '',
    metadataJson: '', payloadJson: '', userId: '', nextMs: 0, wakeMs: 0, firedMs: 0, refusedMs: 0,
    refusedSinceMs: 0, applied: [], storedBytes: 0 }
}

/** Makes a cron. */
export function createdRecord(cronId: string, content: CronContent, nowMs: number): RecordOf {
  return savedRecord({ ...content, cronId, atMs: nowMs, nextMs: nextOf(content, nowMs) })
}

/**
 * Changes a cron. A due time that has passed is settled no more if the times change. Throws
 * `invalid` if the metadata gets too long.
 */
export function changedRecord(row: CronRow, change: CronChange, nowMs: number): RecordOf {
  const { metadataJson, payloadJson, ...others } = change
  const next = { ...contentOf(row), ...others, metadataJson: merged(row.metadataJson, metadataJson),
    payloadJson: merged(row.payloadJson, payloadJson) }
  requireShort(next.metadataJson, row.metadataJson)
  const isMoved = (['schedule', 'timezone', 'endTimeMs', 'enabled'] as const)
    .some((name) => change[name] !== undefined && change[name] !== row[name])
  // After the clock went back, what has fired must not fire again.
  const nextMs = isMoved ? nextOf(next, Math.max(nowMs, row.firedMs)) : row.nextMs
  return savedRecord({ ...next, cronId: row.cronId, atMs: nowMs, nextMs })
}

/** True if a due time fires no more. */
export function isSettled({ nextMs }: CronRow, dueMs: number): boolean {
  return nextMs === 0 || nextMs > dueMs
}

/** The due time to fire now; 0 if none is due. Of several that were missed it is the latest. */
export function dueOf(row: CronRow, nowMs: number): number {
  if (row.wakeMs === 0 || row.wakeMs > nowMs || row.nextMs > nowMs) return 0
  const endMs = row.endTimeMs === 0 ? nowMs : Math.min(nowMs, row.endTimeMs)
  return latestDueMs(row, row.nextMs, endMs)
}

/** The first due time after `afterMs` that has not been settled; 0 for none. */
export function nextOf(
  content: Pick<CronRow, 'schedule' | 'timezone' | 'endTimeMs' | 'enabled'>,
  afterMs: number,
): number {
  if (!content.enabled) return 0
  const nextMs = nextDueMs(content, afterMs)
  return content.endTimeMs > 0 && nextMs > content.endTimeMs ? 0 : nextMs
}

/** The row after a record. The writer sets its log position. */
export function afterRecord(row: CronRow, record: RecordOf): CronRow {
  switch (record.$case) {
    case 'cronSaved':
      return saved(row, record.value)
    case 'cronFired': {
      const { dueMs, nextMs } = record.value
      return { ...row, firedMs: Math.max(row.firedMs, dueMs), ...waiting(nextMs) }
    }
    case 'cronPostponed': {
      const { dueMs, sinceMs, untilMs } = record.value
      return { ...row, wakeMs: untilMs, refusedMs: dueMs, refusedSinceMs: sinceMs }
    }
    case 'cronStopped':
      return { ...row, enabled: false, updatedAtMs: record.value.atMs, ...waiting(0) }
    default:
      return row
  }
}

function saved(row: CronRow, { atMs, nextMs, ...content }: CronSaved): CronRow {
  const createdAtMs = row.createdAtMs || atMs
  const times = nextMs === row.nextMs ? {} : waiting(nextMs)
  return { ...row, ...content, createdAtMs, updatedAtMs: Math.max(atMs, row.updatedAtMs), ...times }
}

/** Nothing is refused, and the cron waits until `nextMs`. */
function waiting(nextMs: number) {
  return { nextMs, wakeMs: nextMs, refusedMs: 0, refusedSinceMs: 0 }
}

function savedRecord(value: CronSaved): RecordOf {
  return { $case: 'cronSaved', value }
}

function contentOf(row: CronRow): CronContent {
  const { assistantId, threadId, schedule, timezone, endTimeMs, enabled, metadataJson, payloadJson,
    userId } = row
  return { assistantId, threadId, schedule, timezone, endTimeMs, enabled, metadataJson, payloadJson,
    userId, onRunCompleted: row.onRunCompleted as OnRunCompleted }
}

function merged(json: string, change: string | undefined): string {
  if (change === undefined) return json
  return JSON.stringify({ ...JSON.parse(json) as object, ...JSON.parse(change) as object })
}
