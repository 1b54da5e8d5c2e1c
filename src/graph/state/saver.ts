/** The engine's checkpointer: turns what it saves into steps of the thread's log. */

import type { RunnableConfig } from '@langchain/core/runnables'
import type { BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointListOptions,
  CheckpointMetadata, CheckpointPendingWrite, CheckpointTuple, DeltaChannelHistory, PendingWrite,
  SerializerProtocol } from '@langchain/langgraph-checkpoint'

import { changesBytes, stepBytes } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { CheckpointSource, Step, StoredTuple } from '../execution.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import type { ChannelUpdates } from './channel-updates.ts'
import { deltaHistory, writesOn } from './delta-history.ts'
import type { Ancestor } from './delta-history.ts'
import { PendingWrites } from './pending-writes.ts'
import { KnownChannels } from './state-delta.ts'
import type { ChannelValues } from './state-delta.ts'
import { liveCheckpoint } from './thread-memory.ts'
import type { LiveCheckpoint, Skeleton, ThreadMemory } from './thread-memory.ts'
import type { Decode, Encode, ValueCodec } from './value-codec.ts'

/** Takes steps in order, and reports when they are in the log. */
export interface StepSink {
  /** Takes the next step. */
  step(step: Step): void
  /** Tells that the steps given so far are complete only when `done` resolves. */
  hold(done: Promise<void>): void
  /** Resolves when every step given so far is in the log. */
  acknowledged(): Promise<void>
}

/** Where the saver of one execution reads (`source`), and where its steps go (`sink`). */
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
  /** What the engine gets of the writes that wait on a checkpoint; all by default. */
  readonly pending?: (writes: CheckpointPendingWrite[]) => CheckpointPendingWrite[]
  /** True if a step ends only when it is in the log. */
  readonly sync: boolean
  /** True if the engine expects Sends beside the channels of a checkpoint, not in one of them. */
  readonly sendsApart?: boolean
  /** Called with what a task wrote, before that is encoded. */
  readonly written: (channel: string, value: unknown) => void
  /** Known if the engine's reducers are watched. */
  readonly updates?: ChannelUpdates
  /** Called at every call, as the execution's code is running then. */
  readonly entered: () => void
  /** Called with the values of root checkpoints as the engine's channels hold them. */
  readonly seen: (checkpointId: string, values: ChannelValues, isLoaded: boolean) => void
}

type Configurable = Record<string, unknown>

/** A checkpoint that was put or written on here. The log may lack a part of it. */
interface OwnCheckpoint {
  readonly parentId: string
  readonly values: ChannelValues
  readonly writes: PendingWrites
}

const tasksChannel = '__pregel_tasks'
/** Bytes of changes, at least, after which a full checkpoint is due; also at least its own size. */
const fullEveryBytes = 64 * 1024
const pageSize = 64

/** Serves one execution on one thread, in the shape of the engine's BaseCheckpointSaver. */
export class HeddleSaver implements BaseCheckpointSaver {
  readonly serde: SerializerProtocol
  readonly #options: SaverOptions
  readonly #encode: Encode
  readonly #decode: Decode
  /** Writes on checkpoints that are not the newest, or not put yet. */
  readonly #strayWrites = new Map<string, PendingWrites>()
  /** Filled once the engine has asked for the history of DeltaChannels. */
  #ownLine: Map<string, OwnCheckpoint> | undefined
  #ended = false

  constructor(options: SaverOptions) {
    const { codec, sink } = options
    this.#options = options
    this.serde = options.serde
    this.#encode = (value) => codec.encode(value, (done) => sink.hold(done))
    this.#decode = (value) => codec.decode(value)
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
    const live = await this.#checkpoint(ns, id)
    return live && this.#tuple(ns, live)
  }

