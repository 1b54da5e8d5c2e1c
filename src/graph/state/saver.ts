/** The engine's checkpointer: turns what it saves into steps of the thread's log. */

import type { RunnableConfig } from '@langchain/core/runnables'
import type { BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointListOptions,
  CheckpointMetadata, CheckpointPendingWrite, CheckpointTuple, DeltaChannelHistory, PendingWrite,
  SerializerProtocol } from '@langchain/langgraph-checkpoint'

import { HeddleError } from '../../errors.ts'
import type { CheckpointSource } from '../execution.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import type { ChannelUpdates } from './channel-updates.ts'
import { CheckpointWrites } from './checkpoint-writes.ts'
import { deltaHistory, writesOn } from './delta-history.ts'
import type { EffectBases } from './effect-notes.ts'
import { KnownCheckpoints } from './known-checkpoints.ts'
import { nextState, writtenValues } from './next-state.ts'
import { OwnLine } from './own-line.ts'
import { interruptChannel, QuestionAskers } from './question-askers.ts'
import type { ChannelValues } from './state-delta.ts'
import type { StepSink } from './step-sink.ts'
import type { LiveCheckpoint, Skeleton, ThreadMemory } from './thread-memory.ts'
import type { Decode, Encode, ValueCodec } from './value-codec.ts'

/** Options of the saver of one execution, which reads from `source` and writes steps to `sink`. */
export interface SaverOptions {
  readonly threadId: string
  /** The run that writes; empty for an edit. */
  readonly runId: string
  readonly codec: ValueCodec
  readonly serde: SerializerProtocol
  readonly source: CheckpointSource
  readonly sink: StepSink
  readonly memory: ThreadMemory
  /** Merged into every checkpoint's metadata, without `thread_id`. The engine's own wins. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** Filter of the pending writes that the engine gets with a checkpoint; all by default. */
  readonly pending?: (writes: CheckpointPendingWrite[]) => CheckpointPendingWrite[]
  /** True if a step ends only when it is in the log. */
  readonly sync: boolean
  /** True if the engine expects Sends beside the channels of a checkpoint, not in one of them. */
  readonly sendsApart?: boolean
  /** Called with what a task wrote, before that is encoded. */
  readonly written: (channel: string, value: unknown) => void
  /** Called with the error of a task that failed. Returns what is stored of it. */
  readonly failed?: ((taskId: string, error: unknown) => unknown) | undefined
  /** Known if the engine's reducers are watched. */
  readonly updates?: ChannelUpdates
  /** Gets the checkpoints with their notes on effects; missing if they are of no interest. */
  readonly effects?: EffectBases | undefined
  /** Called at every call, as the execution's code is running then. */
  readonly entered: () => void
  /** Called with the values of root checkpoints as the engine's channels hold them. */
  readonly seen: (checkpointId: string, values: ChannelValues, isLoaded: boolean) => void
}

type Configurable = Record<string, unknown>

const tasksChannel = '__pregel_tasks'
const errorChannel = '__error__'

/** Serves one execution on one thread, in the shape of the engine's BaseCheckpointSaver. */
export class HeddleSaver implements BaseCheckpointSaver {
  readonly serde: SerializerProtocol
  /** The subgraphs whose questions were read or written. */
  readonly askers = new QuestionAskers()
  readonly #options: SaverOptions
  readonly #encode: Encode
  readonly #known: KnownCheckpoints
  readonly #writes: CheckpointWrites
  readonly #line: OwnLine
  #ended = false
  #rootWrites: LiveCheckpoint['writes'] | undefined

  constructor(options: SaverOptions) {
    const { codec, sink, source, memory } = options
    this.#options = options
    this.serde = options.serde
    this.#encode = (value) => codec.encode(value, (done) => sink.hold(done))
    const decode: Decode = (value) => codec.decode(value)
    this.#known = new KnownCheckpoints({ memory, source, sink, decode })
    this.#writes = new CheckpointWrites(memory)
    this.#line = new OwnLine(this.#known)
  }

