/** Writes of tasks on a checkpoint, until the next checkpoint includes them. */

import type { CheckpointPendingWrite, PendingWrite } from '@langchain/langgraph-checkpoint'

import type { Write, Writes } from '../../../proto/gen/storage/v1/log.ts'
import type { Value } from '../../../proto/gen/storage/v1/value.ts'
import { memberOf, textAt, valueIn } from '../../json/index.ts'
import { EffectNotes } from './effect-notes.ts'
import { messageOf, nameOf } from '../project/thrown.ts'
import type { Decode, Encode, ValueCodec } from './value-codec.ts'

/** The engine's special channels have fixed indexes, below zero. */
const specialIndex: ReadonlyMap<string, number> = new Map([
  ['__error__', -1],
  ['__scheduled__', -2],
  ['__interrupt__', -3],
  ['__resume__', -4],
])

/** Channels that the engine writes for a task that is not done. */
export const leavesTaskOpen: ReadonlySet<string> = new Set(['__error__', '__interrupt__',
  '__resume__', '__scheduled__', '__error_source_node__'])

/** The engine's task id for a run's own input, such as an answer that names no interrupt. */
export const nullTask = '00000000-0000-0000-0000-000000000000'

/** Ids of the interrupts that a task raised; null if it neither raised nor resumed one. */
export function askedIn({ taskId, writes }: Writes): string[] | null {
  const isNoticed = ({ channel }: Write) => channel === '__interrupt__' || channel === '__resume__'
  if (taskId === nullTask || !writes.some(isNoticed)) return null
  return writes.flatMap(({ channel, value }) => (channel === '__interrupt__' && value
    ? [valueIn(value.json || 'null')].flat()
    : [])
  )
    .flatMap((question) => textAt(question, 'id') ?? [])
}

/** The writes without an answer that names no interrupt. */
export function withoutAnswer(writes: readonly CheckpointPendingWrite[]): CheckpointPendingWrite[] {
  return writes.filter(([task, channel]) => task !== nullTask || channel !== '__resume__')
}

/** The writes without what a command wrote. */
export function tasksOnly(
  writes: readonly CheckpointPendingWrite[] = [],
): CheckpointPendingWrite[] {
  return writes.filter(([task]) => task !== nullTask)
}

/** True if a task failed with these writes. The answer among them is not kept. */
function failedWith(channels: readonly unknown[]): boolean {
  return channels.includes('__error__')
}

/** Channels on which a task shows that it had the answer to its question. */
const showsAnswered: ReadonlySet<string> = new Set(['__resume__', '__interrupt__', '__error__'])

interface KnownWrite {
  readonly taskId: string
  readonly taskPath: string
  readonly channel: string
  live: unknown
  /** Stored value of a live one that came from the graph, which may hold it elsewhere too. */
  shared: Value | undefined
}

/** The part of a task's writes that has to be stored. */
interface Taken {
  readonly taken: Write[]
  /** Set if the writes are not complete yet. Resolves with what has to be stored instead. */
  readonly later?: Promise<Write[]>
  /** Rejects if something that the task wrote cannot be stored. */
  readonly whole?: Promise<void>
}

/** The error in the form in which the engine stores errors of tasks. */
function errorOf(reason: unknown): { name: string; message: string } {
  return { name: reason instanceof Error ? nameOf(reason) : 'Error',
    message: `What the node returned cannot be stored: ${messageOf(reason)}` }
}

/** The task that wrote. Engines before 1.5 do not give its path. */
export type Writer = Pick<Writes, 'taskId' | 'taskPath'>

/**
 * The writes on one checkpoint. The first write at each index of a task stays, so that a task that
 * runs twice has one result. A write on a special channel is replaced. An answer is used once: one
 * that names no interrupt is left out as soon as a task had it, and a task that fails keeps only
 * the answers before that.
 */
export class PendingWrites {
  readonly #writes = new Map<string, KnownWrite>()
  /** True if a task has had the answer that names no interrupt. */
  #answerUsed = false
  #effects: EffectNotes | undefined

