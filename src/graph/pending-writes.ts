/** What tasks wrote on a checkpoint, before the checkpoint that will include it. */

import type { CheckpointPendingWrite, PendingWrite } from '@langchain/langgraph-checkpoint'

import type { Write, Writes } from '../../proto/gen/storage/v1/log.ts'
import type { Value } from '../../proto/gen/storage/v1/value.ts'
import type { Decode, Encode } from './state-delta.ts'

/** The engine's special channels have places of their own, below those of a task's writes. */
const specialIndex: ReadonlyMap<string, number> = new Map([
  ['__error__', -1], ['__scheduled__', -2], ['__interrupt__', -3], ['__resume__', -4],
])

/** Under this id stands what a run began with: its answer, unless that names the questions. */
const nullTask = '00000000-0000-0000-0000-000000000000'

/** The ids of the questions in what a task wrote; null where it neither asked nor was answered. */
export function askedIn({ taskId, writes }: Writes): string[] | null {
  const isHeard = ({ channel }: Write) => channel === '__interrupt__' || channel === '__resume__'
  if (taskId === nullTask || !writes.some(isHeard)) return null
  return writes.flatMap(({ channel, value }) => (channel === '__interrupt__' && value
    ? [JSON.parse(value.json || 'null') as { id?: string } | null].flat() : []))
    .flatMap((question) => question?.id ?? [])
}

/** Without an answer that was given to whoever asks next. */
export function withoutAnswer(writes: readonly CheckpointPendingWrite[]): CheckpointPendingWrite[] {
  return writes.filter(([task, channel]) => task !== nullTask || channel !== '__resume__')
}

interface KnownWrite {
  readonly taskId: string
  readonly channel: string
  live: unknown
  /** Set where reviving the stored value does not give the live one. */
  inexact: Value | undefined
}

/**
 * In the order in which they came. The first write at a task's place stays, so that a task which
 * runs twice has one result; a special one is replaced.
 */
export class PendingWrites {
  readonly #writes = new Map<string, KnownWrite>()

  /** As read from the log, where a place may stand more than once. */
  static async of(stored: readonly Writes[], decode: Decode): Promise<PendingWrites> {
    const pending = new PendingWrites()
    for (const { taskId, writes } of stored) {
      for (const { index, channel, value } of writes) {
        if (!value || !pending.#isOpen(taskId, index)) continue
        const live = await decode(value)
        pending.#writes.set(placeOf(taskId, index), { taskId, channel, live, inexact: undefined })
      }
    }
    return pending
  }

  /** Adds what a task wrote and returns what is to be stored of it. */
  add(taskId: string, writes: readonly PendingWrite[], encode: Encode): Write[] {
    const added: Write[] = []
    for (const [position, [name, live]] of writes.entries()) {
      const channel = String(name)
      const index = specialIndex.get(channel) ?? position
      if (!this.#isOpen(taskId, index)) continue
      const { value, exact } = encode(live)
      const inexact = exact ? undefined : value
      this.#writes.set(placeOf(taskId, index), { taskId, channel, live, inexact })
      added.push({ index, channel, value })
    }
    return added
  }

  /** As the engine has them. */
  tuples(): CheckpointPendingWrite[] {
    return [...this.#writes.values()].map(({ taskId, channel, live }) => [taskId, channel, live])
  }

  get inexact(): boolean {
    for (const write of this.#writes.values()) if (write.inexact) return true
    return false
  }

  /** Replaces inexact values by what the log would give. */
  async settle(decode: Decode): Promise<void> {
    for (const write of this.#writes.values()) {
      if (write.inexact) write.live = await decode(write.inexact)
      write.inexact = undefined
    }
  }

  #isOpen(taskId: string, index: number): boolean {
    return index < 0 || !this.#writes.has(placeOf(taskId, index))
  }
}

function placeOf(taskId: string, index: number): string {
  return `${taskId}\n${index}`
}