  /**
   * True if tasks of the root checkpoint that was read last have left more than interrupts:
   * results, resume values, notes on effects, or checkpoints of subgraphs.
   */
  get isMidStep(): boolean {
    const hasSubgraphs = [...this.#options.memory.newest.keys()].some((ns) => ns !== '')
    return hasSubgraphs || this.#rootWrites?.areQuestions === false
  }

  /** For configs that are written as JSON. */
  toJSON(): string {
    return '[HeddleSaver]'
  }

  /** Refuses writes from now on, because code may outlive its execution. */
  retire(): void {
    this.#ended = true
  }

  getNextVersion(current: number | undefined): number {
    return current === undefined ? 1 : current + 1
  }

  async get(config: RunnableConfig): Promise<Checkpoint | undefined> {
    return (await this.getTuple(config))?.checkpoint
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const configurable = this.#enter(config)
    if (configurable.thread_id === undefined) return undefined
    const ns = text(configurable.checkpoint_ns)
    const id = text(configurable.checkpoint_id) || text(configurable.thread_ts) || null
    const live = await this.#known.find(ns, id)
    return live && this.#tuple(ns, live)
  }

  async *list(config: RunnableConfig,
    options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { checkpoint_ns: named, checkpoint_id: id } = this.#enter(config)
    const ns = named === undefined ? null : text(named)
    const checkpointId = text(id) || null
    // The filter is posted to another thread. If it cannot be cloned, this must fail here.
    const filter = structuredClone(options.filter ?? null)
    const before = text(options.before?.configurable?.checkpoint_id) || null
    const query = { ns, checkpointId, before, limit: options.limit ?? null, filter }
    for await (const listed of this.#known.list(query)) yield this.#tuple(listed.ns, listed.live)
  }

  async put(config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata,
    newVersions: ChannelVersions): Promise<RunnableConfig> {
    const configurable = this.#enterToWrite(config)
    const ns = text(configurable.checkpoint_ns)
    const parentId = text(configurable.checkpoint_id)
    const { id, v, ts, channel_values: all, channel_versions, versions_seen } = checkpoint
    // With durability exit the engine saves at the end, even if no step was made.
    if (id === parentId) return this.#configOf(ns, id)
    const skeleton: Skeleton = { v, ts, channel_versions, versions_seen }
    const described = this.#describe(metadata)
    const values = parentId !== '' || metadata.source === 'fork'
      ? all
      : writtenValues(all, channel_versions, newVersions)
    const { memory, seen, sink, sync, runId, updates } = this.#options
    this.#line.noteParent(memory, ns, parentId)
    const byTasks = ns !== '' || metadata.source !== 'input'
    const { full, changes, ...state } = nextState(memory, { ns, parentId, values, newVersions,
      byTasks }, this.#encode, updates)
    const writes = this.#writes.adopt(ns, id)
    memory.newest.set(ns, { id, parentId, skeleton, metadata: described, writes, ...state })
    if (ns === '') {
      memory.empty = false
      seen(id, all, false)
    }
    forgetTasks(memory, ns)
    sink.step({ $case: 'checkpoint', value: {
      ns,
      id,
      parentId,
      full,
      changes,
      runId,
      atMs: Date.parse(ts),
      skeletonJson: JSON.stringify(skeleton),
      metadataJson: JSON.stringify(described),
    } })
    // A fork does not wait: its tasks would write before their checkpoint is put.
    this.#options.effects?.put(ns, id, writes)
    if (sync && metadata.source !== 'fork') await sink.acknowledged()
    return this.#configOf(ns, id)
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string,
    taskPath?: string): Promise<void> {
    const { checkpoint_ns: given, checkpoint_id: id } = this.#enterToWrite(config)
    const [ns, checkpointId] = [text(given), text(id)]
    if (checkpointId === '') throw new Error('writes belong to a checkpoint: name checkpoint_id')
    const { codec, sink, sync, written } = this.#options
    const placed = this.#withErrors(taskId, writes)
    for (const [channel, value] of placed) {
      written(String(channel), value)
      if (ns !== '' && channel === interruptChannel) this.askers.see(ns, value)
    }
    const writer = { taskId, ...taskPath && { taskPath } }
    const { taken, later, whole } = this.#writes.of(ns, checkpointId).take(writer, placed, codec)
    if (taken.length === 0) return
    const value = { ns, checkpointId, ...writer, writes: taken }
    if (later)
      sink.hold(later.then((complete) => {
        value.writes = complete
      }))
    sink.step({ $case: 'writes', value })
    if (whole) await whole
    if (sync) await sink.acknowledged()
  }

  /** Throws: a thread is deleted by its owner, never from within a graph. */
  async deleteThread(): Promise<void> {
    throw new HeddleError('unsupported', 'A graph cannot delete its own thread.')
  }

  /** The engine calls this for every DeltaChannel that a checkpoint does not hold. */
  async getDeltaChannelHistory(
    { config, channels }: { config: RunnableConfig; channels: string[] },
  ): Promise<Record<string, DeltaChannelHistory>> {
    this.#options.entered()
    const { checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {}
    return deltaHistory(channels, this.#line.ancestors(text(ns), text(id) || null))
  }

  #enter({ configurable = {} }: RunnableConfig): Configurable {
    this.#options.entered()
    const { thread_id: threadId } = configurable as Configurable
    if (threadId !== undefined && threadId !== this.#options.threadId) {
      throw new HeddleError('unsupported', 'A graph can only read and write its own thread.')
    }
    return configurable
  }

  #enterToWrite(config: RunnableConfig): Configurable {
    if (this.#ended) throw new Error('the execution that this checkpointer belongs to is over')
    const configurable = this.#enter(config)
    if (configurable.thread_id === undefined) throw new Error('the config lacks a thread_id')
    return configurable
  }

  #withErrors(taskId: string, writes: PendingWrite[]): PendingWrite[] {
    const { failed } = this.#options
    if (failed === undefined || !writes.some(([channel]) => channel === errorChannel)) return writes
    return writes.map((
      [channel, value],
    ): PendingWrite => [channel, channel === errorChannel ? failed(taskId, value) : value])
  }

  /** A copy, since the engine may change all of it but the values. */
  async #tuple(ns: string, live: LiveCheckpoint): Promise<CheckpointTuple> {
    const { id, parentId, skeleton, metadata } = live
    const checkpoint: Checkpoint = {
      ...skeleton,
      id,
      channel_values: live.channels.values(),
      channel_versions: { ...skeleton.channel_versions },
      versions_seen: copyOf(skeleton.versions_seen),
    }
    if (this.#options.sendsApart || skeleton.v < 4) await this.#bringSends(ns, parentId, checkpoint)
    if (ns === '') {
      this.#options.seen(id, checkpoint.channel_values, true)
      this.#rootWrites = live.writes
    }
    this.#options.effects?.based(ns, id, live.writes)
    const writes = live.writes.tuples()
    if (ns !== '') this.askers.seeAll(ns, writes)
    const tuple: CheckpointTuple = {
      config: this.#configOf(ns, id),
      checkpoint,
      metadata: { ...metadata },
      pendingWrites: this.#options.pending?.(writes) ?? writes,
    }
    if (parentId !== '') tuple.parentConfig = this.#configOf(ns, parentId)
    return tuple
  }

  /** Adds Sends. Before version 4 of checkpoints, only the parent's writes held them. */
  async #bringSends(ns: string, parentId: string, checkpoint: Checkpoint): Promise<void> {
    const sends = await this.#sendsOn(ns, parentId)
    if (this.#options.sendsApart) {
      Object.assign(checkpoint, { pending_sends: sends })
    } else if (parentId !== '') {
      checkpoint.channel_values[tasksChannel] = sends
      const versions = Object.values(checkpoint.channel_versions).map(Number)
      checkpoint.channel_versions[tasksChannel] = Math.max(1, ...versions)
    }
  }

  async #sendsOn(ns: string, id: string): Promise<unknown[]> {
    const stored = id === '' ? undefined : await this.#known.stored(ns, id)
    return writesOn(tasksChannel, stored?.writes.tuples() ?? []).map(([, , send]) => send)
  }

  /** Leaves out the thread's id: checkpoints of a copied thread would name the original. */
  #describe(metadata: CheckpointMetadata): CheckpointMetadata {
    const described: CheckpointMetadata = { ...this.#options.metadata, ...metadata }
    delete (described as { thread_id?: unknown }).thread_id
    return described
  }

  #configOf(checkpoint_ns: string, checkpoint_id: string): RunnableConfig {
    return { configurable: { thread_id: this.#options.threadId, checkpoint_ns, checkpoint_id } }
  }
}

/** True for engines before 0.4, which have no channel for Sends. */
export function sendsApart({ channels }: Pick<ServedGraph, 'channels'>): boolean {
  return !(tasksChannel in channels)
}

/** Forgets subgraphs of a step that has ended. Their namespaces contain task ids. */
function forgetTasks({ newest }: ThreadMemory, ns: string): void {
  const above = ns === '' ? '' : `${ns}|`
  for (const each of newest.keys()) {
    if (each.startsWith(above) && each.includes(':', above.length)) newest.delete(each)
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function copyOf(seen: Skeleton['versions_seen']): Checkpoint['versions_seen'] {
  const copy: Checkpoint['versions_seen'] = {}
  for (const node in seen) copy[node] = { ...seen[node] }
  return copy
}
