/** Collects the values of untracked channels of a run, which no checkpoint contains. */

import { isObject, objectIn, valueIn } from '../../json/index.ts'
import type { ExecutionOutcome, JsonText } from '../execution.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import { interruptsOf } from './event-mapping.ts'
import type { Chunk, ChunkSink } from './event-mapping.ts'

/** Maximum size of the JSON of a run's untracked values, in bytes. */
export const untrackedMax = 1024 * 1024

/** Options of `UntrackedValues`. */
export interface UntrackedValuesOptions {
  /** Returns the JSON text that the API shows of a value. */
  readonly text: (value: unknown) => JsonText
  /** Called with the channel of each value that is left out. */
  readonly leftOut: (channel: string) => void
}

/** The untracked values in the last root state that the engine streamed. */
export class UntrackedValues {
  readonly #channels: readonly string[]
  readonly #options: UntrackedValuesOptions
  #state: Readonly<Record<string, unknown>> = {}

  constructor(
    { channels, streamChannelsAsIs }: Pick<ServedGraph, 'channels' | 'streamChannelsAsIs'>,
    options: UntrackedValuesOptions,
  ) {
    // A single name means that the state is the value of that channel itself.
    const names = typeof streamChannelsAsIs === 'string' ? [] : streamChannelsAsIs
    this.#channels = names.filter((name) => channels[name]?.lc_graph_name === 'UntrackedValue')
    this.#options = options
  }

  /** The stream modes of the engine that are needed: none if all channels are tracked. */
  get modes(): readonly string[] {
    return this.#channels.length === 0 ? [] : ['values']
  }

  /** Returns a sink that reads the states on their way to `sink`. */
  sinkOver(sink: ChunkSink): ChunkSink {
    if (this.#channels.length === 0) return sink
    return {
      chunk: (chunk) => {
        this.#see(chunk)
        sink.chunk(chunk)
      },
      engineEvent: (event) => sink.engineEvent(event),
    }
  }

  /** Returns the values as part of the outcome; nothing if none is set. */
  ending(): Pick<ExecutionOutcome, 'untracked'> {
    const { leftOut } = this.#options
    const members: JsonText[] = []
    // One for the opening brace, and one behind each member.
    let leftBytes = untrackedMax - 1
    for (const channel of this.#channels) {
      const member = this.#member(channel)
      const bytes = Buffer.byteLength(member ?? '') + 1
      if (member === undefined || bytes > leftBytes) {
        leftOut(channel)
      } else if (member !== '') {
        leftBytes -= bytes
        members.push(member)
      }
    }
    return members.length === 0 ? {} : { untracked: `{${members.join(',')}}` }
  }

  #see({ namespace, mode, payload }: Chunk): void {
    if (mode !== 'values' || namespace.length > 0 || interruptsOf(payload)) return
    this.#state = payload as Readonly<Record<string, unknown>>
  }

  /** One member of the object. Empty if the channel has no value, undefined if JSON has none. */
  #member(channel: string): JsonText | undefined {
    try {
      return this.#options.text({ [channel]: this.#state[channel] }).slice(1, -1)
    } catch {
      return undefined
    }
  }
}

/**
 * Adds the values that no checkpoint contains to the values of a checkpoint. Both are JSON objects.
 */
export function withUntracked(values: JsonText, untracked: JsonText | undefined): JsonText {
  if (untracked === undefined) return values
  if (!values.startsWith('{') || values === '{}') return untracked
  // The engine restores an initial value of an untracked channel: the value of the run replaces it.
  const added = objectIn(untracked)
  const mayRepeat = Object.keys(added).some((name) => values.includes(`${JSON.stringify(name)}:`))
  if (mayRepeat) return JSON.stringify({ ...objectIn(values), ...added })
  return `${values.slice(0, -1)},${untracked.slice(1)}`
}

/**
 * True for the JSON of an object within the limit. It is stored and becomes part of results, and
 * code of a project may have made it.
 */
export function isUntrackedJson(json: unknown): json is JsonText {
  if (typeof json !== 'string' || Buffer.byteLength(json) > untrackedMax) return false
  try {
    return json.startsWith('{') && isObject(valueIn(json))
  } catch {
    return false
  }
}
