/** Answers questions about a thread's state from what is on disk, joining stored JSON text. */

import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { keysAskedFor, selectsBodies } from '../../graph/index.ts'
import type { GraphDescription, SnapshotAnswer, StateQuestion,
  StateSelection } from '../../graph/index.ts'
import type { ReadAllowance } from '../../limits/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { graphOf } from '../context/thread-graphs.ts'
import { LimitedSource } from '../log/limited-source.ts'
import type { HistoryPlace, HistorySlice } from '../model/command.ts'
import { sharedConfigurable } from '../model/run-request.ts'
import type { HistoryQuery, StateQuery, ThreadView } from '../model/thread-client.ts'
import { unfinishedOf } from '../model/unfinished-run.ts'
import { answerOf, channelsAskedFor, freshState, scopeOf, storedValues,
  parsedValues } from './state-answer.ts'
import type { AnswerParts } from './state-answer.ts'
import { stateBytes, valuesAt } from './state-values.ts'
import type { ReadRequest } from './state-values.ts'

/** States of a history that are read together: at first, and while states are small. */
const [fewStates, manyStates] = [16, 64]
/** The same for states without values. */
const leanStates = [256, 256] as const
/**
 * Characters read together, if all states are as large as the largest so far, and of a part of a
 * history, if it has more than one state.
 */
const togetherMax = 16 * 1024 * 1024
/** A part with more than one state has no more: members hand each other 64 MB at most. */
const partMax = 2 * togetherMax
/** Bytes that are reserved at first for states that are read together. */
const togetherBytes = 2 * stateBytes
/** Bytes for each character of its answer that reading a state takes, with the state before it. */
const bytesOfCharacter = 4

/** A bound, for a thread may be rolled back again and again while its history is read. */
const historyTriesMax = 5

/** States that were read: texts with values and all, or with what was selected of them. */
interface ReadStates {
  readonly texts: readonly JsonText[]
  /** The checkpoint of the oldest one. */
  readonly last: string | undefined
}

/** A question that was answered, and what was read for it. */
interface Asked {
  readonly source: LimitedSource
  readonly graph: GraphDescription
  readonly allowance: ReadAllowance
}

/** The questions about the state of one thread. */
export class StateQueries {
  readonly #context: ThreadContext

  constructor(context: ThreadContext) {
    this.#context = context
  }

  /** The thread's record and, unless it is `brief`, its state values. */
  async view(brief = false, options: ReadRequest = {}): Promise<ThreadView> {
    const { threadLog } = this.#context
    const { row: known, runs } = threadLog.state
    const row = { ...known, unfinished: runs.map(unfinishedOf) }
    await threadLog.durable
    return { row, values: brief ? '{}' : await this.#values(row.head?.id, options) }
  }

  /** A ThreadState of the API. Throws `not_found` for an unknown checkpoint. */
  async state({ checkpointId, checkpointNs: ns, subgraphs, select }: StateQuery,
    cancelled?: AbortSignal): Promise<JsonText> {
    const { threadLog, tenant, ports: { reads } } = this.#context
    await threadLog.durable
    if (checkpointId === null && !threadLog.state.row.head) return freshState(select)
    if (checkpointId !== null) await threadLog.requireCheckpoint(ns, checkpointId)
    const configurable = sharedConfigurable(threadLog.state.row)
    const question = { kind: 'state', configurable, ns, checkpointId, subgraphs, select } as const
    const { texts: [text] } = await reads.read({ tenant, bytes: stateBytes, cancelled },
      (allowance) => this.#ask(question, allowance))
    return text ?? freshState(select)
  }

  /** Part of a history; all of it, as the text of an array, without a place to begin. */
  async history(query: HistoryQuery, from?: HistoryPlace,
    cancelled?: AbortSignal): Promise<HistorySlice | JsonText> {
    if (from) return this.#slice(query, from, cancelled)
    using held = this.#context.ports.reads.share(this.#context.tenant)
    const states: JsonText[] = []
    let place: HistoryPlace | null = { after: null, largest: 0 }
    while (place) {
      const left = { ...query, limit: query.limit - states.length }
      const slice: HistorySlice = await this.#slice(left, place, cancelled)
      held.take(...slice.states)
      states.push(...slice.states)
      place = slice.next
    }
    return `[${states.join(',')}]`
  }

  async #slice(query: HistoryQuery, from: HistoryPlace,
    cancelled: AbortSignal | undefined): Promise<HistorySlice> {
    const { threadLog } = this.#context
    await threadLog.durable
    if (!threadLog.state.row.head) return { states: [], next: null }
    // What was sent of a history cannot be taken back: only its first part may begin again.
    const triesMax = from.after === null ? historyTriesMax : 1
    for (let tries = 1; tries <= triesMax; tries++) {
      const slice = await this.#statesOf(query, from, cancelled)
      if (slice) return slice
    }
    throw new HeddleError('unavailable',
      'The history of this thread changes while it is read: ask again in a moment.')
  }

  /** Undefined if a rollback dropped the state at which the next page would begin. */
  async #statesOf(query: HistoryQuery, from: HistoryPlace,
    cancelled: AbortSignal | undefined): Promise<HistorySlice | undefined> {
    const { threadLog, ports: { reads }, tenant } = this.#context
    using held = reads.share(tenant)
    const states: JsonText[] = []
    let { largest } = from
    const [few, many] = selectsBodies(query.select) ? [fewStates, manyStates] : leanStates
    let before = from.after ?? query.before
    for (let characters = 0, together = few;;) {
      if (largest > 0) together = togetherOf(largest, many)
      const limit = Math.min(query.limit - states.length, together)
      const read = await this.#page({ ...query, before, limit }, largest, cancelled)
      const isLater = states.length > 0 || from.after !== null
      const length = read.texts.reduce((sum, text) => sum + text.length, 0)
      if (states.length > 0 && characters + length > partMax) {
        return { states, next: { after: before!, largest: Math.max(largest, length) } }
      }
      if (isLater && !await threadLog.settled.has(query.checkpointNs, before!)) return undefined
      for (const text of read.texts) {
        held.hold(text)
        states.push(text)
        characters += text.length
        largest = Math.max(largest, text.length)
      }
      const isLast = read.texts.length < read.limit || states.length === query.limit
      if (isLast) return { states, next: null }
      before = read.last!
      if (characters >= togetherMax) return { states, next: { after: before, largest } }
    }
  }

