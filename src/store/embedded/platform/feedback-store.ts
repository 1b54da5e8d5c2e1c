/** Feedback of the store: written with the marks that it leaves on its span. */

import { bytesOfUuid, isSameFeedback } from '../../../platform/index.ts'
import type { Feedback, FeedbackPort, SpanPlace, Uuid } from '../../../platform/index.ts'
import type { OpenTraces, TraceFile, TraceWrites } from './trace-file.ts'

/** Runs work and throws its errors as callers may see them. */
type Asked = <Result>(work: () => Result | Promise<Result>) => Promise<Result>

/** The feedback of a file. */
export function feedbackStore(file: TraceFile, asked: Asked): FeedbackPort {
  /** Asks the rows of a tenant; `missing` if it has none. */
  const read = <Result>(tenant: string, missing: Result,
    work: (rows: OpenTraces['feedback'], number: number) => Result) =>
    asked(() => {
      const number = file.reads?.numbers.tenant(tenant)
      return number === undefined ? missing : work(file.reads!.feedback, number)
    })
  return {
    putFeedback: (feedback) =>
      asked(() => {
        const open = file.writes
        return open.queue.run(feedback[0]?.row.tenant ?? '', feedback.length, () => {
          // Each span once: its row has all marks.
          const toMark = new Map<string, ToMark>()
          const refused = feedback.filter(({ row, place }) => !put(open, toMark, row, place))
          for (const { tenant, span } of toMark.values()) open.writer.mark(tenant, span)
          return refused.map(({ row }) => row.id)
        })
      }),
    replaceFeedback: (before, { row, place }) =>
      asked(() => {
        const open = file.writes
        return open.queue.run(row.tenant, 1, () => {
          const number = open.numbers.tenant(row.tenant)
          const now = number === undefined
            ? undefined
            : open.feedback.get(number, row.tenant, row.id)
          if (now === undefined || !isSameFeedback(now, before)) return 'changed'
          const toMark = new Map<string, ToMark>()
          if (!put(open, toMark, row, place)) return 'removed'
          for (const { tenant, span } of toMark.values()) open.writer.mark(tenant, span)
          return 'replaced'
        })
      }),
    getFeedback: (tenant, id) => read(tenant, undefined, (rows, no) => rows.get(no, tenant, id)),
    listFeedback: (query) => read(query.tenant, [], (rows, no) => rows.list(no, query)),
    deleteFeedback: (tenant, id) =>
      asked(() => {
        const open = file.writes
        return open.queue.run(tenant, 1, () => {
          const number = open.numbers.tenant(tenant)
          const row = number === undefined ? undefined : open.feedback.get(number, tenant, id)
          if (row === undefined) return false
          open.feedback.delete(number!, id)
          if (row.span !== null) open.writer.mark(number!, row.span)
          return true
        })
      }),
    putFeedbackToken: (token) =>
      asked(() => {
        const { queue, numbers, feedback } = file.writes
        const { tenant } = token
        return queue.run(tenant, 1, () => feedback.putToken(numbers.numberTenant(tenant), token))
      }),
    getFeedbackToken: (hash, nowMs) => asked(() => file.reads?.feedback.token(hash, nowMs)),
    listFeedbackTokens: (tenant, span) =>
      read(tenant, [], (rows, no) => rows.tokens(no, tenant, span)),
    deleteFeedbackTokens: (tenant) =>
      asked(() => {
        const { queue, numbers, feedback } = file.writes
        return queue.run(tenant, 1, () => {
          const number = numbers.tenant(tenant)
          return number === undefined ? 0 : feedback.deleteTokens(number)
        })
      }),
  }
}

/** A span whose marks have changed. */
interface ToMark {
  readonly tenant: number
  readonly span: Uuid
}

/** Writes feedback. Returns false if it is on something that was removed. */
function put(open: OpenTraces & TraceWrites, toMark: Map<string, ToMark>, row: Feedback,
  place: SpanPlace | null): boolean {
  const { numbers, feedback } = open
  const tenant = numbers.numberTenant(row.tenant)
  const isLate = place === null
    ? isOnRemoved(open, tenant, row)
    : isRemoved(open, tenant, place) ||
      // Another project still has the span.
      (row.project !== null && isRemoved(open, tenant, { ...place, project: row.project }))
  if (isLate) return false
  const before = feedback.get(tenant, row.tenant, row.id)
  feedback.put(tenant, row)
  for (const span of [before?.span ?? null, row.span]) {
    if (span !== null) toMark.set(`${tenant} ${span}`, { tenant, span })
  }
  return true
}

function isRemoved({ numbers, gone }: OpenTraces & TraceWrites, tenant: number,
  { project: id, startUs, trace }: SpanPlace): boolean {
  const project = numbers.project(tenant, id)
  return project !== undefined && (startUs < project.goneUs || gone.test()(project, trace))
}

/** True if feedback without a place is on a span, a trace or a project that was removed. */
function isOnRemoved({ database, numbers, gone }: OpenTraces & TraceWrites, tenant: number,
  { span, trace, project }: Feedback): boolean {
  if (project !== null && numbers.project(tenant, project)?.goneUs === Number.MAX_SAFE_INTEGER) {
    return true
  }
  if (span === null) return false
  if (gone.hasId(tenant, span)) return true
  if (trace === null || !gone.hasId(tenant, trace)) return false
  // Another project may have the trace.
  return database.prepare('SELECT 1 FROM span WHERE tenant = ? AND trace = ? LIMIT 1')
    .get(tenant, bytesOfUuid(trace)) === undefined
}
