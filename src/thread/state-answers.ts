/** Answers questions about a thread's state from what is on disk, joining stored JSON text. */

import { toTuple } from '../checkpoint/index.ts'
import type {
  ChannelView, CheckpointReader, CheckpointSource, JsonText,
} from '../checkpoint/index.ts'
import { AnswerRoom } from '../answer-room.ts'
import { HeddleError } from '../errors.ts'
import { keysAskedFor, selectedFields, selectedValues } from '../graph/index.ts'
import type { SnapshotAnswer, StateQuestion, StateSelection } from '../graph/index.ts'
import type { HistoryQuery, StateQuery, ThreadView } from './client.ts'
import { sharedConfigurable } from './run-request.ts'
import { valuesAt } from './state-values.ts'
import type { Channels } from './thread-ledger.ts'
import type { ThreadSetting } from './thread-setting.ts'
import { graphOf } from './thread-setting.ts'

/** States of a history that are read together: at first, and while states are small. */
const [fewStates, manyStates] = [16, 64]
/** Characters read together, if all states are as large as the largest so far. */
const togetherMax = 32 * 1024 * 1024

/** A bound, for a thread may be rolled back again and again while its history is read. */
const historyTriesMax = 5

interface Asked {
  readonly answers: readonly SnapshotAnswer[]
  /** A state, values and all, or what was selected of it. */
  readonly textOf: (answer: SnapshotAnswer) => Promise<JsonText>
}

export class StateAnswers {
  readonly #setting: ThreadSetting

  constructor(setting: ThreadSetting) {
    this.#setting = setting
  }

  /** The thread's record and, unless it is `brief`, its state values. */
  async view(brief = false): Promise<ThreadView> {
    const { ledger } = this.#setting
    const { row } = ledger.state
    await ledger.durable
    return { row, values: brief ? '{}' : await this.#values(row.head?.id) }
  }

  /** A ThreadState of the API. Throws `not_found` for an unknown checkpoint. */
  async state({ checkpointId, checkpointNs: ns, subgraphs, select }: StateQuery):
  Promise<JsonText> {
    const { ledger } = this.#setting
    await ledger.durable
    if (checkpointId === null && !ledger.state.row.head) return freshState(select)
    if (checkpointId !== null) await ledger.mustHave(ns, checkpointId)
    const configurable = sharedConfigurable(ledger.state.row)
    const question = { kind: 'state', configurable, ns, checkpointId, subgraphs, select } as const
    const { answers: [answer], textOf } = await this.#ask(question)
    return answer ? textOf(answer) : freshState(select)
  }

  /** ThreadStates of the API, newest first, as the text of an array. */
  async history(query: HistoryQuery): Promise<JsonText> {
    const { ledger } = this.#setting
    await ledger.durable
    if (!ledger.state.row.head) return '[]'
    for (let tries = 1; tries <= historyTriesMax; tries++) {
      const states = await this.#statesOf(query)
      if (states) return `[${states.join(',')}]`
    }
    throw new HeddleError('unavailable',
      'The history of this thread changes while it is read: ask again in a moment.')
  }

  /** Undefined if a rollback dropped the state at which the next page would begin. */
  async #statesOf(query: HistoryQuery): Promise<JsonText[] | undefined> {
    const { ledger } = this.#setting
    const { checkpointId, checkpointNs: ns, metadata: filter, select } = query
    const configurable = sharedConfigurable(ledger.state.row)
    using room = new AnswerRoom()
    const states: JsonText[] = []
    let { before } = query
    for (let together = fewStates, largest = 1; ;) {
      const limit = Math.min(query.limit - states.length, together)
      const question =
        { kind: 'history', configurable, ns, checkpointId, before, limit, filter, select } as const
      const { answers, textOf } = await this.#ask(question)
      const isCut = states.length > 0 && !await ledger.settled.has(ns, before!)
      if (isCut) return undefined
      for (const answer of answers) {
        const text = await textOf(answer)
        room.take(text)
        states.push(text)
        largest = Math.max(largest, text.length)
      }
      if (answers.length < limit || states.length === query.limit) return states
      before = answers.at(-1)!.checkpointId
      together = Math.min(manyStates, Math.max(1, Math.floor(togetherMax / largest)))
    }
  }

