/** Our saver for the validation suite: for many threads, each with a log of its own. */

import type { RunnableConfig } from '@langchain/core/runnables'
import type { ChannelVersions, Checkpoint, CheckpointListOptions, CheckpointMetadata,
  CheckpointTuple, PendingWrite } from '@langchain/langgraph-checkpoint'
import { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import * as messages from '@langchain/core/messages'

import type { CheckpointSource, Step } from '../../src/graph/execution.ts'
import { HeddleSaver } from '../../src/graph/state/saver.ts'
import { ValueCodec } from '../../src/graph/state/value-codec.ts'

/** A thread's log, over any store. */
export interface SuiteLog {
  readonly source: CheckpointSource
  append(steps: readonly Step[]): Promise<void> | void
  delete?(): Promise<void> | void
}

/**
 * How savers are made. A `forgetful` one keeps nothing between calls, so that every read comes from
 * the log.
 */
export interface SuiteOptions {
  readonly openLog: (threadId: string) => SuiteLog
  readonly forgetful: boolean
}

/** A saver for all threads of the suite. */
export class ValidatedSaver extends BaseCheckpointSaver {
  readonly #options: SuiteOptions
  readonly #logs = new Map<string, SuiteLog>()
  readonly #savers = new Map<string, HeddleSaver>()

  constructor(options: SuiteOptions) {
    super()
    this.#options = options
  }

  getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#of(config).getTuple(config)
  }

  async *list(config: RunnableConfig,
    options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    const named = config.configurable?.thread_id as string | undefined
    const threads = named === undefined ? [...this.#logs.keys()] : [named]
    let left = options?.limit ?? Number.POSITIVE_INFINITY
    for (const thread_id of threads) {
      const inThread = { configurable: { ...config.configurable, thread_id } }
      for await (const tuple of this.#of(inThread).list(inThread, options)) {
        if (left-- <= 0) return
        yield tuple
      }
    }
  }

  put(config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata,
    newVersions: ChannelVersions): Promise<RunnableConfig> {
    return this.#of(config).put(config, checkpoint, metadata, newVersions)
  }

  putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return this.#of(config).putWrites(config, writes, taskId)
  }

  async deleteThread(threadId: string): Promise<void> {
    await this.#logs.get(threadId)?.delete?.()
    this.#logs.delete(threadId)
    this.#savers.delete(threadId)
  }

  override getDeltaChannelHistory(options: Parameters<HeddleSaver['getDeltaChannelHistory']>[0]) {
    return this.#of(options.config).getDeltaChannelHistory(options)
  }

  #of({ configurable }: RunnableConfig): HeddleSaver {
    const threadId = String(configurable?.thread_id)
    const known = this.#options.forgetful ? undefined : this.#savers.get(threadId)
    const saver = known ?? this.#make(threadId)
    this.#savers.set(threadId, saver)
    return saver
  }

  #make(threadId: string): HeddleSaver {
    const log = this.#logs.get(threadId) ?? this.#options.openLog(threadId)
    this.#logs.set(threadId, log)
    const { serde } = this
    const sink = new SteadySink(log)
    return new HeddleSaver({
      threadId,
      runId: '',
      serde,
      codec: new ValueCodec(messages, serde),
      source: log.source,
      sink,
      memory: { newest: new Map(), empty: false },
      metadata: {},
      sync: true,
      entered: () => {},
      seen: () => {},
      written: () => {},
    })
  }
}

/** Appends each step before the call that reported it returns. */
class SteadySink {
  readonly #log: SuiteLog
  #steps: Step[] = []
  #held: Promise<void>[] = []

  constructor(log: SuiteLog) {
    this.#log = log
  }

  step(step: Step): void {
    this.#steps.push(step)
  }
  hold(done: Promise<void>): void {
    this.#held.push(done)
  }

  async acknowledged(): Promise<void> {
    const [steps, held] = [this.#steps, this.#held]
    this.#steps = []
    this.#held = []
    await Promise.all(held)
    await this.#log.append(steps)
  }
}
