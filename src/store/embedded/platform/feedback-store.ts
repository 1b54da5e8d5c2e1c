/** Feedback of the store: written with the marks that it leaves on its span. */

import { bytesOfUuid, termOf } from '../../../platform/index.ts'
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
          for (const { row, place } of feedback) put(open, toMark, row, place)
          for (const { tenant, span, keys } of toMark.values()) mark(open, tenant, span, [...keys])
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
          if (row.span !== null) mark(open, number!, row.span, [])
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
  }
}

/** A span whose marks have changed, and the keys of its new feedback. */
interface ToMark {
  readonly tenant: number
  readonly span: Uuid
  readonly keys: Set<string>
}

function put(open: OpenTraces & TraceWrites, toMark: Map<string, ToMark>, row: Feedback,
  place: SpanPlace | null): void {
  const { numbers, feedback } = open
  const tenant = numbers.numberTenant(row.tenant)
  if (place !== null && isRemoved(open, tenant, place)) return
  const marked = (span: Uuid) => {
    const known = toMark.get(`${tenant} ${span}`) ?? { tenant, span, keys: new Set<string>() }
    toMark.set(`${tenant} ${span}`, known)
    return known.keys
  }
  const before = feedback.get(tenant, row.tenant, row.id)
  feedback.put(tenant, row)
  const moved = before?.span ?? null
  if (moved !== null && moved !== row.span) marked(moved)
  if (row.span !== null) marked(row.span).add(row.key)
}

/** Gives a span its marks and the terms of these keys, in each project that it is in. */
function mark({ database, numbers, feedback, writer }: OpenTraces & TraceWrites, tenant: number,
  span: Uuid, keys: readonly string[]): void {
  const projects = database.prepare<[number]>(
    'SELECT project FROM span WHERE tenant = ? AND id = ?',
  ).all(tenant, bytesOfUuid(span))
  for (const [no] of projects) {
    writer.mark(numbers.projectAt(no), span, keys.map((key) => termOf.feedback(key)))
  }
  if (projects.length > 0) feedback.setMarked(tenant, span)
}

function isRemoved({ database, numbers }: OpenTraces, tenant: number, place: SpanPlace): boolean {
  const project = numbers.project(tenant, place.project)
  if (project === undefined) return false
  return place.startUs < project.goneUs || database.prepare(
        'SELECT 1 FROM gone_trace WHERE project = ? AND trace = ?',
      ).get(project.no, bytesOfUuid(place.trace)) !== undefined
}