  /** Up to so many states; a single one if they turn out to be large. */
  async #page(query: HistoryQuery, largest: number,
    cancelled: AbortSignal | undefined): Promise<ReadStates & { readonly limit: number }> {
    const { threadLog, ports: { reads }, tenant } = this.#context
    const { checkpointId, checkpointNs: ns, before, metadata: filter, select } = query
    const configurable = sharedConfigurable(threadLog.state.row)
    let { limit } = query
    const bytes = Math.max(togetherBytes, bytesOfCharacter * largest * limit)
    let isFirst = true
    return reads.read({ tenant, bytes, cancelled }, async (allowance) => {
      if (!isFirst) limit = 1
      isFirst = false
      const question = { kind: 'history', configurable, ns, checkpointId, before, limit, filter,
        select } as const
      return { ...await this.#ask(question, allowance), limit }
    })
  }

  /** Throws `graph_failed` if the project does not have the thread's graph any more. */
  async #ask(question: StateQuestion, allowance: ReadAllowance): Promise<ReadStates> {
    const { threadLog, threadId } = this.#context
    const hosted = graphOf(this.#context)
    if (!hosted) {
      throw new HeddleError('graph_failed',
        'The graph of this thread is not in the project any more; add it again to see the state.')
    }
    const { graph, host } = hosted
    const scope = scopeOf(question, graph)
    const known = scope.unsent && ((id: string) => threadLog.recentView(id))
    const source = new LimitedSource(threadLog.settled, allowance, { ...scope,
      ...known && { known } })
    const answers = await host.ask(graph.graphId, threadId, question, source, source.cancelled)
    const texts: JsonText[] = []
    for (const answer of answers) {
      const values = await this.#valuesOf(answer, question.select, { source, graph, allowance })
      const sizes = source.sizes.get(answer.checkpointId)
      texts.push(answerOf(answer.json, { ...values, sizes }))
    }
    return { texts, last: answers.at(-1)?.checkpointId }
  }

  /** The selected values, if any are selected. */
  async #valuesOf(answer: SnapshotAnswer, select: StateSelection,
    { source, graph, allowance }: Asked): Promise<AnswerParts> {
    const { valuesOf: checkpointId } = answer
    if (keysAskedFor(select).length === 0) return {}
    // The worker has selected them, and said in its part where lists begin.
    if (checkpointId === '') return { values: answer.values }
    const channels = channelsAskedFor(graph.stateChannels, select)
    const view = source.views.get(checkpointId)
    if (view && Array.isArray(channels)) return storedValues(view, channels, select)
    const text = view && channels !== null
      ? view.json(channels)
      : await this.#context.threadLog.values(checkpointId, channels, allowance)
    return parsedValues(text, select)
  }

  /** The values at the head: `{}` before there is one. */
  async #values(headId: string | undefined, options: ReadRequest): Promise<JsonText> {
    if (headId === undefined) return '{}'
    return valuesAt(this.#context, graphOf(this.#context), { checkpointId: headId }, options)
  }
}

/** Count of states to read together, up to `most`, if all are as long as the longest so far. */
function togetherOf(largest: number, most: number): number {
  return Math.min(most, Math.max(1, Math.floor(togetherMax / largest)))
}
