/** Rows as JSON of the API. Fields that are JSON text are joined without parsing them. */

import type { AssistantRow, CronRow, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { cronFields, runFields } from '../../api/index.ts'
import type { assistantFields, threadFields } from '../../api/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { timeText } from '../../json/index.ts'
import { graphIdOf } from '../../search/index.ts'
import { shownPayload } from '../operations/index.ts'
import type { FoundThread } from '../operations/index.ts'

/** Names of fields to answer with; null, undefined or none for all. */
export type Selection = readonly string[] | null | undefined

/** An assistant as the API shows it. */
export function assistantJson(row: AssistantRow, select?: Selection): JsonText {
  return objectText<typeof assistantFields[number]>({
    assistant_id: JSON.stringify(row.assistantId),
    graph_id: JSON.stringify(row.graphId),
    version: String(row.version),
    name: JSON.stringify(row.name),
    description: row.descriptionJson || 'null',
    config: row.configJson || '{}',
    context: row.contextJson || '{}',
    metadata: row.metadataJson || '{}',
    created_at: `"${timeText(row.createdAtMs)}"`,
    updated_at: `"${timeText(row.updatedAtMs)}"`,
  }, select)
}

/** A cron as the API shows it. `now` is the server's time, for those that select it. */
export function cronJson(row: CronRow, select?: Selection, nowMs?: number): JsonText {
  return objectText<typeof cronFields[number] | 'now'>({
    cron_id: JSON.stringify(row.cronId),
    assistant_id: JSON.stringify(row.assistantId),
    thread_id: textOrNull(row.threadId),
    on_run_completed: `"${row.onRunCompleted}"`,
    end_time: timeOrNull(row.endTimeMs),
    schedule: JSON.stringify(row.schedule),
    timezone: textOrNull(row.timezone),
    created_at: `"${timeText(row.createdAtMs)}"`,
    updated_at: `"${timeText(row.updatedAtMs)}"`,
    payload: cronPayload(row),
    user_id: textOrNull(row.userId),
    next_run_date: timeOrNull(row.nextMs),
    metadata: row.metadataJson || '{}',
    enabled: String(row.enabled),
    now: timeOrNull(nowMs ?? 0),
  }, select ?? cronFields)
}

/** The newest outcome of a cron, with its run unless that is gone. */
export function lastRunJson(
  { cron, run }: { readonly cron: CronRow; readonly run: RunRow | undefined },
): JsonText {
  const { cronId, threadId, lastMs, lastRunId, lastReason } = cron
  return JSON.stringify({ cron_id: cronId, at: timeText(lastMs), run_id: lastRunId || null,
    thread_id: lastRunId === '' ? null : threadId || lastRunId, status: run?.status ?? null,
    reason: lastReason || null })
}

/** The body of the runs of a cron. */
export function cronPayload(row: CronRow): JsonText {
  const { assistantId, metadataJson } = row
  const payloadJson = shownPayload(row)
  const rest = payloadJson === '{}' ? '}' : `,${payloadJson.slice(1)}`
  return `{"assistant_id":${JSON.stringify(assistantId)},"metadata":${metadataJson}${rest}`
}

function textOrNull(text: string): JsonText {
  return text === '' ? 'null' : JSON.stringify(text)
}

function timeOrNull(ms: number): JsonText {
  return ms === 0 ? 'null' : `"${timeText(ms)}"`
}

/** A thread as the API shows it. With `extracted`, that field follows the selected ones. */
export function threadJson({ row, values, extracted }: FoundThread, select?: Selection): JsonText {
  const text = objectText<typeof threadFields[number]>({
    thread_id: JSON.stringify(row.threadId),
    created_at: `"${timeText(row.createdAtMs)}"`,
    updated_at: `"${timeText(row.updatedAtMs)}"`,
    state_updated_at: `"${timeText(row.stateUpdatedAtMs || row.createdAtMs)}"`,
    metadata: row.metadataJson || '{}',
    status: `"${row.status}"`,
    config: row.configJson || '{}',
    values: values || '{}',
    interrupts: row.interruptsJson || '{}',
    error: row.errorJson || 'null',
  }, select)
  if (extracted === undefined) return text
  const rest = text === '{}' ? '}' : `,${text.slice(1)}`
  return `{"extracted":${extracted}${rest}`
}

/** The JSON of a thread with one more field: when it ends, null if it does not. */
export function withTimeToLive(threadText: JsonText,
  { row: { timeToLive } }: Pick<FoundThread, 'row'>): JsonText {
  const shown = timeToLive
    ? JSON.stringify({ strategy: timeToLive.strategy, ttl_minutes: timeToLive.minutes,
      expires_at: timeText(timeToLive.expiresAtMs) })
    : 'null'
  return `{"ttl":${shown},${threadText.slice(1)}`
}

/** A run as the API shows it. A delayed run counts as created when it may start. */
export function runJson(row: RunRow, select?: Selection): JsonText {
  return objectText<typeof runFields[number]>({
    run_id: `"${row.runId}"`,
    thread_id: JSON.stringify(row.threadId),
    assistant_id: JSON.stringify(row.assistantId),
    created_at: `"${timeText(Math.max(row.createdAtMs, row.notBeforeMs))}"`,
    updated_at: `"${timeText(row.updatedAtMs)}"`,
    status: `"${row.status}"`,
    metadata: row.metadataJson || '{}',
    kwargs: row.kwargsJson || '{}',
    multitask_strategy: `"${row.multitaskStrategy}"`,
    cancel_reason: row.cancelReason === undefined ? 'null' : JSON.stringify(row.cancelReason),
    ...row.revision !== undefined && { revision: JSON.stringify(row.revision) },
  }, select)
}

/** A run as a search shows it: with its graph, and without kwargs unless they are selected. */
export function foundRunJson(row: RunRow, select?: Selection): JsonText {
  const text = runJson(row, select ?? searchedRunFields)
  if (select && !select.includes('graph_id')) return text
  const rest = text === '{}' ? '}' : `,${text.slice(1)}`
  return `{"graph_id":${JSON.stringify(graphIdOf(row))}${rest}`
}

const searchedRunFields = runFields.filter((name) => name !== 'kwargs')

function objectText<Field extends string>(fields: Readonly<Partial<Record<Field, JsonText>>>,
  select: Selection): JsonText {
  // Texts are added up, which does not copy long ones before they are sent. Joining would.
  let text = '{'
  for (const name in fields) {
    if (select && !select.includes(name)) continue
    text += `${text === '{' ? '' : ','}"${name}":`
    text += fields[name]
  }
  return `${text}}`
}
