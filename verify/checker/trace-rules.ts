/** Rules about spans, their feedback, and the traces of runs. */

import type { Call } from '../history/history.ts'
import { isSuccess } from './history-index.ts'
import type { HistoryIndex } from './history-index.ts'
import { allowedValues } from './register-rules.ts'
import { isBefore } from './state-rules.ts'
import type { Rule } from './violation.ts'

/** A span that clients posted, in its project. */
export interface SpanRecord {
  readonly id: string
  readonly calls: readonly Call[]
  /** Deletions of the span and of its project, by any client. */
  readonly deletions: readonly Call[]
  /** Queries of its project. */
  readonly queries: readonly Call[]
}

/** Returns the spans that clients posted. */
export function spansOf({ calls }: HistoryIndex): readonly SpanRecord[] {
  const ofProjects = Map.groupBy(calls.filter(({ spanId }) => spanId === undefined),
    ({ projectId }) => projectId)
  const ofSpans = Map.groupBy(calls.filter(({ spanId }) => spanId !== undefined),
    ({ spanId }) => spanId!)
  return [...ofSpans].map(([id, own]) => {
    const all = [...own, ...ofProjects.get(own[0]!.projectId!) ?? []]
    const purges = all.flatMap((call) => toPurge(calls, own, call))
    return { id, calls: own,
      deletions: [...all.filter(({ operation }) => /^(span|project)\.delete$/.test(operation)),
        ...purges],
      queries: all.filter(({ operation, status }) => operation === 'span.query' && status === 200) }
  })
}

/**
 * A deletion of all spans of a project that arrived before it: from its start to its end. A span
 * that was written meanwhile may stay, because its last write counts.
 */
function toPurge(calls: readonly Call[], own: readonly Call[], call: Call): readonly Call[] {
  if (call.operation !== 'span.purge' || own[0]!.startMs > call.endMs) return []
  const { id } = (call.response ?? {}) as { id?: string }
  const completed = calls.find(({ operation, path, response }) =>
    operation === 'purge.get' && path.endsWith(`/${id}`)
    && (response as { status?: string } | undefined)?.status === 'Completed'
  )
  const isCertain = id !== undefined && completed !== undefined &&
    own.filter(isWrite).every((write) => isBefore(write, call) || isBefore(completed, write))
  return [isCertain ? { ...call, endMs: completed.endMs } : { ...call, status: undefined }]
}

function isWrite({ operation }: Call): boolean {
  return operation === 'span.post' || operation === 'span.patch'
}

/** A batch that was taken whole. */
function isTaken({ status, response }: Call): boolean {
  const { rejected = [] } = (response ?? {}) as { rejected?: readonly unknown[] }
  return isSuccess(status) && rejected.length === 0
}

/** True if the span may be deleted when the call ends. */
function mayBeDeleted({ deletions }: SpanRecord, call: Call): boolean {
  return deletions.some(({ startMs }) => startMs <= call.endMs)
}

/** The deletion that had ended before the call started. */
function deletionBefore({ deletions }: SpanRecord, call: Call): Call | undefined {
  return deletions.find((deletion) => isSuccess(deletion.status) && isBefore(deletion, call))
}

type Content = Readonly<Record<'inputs' | 'outputs', { readonly token?: string } | null>>

/** Writes of the inputs of a span by posts, or of its outputs by patches. */
function writesOf({ calls }: SpanRecord, kind: 'post' | 'patch', field: keyof Content) {
  return calls.flatMap((call) => {
    const [sent] = (call.body as Partial<Record<typeof kind, [Content]>> | undefined)?.[kind] ?? []
    // A batch that was rejected has written nothing.
    const written = isTaken(call) || call.status === undefined ? call : { ...call, status: 400 }
    return sent ? [{ call: written, value: sent[field]!.token! }] : []
  })
}

