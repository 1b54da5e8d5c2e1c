/** Turns requests about crons into what a cron keeps, and back into the request of a run. Pure. */

import type { CronRow } from '../../../proto/gen/storage/v1/row.ts'
import { payloadFields } from '../../api/index.ts'
import type { CreateCron, CreateRun, PatchCron, PreviewCron } from '../../api/index.ts'
import { cronUserMember, scheduleFault } from '../../crons/index.ts'
import type { CronChange, CronContent } from '../../crons/index.ts'
import { HeddleError } from '../../errors.ts'
import type { AppUser } from '../../graph/index.ts'
import { textOf } from '../../raw-json.ts'
import { invalid } from '../schema/validation.ts'

/** Characters of a payload. Bounded, because the row is written anew at each firing. */
const payloadMax = 1024 * 1024

/** Assistant that a new cron runs, its thread, and the user for whom it runs. */
export interface CronSubject {
  readonly assistantId: string
  /** Null if each run has a thread of its own. */
  readonly threadId: string | null
  readonly userId: string | undefined
  /** The user as the login of the project made it; missing if there is none. */
  readonly user?: AppUser | undefined
}

/** The content of a new cron. Throws `invalid` or `too_large`. */
export function contentOf(body: CreateCron, subject: CronSubject, nowMs: number): CronContent {
  return {
    ...timesOf(body, nowMs),
    assistantId: subject.assistantId,
    threadId: subject.threadId ?? '',
    userId: subject.userId ?? '',
    enabled: body.enabled ?? true,
    onRunCompleted: body.on_run_completed ?? 'delete',
    metadataJson: JSON.stringify(body.metadata ?? {}),
    payloadJson: withUser(payloadOf(body), subject.user),
  }
}

/** The times at which a new cron is due. Throws `invalid`. */
export function timesOf({ schedule, timezone, end_time: end }: Omit<PreviewCron, 'count'>,
  nowMs: number): Pick<CronContent, 'schedule' | 'timezone' | 'endTimeMs'> {
  const times = { schedule, timezone: timezone ?? '' }
  requireDue(times, nowMs)
  return { ...times, endTimeMs: end == null ? 0 : endOf(end, nowMs) }
}

/**
 * The change of a caller. A caller who changes the body of the runs becomes the user of the cron:
 * another user's rights are not for a body of theirs.
 */
export function changeBy({ user, userId }: Pick<CronSubject, 'user' | 'userId'>,
  change: CronChange): CronChange {
  if (change.payloadJson === undefined || userId === undefined) return change
  return { ...change, payloadJson: withUser(change.payloadJson, user), userId }
}

function withUser(payloadJson: string, user: AppUser | undefined): string {
  if (user === undefined) return payloadJson
  const rest = payloadJson === '{}' ? '}' : `,${payloadJson.slice(1)}`
  return `{"${cronUserMember}":${JSON.stringify(user)}${rest}`
}

/** The user for whom a cron runs, as the login of the project made it. */
export function userOfCron({ payloadJson }: Pick<CronRow, 'payloadJson'>): AppUser | undefined {
  if (!payloadJson.startsWith(`{"${cronUserMember}":`)) return undefined
  return (JSON.parse(payloadJson) as { readonly [cronUserMember]: AppUser })[cronUserMember]
}

/** The payload of a cron as it is shown. */
export function shownPayload({ payloadJson }: Pick<CronRow, 'payloadJson'>): string {
  if (!payloadJson.startsWith(`{"${cronUserMember}":`)) return payloadJson
  const { [cronUserMember]: _, ...rest } = JSON.parse(payloadJson) as {
    readonly [cronUserMember]: unknown
  }
  return JSON.stringify(rest)
}

/** The change that a request asks for. Throws `invalid` or `too_large`. */
export function changeOf(body: PatchCron, row: CronRow, nowMs: number): CronChange {
  const schedule = body.schedule ?? row.schedule
  const timezone = body.timezone === undefined ? row.timezone : body.timezone ?? ''
  if (schedule !== row.schedule || timezone !== row.timezone) {
    requireDue({ schedule, timezone }, nowMs)
  }
  // What a request leaves out may be changed by another one meanwhile.
  return {
    ...body.schedule != null && { schedule },
    ...body.timezone !== undefined && { timezone },
    ...body.end_time !== undefined
      && { endTimeMs: body.end_time === null ? 0 : endOf(body.end_time, nowMs) },
    ...body.enabled != null && { enabled: body.enabled },
    ...body.on_run_completed != null && { onRunCompleted: body.on_run_completed },
    ...body.metadata != null && { metadataJson: JSON.stringify(body.metadata) },
    ...changesPayload(body) && { payloadJson: payloadOf(body) },
  }
}

/** True if a request changes what the runs of a cron are asked for. */
export function changesPayload(body: PatchCron): boolean {
  return Object.entries(body).some(([name, value]) => isPayload(name) && value !== undefined)
}

function isPayload(name: string): boolean {
  return payloadFields.includes(name)
}

/** The request of a run that a cron makes. */
export function runBodyOf(cron: CronRow): CreateRun {
  const { assistantId, metadataJson, cronId } = cron
  return { ...JSON.parse(shownPayload(cron)) as object, assistant_id: assistantId,
    metadata: { ...JSON.parse(metadataJson) as object, cron_id: cronId } }
}

/** Throws `too_large` if the payload of a changed cron would be too long. */
export function requireShortPayload(text: string): void {
  if (text.length <= payloadMax) return
  throw new HeddleError('too_large', 'The body of a cron may have ' +
    `${payloadMax / 1024} KB of JSON at most.`)
}

function payloadOf(body: CreateCron | PatchCron): string {
  const fields = Object.entries(body)
    .filter(([name, value]) => isPayload(name) && value !== undefined)
  const text = textOf(Object.fromEntries(fields))
  requireShortPayload(text)
  return text
}

function requireDue(times: Parameters<typeof scheduleFault>[0], nowMs: number): void {
  const fault = scheduleFault(times, nowMs)
  if (fault !== undefined) throw invalid([fault])
}

/** A time without a zone is in UTC. */
function endOf(text: string, nowMs: number): number {
  const isBare = /T/i.test(text) && !/(Z|[+-]\d\d:?\d\d)$/i.test(text)
  const ms = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(isBare ? `${text}Z` : text) : NaN
  if (Number.isNaN(ms)) throw invalid([{ field: 'end_time', message: 'must be an ISO 8601 time' }])
  if (ms <= nowMs) throw invalid([{ field: 'end_time', message: 'must not be in the past' }])
  return ms
}
