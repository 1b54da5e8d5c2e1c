/** Puts the answer about a state together: the engine's part, stored values, sizes. */

import type { ChannelSizes, ChannelView, JsonText } from '../../checkpoint/index.ts'
import { keysAskedFor, selectedFields, selectedValues, selectsSizes, selectsWrites,
  slicesOf } from '../../graph/index.ts'
import type { GraphDescription, StateQuestion, StateSelection } from '../../graph/index.ts'
import type { SlicePlace } from '../../json/index.ts'
import type { SourceScope } from '../log/limited-source.ts'
import type { Channels } from '../log/thread-log.ts'

/** Additions to the engine's part of an answer. */
export interface AnswerParts {
  readonly values?: JsonText
  /** Places at which parts of lists begin, by key. */
  readonly slices?: Readonly<Record<string, SlicePlace>>
  /** Bytes that the step wrote, by channel. */
  readonly sizes?: ChannelSizes | undefined
}

/**
 * Parts of a thread's checkpoints that a question need not read. The values of a plain graph are
 * joined from stored text, so that the engine never gets them.
 */
export function scopeOf({ select, ns }: StateQuestion, graph: GraphDescription): SourceScope {
  if (!select) return {}
  const { plain, stateChannels, channels } = graph
  const sizes = selectsSizes(select)
  if (!plain || stateChannels === null || channels === undefined || ns !== '') return { sizes }
  const writes = !selectsWrites(select)
  const input = writes ? ['__start__'] : []
  const unsent = { channels: new Set([stateChannels, input].flat()), writes }
  const isWithout = keysAskedFor(select).length === 0
  return { sizes, unsent, unread: isWithout ? unsent : { channels: new Set(input), writes } }
}

/** The selected values at a checkpoint, from stored text. */
export function storedValues(view: ChannelView, channels: readonly string[],
  select: StateSelection): AnswerParts {
  const slices = slicesOf(select)
  if (slices.size === 0) return { values: view.json(channels) }
  return { values: view.json(channels, slices), slices: view.slicePlaces(slices) }
}

/** Selects keys of values that are not named after channels, and so were not selected yet. */
export function parsedValues(text: JsonText, select: StateSelection): AnswerParts {
  if (keysAskedFor(select) === 'all' && slicesOf(select).size === 0) return { values: text }
  const { values, slices } = selectedValues(JSON.parse(text), select)
  return { values: JSON.stringify(values), slices }
}

/** The channels of the selected keys, if keys are named after channels. */
export function channelsAskedFor(channels: Channels, select: StateSelection): Channels {
  const keys = keysAskedFor(select)
  if (keys === 'all' || typeof channels === 'string') return channels
  return channels?.filter((name) => keys.includes(name)) ?? null
}

/** The answer, as the engine gave it, with the other parts. */
export function answerOf(json: JsonText, { values, slices, sizes }: AnswerParts): JsonText {
  const parts = [
    ...values === undefined ? [] : [`"values":${values}`],
    ...slices && Object.keys(slices).length > 0 ? [`"slices":${JSON.stringify(slices)}`] : [],
    ...sizes === undefined ? [] : [`"channels":${JSON.stringify(sizes)}`],
    ...json === '{}' ? [] : [json.slice(1, -1)],
  ]
  return `{${parts.join(',')}}`
}

/** The answer for a thread without a state: clients look for `checkpoint: null`. */
export function freshState(select: StateSelection): JsonText {
  const fields = selectedFields({
    next: [],
    tasks: [],
    metadata: {},
    created_at: null,
    checkpoint: null,
    parent_checkpoint: null,
    checkpoint_id: null,
    parent_checkpoint_id: null,
    ...select && { interrupts: [] },
  }, select)
  const values = keysAskedFor(select).length === 0 ? {} : { values: {} }
  return JSON.stringify({ ...values, ...selectsSizes(select) && { channels: {} }, ...fields })
}