/** A span that was taken has the last inputs and outputs until it is deleted. */
const kept: Rule<SpanRecord> = (span) =>
  span.calls.filter(({ operation, status }) =>
    operation === 'span.get' && (status === 200 || status === 404)
  ).filter((call) => !mayBeDeleted(span, call)).flatMap((call) => {
    const { inputs, outputs } = (call.response ?? {}) as Partial<Content>
    const found = [inputs?.token ?? null, outputs?.token ?? null]
    const allowed = [writesOf(span, 'post', 'inputs'), writesOf(span, 'patch', 'outputs')]
      .map((writes) => allowedValues([null], writes, call))
    return found.every((value, at) => allowed[at]!.includes(value))
      ? []
      : [{ message: `Span ${span.id} has ${found}; allowed: ${JSON.stringify(allowed)}`,
        calls: [call] }]
  })

/** A span that was deleted, alone or with its project, is not found any more. */
const deleted: Rule<SpanRecord> = (span) =>
  span.calls.filter(({ operation, status }) => operation === 'span.get' && status === 200)
    .flatMap((call) => {
      const deletion = deletionBefore(span, call)
      return deletion
        ? [{ message: `Span ${span.id} was deleted and is found`, calls: [deletion, call] }]
        : []
    })

/** A query of a project lists the spans that it has. */
const queried: Rule<SpanRecord> = (span) =>
  span.queries.flatMap((call) => {
    const { runs } = call.response as { runs: readonly { id: string }[] }
    const { limit } = call.body as { limit: number }
    const isListed = runs.some(({ id }) => id === span.id)
    const isKnown = span.calls.some((taken) =>
      taken.operation === 'span.post' && isTaken(taken) && isBefore(taken, call)
    )
    const isMissing = !isListed && isKnown && runs.length < limit && !mayBeDeleted(span, call)
    const deletion = isListed ? deletionBefore(span, call) : undefined
    if (isMissing) return [{ message: `Span ${span.id} is not listed`, calls: [call] }]
    return deletion
      ? [{ message: `Span ${span.id} was deleted and is listed`, calls: [deletion, call] }]
      : []
  })

/** Feedback is listed with its span, and is gone with it. */
const feedback: Rule<SpanRecord> = (span) =>
  span.calls.filter(({ operation, status }) => operation === 'feedback.list' && status === 200)
    .flatMap((call) => {
      const listed = (call.response as readonly { id: string }[]).map(({ id }) => id)
      const deletion = deletionBefore(span, call)
      if (deletion && listed.length > 0) {
        return [{ message: `Span ${span.id} was deleted and has feedback`,
          calls: [deletion, call] }]
      }
      const missing = span.calls.find((created) =>
        created.operation === 'feedback.create' && isSuccess(created.status)
        && isBefore(created, call) && !listed.includes((created.body as { id: string }).id)
      )
      return missing && !mayBeDeleted(span, call)
        ? [{ message: `Feedback on ${span.id} is not listed`, calls: [missing, call] }]
        : []
    })

/** After the load, each run that succeeded has a trace, and a run that is gone has none. */
const traced: Rule<HistoryIndex> = (index) =>
  index.calls.filter(({ operation, startMs }) =>
    operation === 'trace.get' && startMs >= index.quietMs
  ).flatMap((call) => {
    const runId = call.path.split('/').at(-1)!
    const thread = index.threads.get(call.threadId!)
    const last = thread?.runs.get(runId)?.views.at(-1)
    const isGone = last?.status === 'gone'
      || thread?.deletions.some(({ status }) => isSuccess(status)) === true
    if (isGone && call.status === 200) {
      return [{ message: `Run ${runId} is gone and has a trace`, calls: [call] }]
    }
    // Without a response it is not known whether the thread or the run was deleted.
    const mayBeGone = isGone || (thread?.deletions.length ?? 0) > 0
      || thread?.calls.some(({ operation, path }) =>
        operation === 'run.delete' && path.endsWith(runId)
      )
    return last?.status === 'success' && !mayBeGone && call.status === 404
      ? [{ message: `Run ${runId} has no trace`, calls: [last.call, call] }]
      : []
  })

/** Rules about a span. */
export const spanRules = { 'spans are kept': kept, 'deleted spans stay deleted': deleted,
  'queries list spans': queried, 'feedback belongs to its span': feedback }
/** Rules about the whole history. */
export const traceRules = { 'runs have traces': traced }