  /** Throws `graph_failed` if the project does not have the thread's graph any more. */
  async #ask(question: StateQuestion): Promise<Asked> {
    const { ports: { host }, ledger, threadId } = this.#setting
    const graph = graphOf(this.#setting)
    if (!graph) {
      throw new HeddleError('graph_failed',
        'The graph of this thread is not in the project any more; add it again to see the state.')
    }
    const source = new RememberingSource(ledger.settled)
    const answers = await host.ask(graph.graphId, threadId, question, source)
    const keys = keysAskedFor(question.select)
    const textOf = async (answer: SnapshotAnswer) => {
      if (keys.length === 0) return answer.json
      const channels = channelsOf(graph.stateChannels, keys)
      const values = await this.#valuesOf(answer, source, channels)
      return withValues(answer, Array.isArray(channels) ? values : someOf(values, question.select))
    }
    return { answers, textOf }
  }

  async #valuesOf(answer: SnapshotAnswer, source: RememberingSource,
    channels: Channels): Promise<JsonText> {
    if (answer.valuesOf === '') return answer.values
    const view = source.views.get(answer.valuesOf)
    if (view && channels !== null) return view.json(channels)
    return this.#setting.ledger.values(answer.valuesOf, channels)
  }

  /** The values at the head: `{}` before there is one. */
  async #values(headId: string | undefined): Promise<JsonText> {
    if (headId === undefined) return '{}'
    return valuesAt(this.#setting, graphOf(this.#setting), { checkpointId: headId })
  }
}

/** Keeps the states that it returns, so that their values need not be read again. */
class RememberingSource implements CheckpointSource {
  readonly views = new Map<string, ChannelView>()
  readonly #reader: CheckpointReader

  constructor(reader: CheckpointReader) {
    this.#reader = reader
  }

  tuple: CheckpointSource['tuple'] = async (ns, checkpointId) => {
    const read = await this.#reader.checkpoint(ns, checkpointId)
    if (read && ns === '') this.views.set(read.checkpoint.id, read.view)
    return read && toTuple(read)
  }

  list: CheckpointSource['list'] = async (query) => {
    const page = await this.#reader.page(query)
    for (const { checkpoint, view } of page) {
      if (checkpoint.ns === '') this.views.set(checkpoint.id, view)
    }
    return page.map(toTuple)
  }
}

function withValues({ json }: SnapshotAnswer, values: JsonText): JsonText {
  return json === '{}' ? `{"values":${values}}` : `{"values":${values},${json.slice(1)}`
}

function channelsOf(channels: Channels, keys: 'all' | readonly string[]): Channels {
  if (keys === 'all' || typeof channels === 'string') return channels
  return channels?.filter((name) => keys.includes(name)) ?? null
}

/** Selects keys of values that are not named after channels, and so were not selected yet. */
function someOf(values: JsonText, select: StateSelection): JsonText {
  return keysAskedFor(select) === 'all' ? values
    : JSON.stringify(selectedValues(JSON.parse(values), select))
}

/** The answer for a thread without a state: clients look for `checkpoint: null`. */
function freshState(select: StateSelection): JsonText {
  const fields = selectedFields({
    next: [], tasks: [], metadata: {}, created_at: null, checkpoint: null,
    parent_checkpoint: null, checkpoint_id: null, parent_checkpoint_id: null,
    ...select && { interrupts: [] },
  }, select)
  const values = keysAskedFor(select).length === 0 ? {} : { values: {} }
  return JSON.stringify({ ...values, ...fields })
}