  async *list(config: RunnableConfig,
    options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { checkpoint_ns: named, checkpoint_id: id } = this.#enter(config)
    const ns = named === undefined ? null : text(named)
    const checkpointId = text(id) || null
    // The filter is posted to another thread. If it cannot be cloned, this must fail here.
    const filter = structuredClone(options.filter ?? null)
    let before = text(options.before?.configurable?.checkpoint_id) || null
    let left = options.limit ?? Number.POSITIVE_INFINITY
    while (left > 0) {
      const limit = Math.min(left, pageSize)
      const query = { ns, checkpointId, before, limit, filter }
      const page = await this.#read((source) => source.list(query))
      for (const stored of page) yield this.#tuple(stored.ns, await this.#live(stored))
      if (page.length < limit) return
      left -= page.length
      before = page.at(-1)!.id
    }
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
    const values = parentId !== '' || metadata.source === 'fork' ?
      all
      : writtenValues(all, channel_versions, newVersions)
    this.#noteParent(ns, parentId)
    const { full, changes, ...state } = this.#nextState(ns, parentId, values, newVersions,
      ns !== '' || metadata.source !== 'input')
    const writes = this.#adoptWrites(ns, id)
    const { memory, seen, sink, sync, runId } = this.#options
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
    if (sync && metadata.source !== 'fork') await sink.acknowledged()
    return this.#configOf(ns, id)
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string,
    taskPath?: string): Promise<void> {
    const { checkpoint_ns: given, checkpoint_id: id } = this.#enterToWrite(config)
    const [ns, checkpointId] = [text(given), text(id)]
    if (checkpointId === '') throw new Error('writes belong to a checkpoint: name checkpoint_id')
    const { codec, sink, sync, written } = this.#options
    for (const [channel, value] of writes) written(String(channel), value)
    const writer = { taskId, ...taskPath && { taskPath } }
    const { taken, later, whole } = this.#writesOf(ns, checkpointId).take(writer, writes, codec)
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
    this.#ownLine ??= new Map()
    return deltaHistory(channels, this.#ancestors(config))
  }

  /** Newest first: only ancestors of the given checkpoint, none of other forks. */
  async *#ancestors({ configurable = {} }: RunnableConfig): AsyncGenerator<Ancestor> {
    const ns = text(configurable.checkpoint_ns)
    let wanted = (await this.#checkpoint(ns, text(configurable.checkpoint_id) || null))?.parentId
    // First those of this execution: the log may lack some of them.
    for (let own; (own = this.#ownLine?.get(keyOf(ns, wanted ?? ''))); wanted = own.parentId) {
      yield { values: own.values, writes: own.writes.tuples() }
    }
    if (!wanted) return
    const parent = await this.#checkpoint(ns, wanted)
    if (!parent) return
    yield { values: parent.channels.values(), writes: parent.writes.tuples() }
    wanted = parent.parentId
    if (wanted === '') return
    // Read only if the parent was not enough.
    const { threadId } = this.#options
    const older = this.list({ configurable: { thread_id: threadId, checkpoint_ns: ns } }, {
      before: this.#configOf(ns, parent.id),
    })
    for await (const { checkpoint, pendingWrites = [], parentConfig } of older) {
      if (checkpoint.id !== wanted) continue
      yield { values: checkpoint.channel_values, writes: pendingWrites }
      wanted = text(parentConfig?.configurable?.checkpoint_id)
      if (wanted === '') return
    }
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

  /** A checkpoint from memory or from the log; the newest of the namespace if `id` is null. */
  async #checkpoint(ns: string, id: string | null): Promise<LiveCheckpoint | undefined> {
    const { memory } = this.#options
    const known = memory.newest.get(ns)
    if (known && (id === null || id === known.id)) return known
    if (id === null && ns === '' && memory.empty) return undefined
    const stored = await this.#read((source) => source.tuple(ns, id))
    if (!stored) return undefined
    const live = await this.#live(stored)
    // A newer one may have been put while this one was read.
    if (stored.newest && !memory.newest.has(ns)) memory.newest.set(ns, live)
    return live
  }

  /** Reads when everything that this execution wrote is in the log. */
  async #read<T>(read: (source: CheckpointSource) => Promise<T>): Promise<T> {
    await this.#options.sink.acknowledged()
    return read(this.#options.source)
  }

  #live(stored: StoredTuple): Promise<LiveCheckpoint> {
    return liveCheckpoint(stored, this.#decode)
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
    if (ns === '') this.#options.seen(id, checkpoint.channel_values, true)
    const writes = live.writes.tuples()
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
    const stored = id === '' ? undefined : await this.#read((source) => source.tuple(ns, id))
    const writes = stored ? (await this.#live(stored)).writes.tuples() : []
    return writesOn(tasksChannel, writes).map(([, , send]) => send)
  }

  /** The channels after a checkpoint, as changes if its parent is the newest known one. */
  #nextState(ns: string, parentId: string, values: ChannelValues, newVersions: ChannelVersions,
    byTasks: boolean) {
    const { memory: { newest }, updates } = this.#options
    const parent = newest.get(ns)
    if (parent === undefined || parent.id !== parentId
      || parent.deltaBytes >= Math.max(fullEveryBytes, parent.fullBytes)) {
      const channels = new KnownChannels()
      const changes = channels.restate(values, this.#encode)
      return { full: true, changes, channels, deltaBytes: 0, fullBytes: changesBytes(changes) }
    }
    const { channels, fullBytes } = parent
    // If a value cannot be stored, the parent is read from the log again.
    newest.delete(ns)
    const changes = channels.advance(values, {
      byTasks,
      isNew: (channel) => Object.hasOwn(newVersions, channel),
      updates: (list, base) => updates?.between(list, base),
    }, this.#encode)
    newest.set(ns, parent)
    const deltaBytes = parent.deltaBytes + stepBytes(changes)
    return { full: false, changes, channels, deltaBytes, fullBytes }
  }

  /** Keeps the parent for a DeltaChannel's history, as the log may not have its writes yet. */
  #noteParent(ns: string, id: string): void {
    const parent = this.#options.memory.newest.get(ns)
    if (!this.#ownLine || parent?.id !== id || this.#ownLine.has(keyOf(ns, id))) return
    const { parentId, channels, writes } = parent
    this.#ownLine.set(keyOf(ns, id), { parentId, values: channels.values(), writes })
  }

  #writesOf(ns: string, checkpointId: string): PendingWrites {
    const newest = this.#options.memory.newest.get(ns)
    if (newest?.id === checkpointId) return newest.writes
    const stray = this.#strayWrites.get(keyOf(ns, checkpointId)) ?? new PendingWrites()
    this.#strayWrites.set(keyOf(ns, checkpointId), stray)
    return stray
  }

  /** The engine may put a task's writes before the checkpoint that they belong to. */
  #adoptWrites(ns: string, checkpointId: string): PendingWrites {
    const stray = this.#strayWrites.get(keyOf(ns, checkpointId))
    this.#strayWrites.delete(keyOf(ns, checkpointId))
    return stray ?? new PendingWrites()
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

function keyOf(ns: string, checkpointId: string): string {
  return `${ns}\n${checkpointId}`
}

function copyOf(seen: Skeleton['versions_seen']): Checkpoint['versions_seen'] {
  const copy: Checkpoint['versions_seen'] = {}
  for (const node in seen) copy[node] = { ...seen[node] }
  return copy
}

/**
 * Values of a checkpoint without a parent: what was written, and defaults, which never had a
 * version. The engine leaves a channel out of `newVersions` if an ancestor holds the value.
 */
function writtenValues(values: ChannelValues, versions: ChannelVersions,
  news: ChannelVersions): ChannelValues {
  return Object.fromEntries(
    Object.entries(values).filter(([channel]) => channel in news || !(channel in versions)),
  )
}