  /** The writes as read from the log, which may have several at one index. */
  static async of(stored: readonly Writes[], decode: Decode): Promise<PendingWrites> {
    const pending = new PendingWrites()
    pending.#effects = EffectNotes.of(stored)
    for (const { taskId, taskPath = '', writes, effect } of stored) {
      // A decision about an effect has used the resume value, although no task has written it.
      if (effect?.note?.$case === 'decided' && !effect.removed) pending.#answerUsed = true
      const failed = failedWith(writes.map(({ channel }) => channel))
      for (const { index, channel, value } of writes) {
        if (!value || !pending.#admits(taskId, index, channel, failed)) continue
        const live = await decode(value)
        pending.#writes.set(placeOf(taskId, index), { taskId, taskPath, channel, live,
          shared: undefined })
      }
    }
    return pending
  }

  /** Adds what a task wrote and returns the part that has to be stored. Adds all or nothing. */
  add({ taskId, taskPath = '' }: Writer, writes: readonly PendingWrite[], encode: Encode): Write[] {
    const added: Write[] = []
    const known: KnownWrite[] = []
    const failed = failedWith(writes.map(([name]) => name))
    for (const [position, [name, live]] of writes.entries()) {
      const channel = String(name)
      const index = specialIndex.get(channel) ?? position
      if (!this.#admits(taskId, index, channel, failed)) continue
      const { value } = encode(live)
      known.push({ taskId, taskPath, channel, live, shared: value })
      added.push({ index, channel, value })
    }
    for (const [i, { index }] of added.entries()) {
      this.#writes.set(placeOf(taskId, index), known[i]!)
    }
    return added
  }

  /** As `add`, but if the writes cannot be stored, an error of the task takes their place. */
  take(writer: Writer, writes: readonly PendingWrite[], codec: Pick<ValueCodec, 'encode'>): Taken {
    const serializing: Promise<void>[] = []
    const encode: Encode = (value) => codec.encode(value, (done) => void serializing.push(done))
    try {
      const taken = this.add(writer, writes, encode)
      if (serializing.length === 0) return { taken }
      const whole = Promise.all(serializing).then(() => {})
      return { taken, whole, later: whole.then(() =>
        taken, (reason: unknown) => this.#fail(writer, reason, encode)) }
    } catch (reason) {
      return { taken: this.#fail(writer, reason, encode), whole: Promise.reject(reason) }
    }
  }

  #fail(writer: Writer, reason: unknown, encode: Encode): Write[] {
    for (const [place, { taskId, channel }] of this.#writes) {
      if (taskId === writer.taskId && !showsAnswered.has(channel)) this.#writes.delete(place)
    }
    return this.add(writer, [['__error__', errorOf(reason)]], encode)
  }

  /** The effects of the tasks. The engine is not given them: it would take the tasks for done. */
  get effects(): EffectNotes {
    return this.#effects ??= new EffectNotes()
  }

  /** Answers that a task has had to questions of its node. */
  answered(taskId: string): number {
    const answers = this.#writes.get(placeOf(taskId, specialIndex.get('__resume__')!))?.live
    return Array.isArray(answers) ? answers.length : 0
  }

  /** The value of the last interrupt that a task raised; undefined if it raised none. */
  asked(taskId: string): unknown {
    const raised = this.#writes.get(placeOf(taskId, specialIndex.get('__interrupt__')!))?.live
    return memberOf([raised].flat().at(-1), 'value')
  }

  /** Patterns of the HTTP calls that tasks without a result have started as effects. */
  get openCalls(): readonly string[] {
    if (this.#effects === undefined || this.#effects.isEmpty) return []
    const done = [...this.#writes.values()]
      .flatMap(({ taskId, channel }) => leavesTaskOpen.has(channel) ? [] : [taskId])
    return this.#effects.callsWithout(new Set(done))
  }

  /** True if the tasks have written nothing but interrupts, and have no effects. */
  get areQuestions(): boolean {
    return this.#effects?.isEmpty !== false
      && [...this.#writes.values()].every(({ channel }) => channel === '__interrupt__')
  }

  /** The tasks that failed. */
  get thrown(): string[] {
    return [...this.#writes.values()].flatMap(({ taskId, channel }) =>
      channel === '__error__' ? [taskId] : []
    )
  }

  /** The writes in the order in which a step applies them: by task, then as they were added. */
  tuples(): CheckpointPendingWrite[] {
    const tuples = [...this.#writes.values()]
      .sort((a, b) => compare(a.taskPath, b.taskPath) || compare(a.taskId, b.taskId))
      .map(({ taskId, channel, live }): CheckpointPendingWrite => [taskId, channel, live])
    return this.#answerUsed ? withoutAnswer(tuples) : tuples
  }

  /** Replaces values that came from the graph by what decoding gives. */
  async settle(decode: Decode): Promise<void> {
    for (const write of this.#writes.values()) {
      if (write.shared) write.live = await decode(write.shared)
      write.shared = undefined
    }
  }

  /** True if the write counts. `failed` says that its task failed. */
  #admits(taskId: string, index: number, channel: string, failed: boolean): boolean {
    if (index >= 0) return !this.#writes.has(placeOf(taskId, index))
    if (showsAnswered.has(channel)) this.#answerUsed = taskId !== nullTask
    return !(failed && channel === '__resume__')
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function placeOf(taskId: string, index: number): string {
  return `${taskId}\n${index}`
}
