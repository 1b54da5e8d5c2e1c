/** Rules about spans, their feedback, and the traces of runs. */

import type { Call } from '../history/history.ts'
import { isSuccess } from './history-index.ts'
import type { HistoryIndex } from './history-index.ts'
import { allowedValues } from './register-rules.ts'
import { isBefore } from './state-rules.ts'
import type { Rule } from './violation.ts'

interface SpanRecord {
  readonly id: string
  readonly project: string
  readonly calls: readonly Call[]
  /** Deletions of the span and of its project, by any client. */
  readonly deletions: readonly Call[]
}

function toSpans({ calls }: HistoryIndex): readonly SpanRecord[] {
  const projects = Map.groupBy(calls.filter(({ operation }) => operation === 'project.delete'),
    ({ projectId }) => projectId)
  return [
    ...Map.groupBy(calls.filter(({ spanId }) => spanId !== undefined), ({ spanId }) => spanId!),
  ].map(([id, own]) => {
    const project = own[0]!.projectId!
    const deletions = own.filter(({ operation }) => operation === 'span.delete')
    return { id, project, calls: own, deletions: [...deletions, ...projects.get(project) ?? []] }
  })
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

interface SpanBody {
  readonly post?: readonly [{ readonly inputs: { readonly token: string } }]
  readonly patch?: readonly [{ readonly outputs: { readonly token: string } }]
}

/** A span that was taken has the last inputs and outputs until it is deleted. */
const kept: Rule<HistoryIndex> = (index) =>
  toSpans(index).flatMap((span) => {
    const write = (call: Call, value: string) => ({
      // A batch that was rejected has written nothing.
      call: isTaken(call) || call.status === undefined ? call : { ...call, status: 400 },
      value,
    })
    const posts = span.calls.flatMap((call) => {
      const [post] = (call.body as SpanBody | undefined)?.post ?? []
      return post ? [write(call, post.inputs.token)] : []
    })
    const patches = span.calls.flatMap((call) => {
      const [patch] = (call.body as SpanBody | undefined)?.patch ?? []
      return patch ? [write(call, patch.outputs.token)] : []
    })
    return span.calls.filter(({ operation, status }) =>
      operation === 'span.get' && (status === 200 || status === 404)
    ).filter((call) => !mayBeDeleted(span, call)).flatMap((call) => {
      const { inputs, outputs } = (call.response ?? {}) as Readonly<
        Record<'inputs' | 'outputs', { token?: string } | null | undefined>
      >
      const found = [inputs?.token ?? null, outputs?.token ?? null]
      const allowed = [allowedValues([null], posts, call), allowedValues([null], patches, call)]
      return found.every((value, at) => allowed[at]!.includes(value))
        ? []
        : [{ message: `Span ${span.id} has ${found}; allowed: ${JSON.stringify(allowed)}`,
          calls: [call] }]
    })
  })

/** A span that was deleted, alone or with its project, is not found any more. */
const deleted: Rule<HistoryIndex> = (index) =>
  toSpans(index).flatMap((span) =>
    span.calls.filter(({ operation, status }) => operation === 'span.get' && status === 200)
      .flatMap((call) => {
        const deletion = deletionBefore(span, call)
        return deletion
          ? [{ message: `Span ${span.id} was deleted and is found`, calls: [deletion, call] }]
          : []
      })
  )

/** A query of a project lists the spans that it has. */
const queried: Rule<HistoryIndex> = (index) => {
  const spans = Map.groupBy(toSpans(index), ({ project }) => project)
  return index.calls.filter(({ operation, status }) => operation === 'span.query' && status === 200)
    .flatMap((call) => {
      const { runs } = call.response as { runs: readonly { id: string }[] }
      const { limit } = call.body as { limit: number }
      return (spans.get(call.projectId!) ?? []).flatMap((span) => {
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
    })
}

/** Feedback is listed with its span, and is gone with it. */
const feedback: Rule<HistoryIndex> = (index) =>
  toSpans(index).flatMap((span) =>
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
  )

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
    // Without a response it is not known whether the thread was deleted.
    const mayBeGone = isGone || (thread?.deletions.length ?? 0) > 0
    return last?.status === 'success' && !mayBeGone && call.status === 404
      ? [{ message: `Run ${runId} has no trace`, calls: [last.call, call] }]
      : []
  })

/** Rules about the whole history. */
export const traceRules = { 'spans are kept': kept, 'deleted spans stay deleted': deleted,
  'queries list spans': queried, 'feedback belongs to its span': feedback,
  'runs have traces': traced }
