/** The engine's checkpointer: turns what it saves into steps of the thread's log. */

import type { RunnableConfig } from '@langchain/core/runnables'
import type { BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointListOptions,
  CheckpointMetadata, CheckpointPendingWrite, CheckpointTuple, DeltaChannelHistory, PendingWrite,
  SerializerProtocol } from '@langchain/langgraph-checkpoint'

import { changesBytes } from '../checkpoint/index.ts'
import { HeddleError } from '../errors.ts'
import type { CheckpointSource, Step, StoredTuple } from './execution.ts'
import { PendingWrites } from './pending-writes.ts'
import type { ChannelValues, Decode, Encode } from './state-delta.ts'
import { KnownChannels } from './state-delta.ts'
import type { LiveCheckpoint, Skeleton, ThreadMemory } from './thread-memory.ts'
import { liveCheckpoint } from './thread-memory.ts'
import type { ValueCodec } from './value-codec.ts'

/** Where steps go: they are told in order, and to whoever asks when they are safe. */
export interface StepSink {
  step(step: Step): void
  /** The steps told so far are complete only when this resolves. */
  hold(done: Promise<void>): void
  /** Resolves when every step told so far is on disk, or soon will be read as if it were. */
  acknowledged(): Promise<void>
}

export interface SaverOptions {
  readonly threadId: string
  /** The run that writes; empty for an edit. */
  readonly runId: string
  readonly codec: ValueCodec
  readonly serde: SerializerProtocol
  readonly source: CheckpointSource
  readonly sink: StepSink
  readonly memory: ThreadMemory
  /** Under the engine's own metadata in every checkpoint, thread_id excepted. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** A step is over only when it is on disk. */
  readonly sync: boolean
  /** Told at every call: user code is about to go on. */
  readonly entered: () => void
  /** Told of the values of root checkpoints, as the engine's channels hold them. */
  readonly seen: (checkpointId: string, values: ChannelValues) => void
}

type Configurable = Record<string, unknown>

const tasksChannel = '__pregel_tasks'
/** A full checkpoint is due when the changes since the last one weigh as much, or this much. */
const fullEveryBytes = 64 * 1024
const pageSize = 64

/**
 * Of one execution on one thread. It has the shape of the engine's BaseCheckpointSaver, whose
 * class the engine never asks for.
 */
export class HeddleSaver implements BaseCheckpointSaver {
  readonly serde: SerializerProtocol
  readonly #options: SaverOptions
  readonly #encode: Encode
  readonly #decode: Decode
  /** Writes on checkpoints that are not the newest, or not put yet. */
  readonly #strayWrites = new Map<string, PendingWrites>()
  #over = false

  constructor(options: SaverOptions) {
    const { codec, sink } = options
    this.#options = options
    this.serde = options.serde
    this.#encode = (value) => codec.encode(value, (done) => sink.hold(done))
    this.#decode = (value) => codec.decode(value)
  }

  /** Keeps `JSON.stringify` of a config out of here. */
  toJSON(): string {
    return '[HeddleSaver]'
  }

  /** User code that outlives its execution must not write any more. */
  retire(): void {
    this.#over = true
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
    const ns = namespaceOf(configurable)
    const id = text(configurable.checkpoint_id) || text(configurable.thread_ts) || null
    const known = this.#options.memory.newest.get(ns)
    if (known && (id === null || id === known.id)) return this.#tuple(ns, known)
    if (id === null && ns === '' && this.#options.memory.empty) return undefined
    const stored = await this.#read((source) => source.tuple(ns, id))
    return stored && this.#tuple(ns, await this.#load(stored))
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}):
    AsyncGenerator<CheckpointTuple> {
    const configurable = this.#enter(config)
    const ns = configurable.checkpoint_ns === undefined ? null : text(configurable.checkpoint_ns)
    const checkpointId = text(configurable.checkpoint_id) || null
    const filter = options.filter ?? null
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
    const ns = namespaceOf(configurable)
    const parentId = text(configurable.checkpoint_id)
    const { id, v, ts, channel_values: all, channel_versions, versions_seen } = checkpoint
    const skeleton: Skeleton = { v, ts, channel_versions, versions_seen }
    const isNew = (channel: string) => channel in newVersions
    const values = parentId !== '' || metadata.source === 'fork' ? all
      : writtenValues(all, channel_versions, newVersions)
    const state = this.#nextState(ns, parentId, values, isNew)
    const stray = `${ns}\n${id}`
    const writes = this.#strayWrites.get(stray) ?? new PendingWrites()
    this.#strayWrites.delete(stray)
    const { memory, sink, runId } = this.#options
    const { full, changes, ...known } = state
    const described = this.#describe(metadata)
    memory.newest.set(ns, { id, parentId, skeleton, metadata: described, writes, ...known })
    if (ns === '') {
      memory.empty = false
      this.#options.seen(id, all)
    }
    sink.step({ $case: 'checkpoint', value: {
      ns, id, parentId, full, changes, runId, atMs: Date.parse(ts),
      skeletonJson: JSON.stringify(skeleton), metadataJson: JSON.stringify(described),
    } })
    if (this.#options.sync) await sink.acknowledged()
    return configOf(this.#options.threadId, ns, id)
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const configurable = this.#enterToWrite(config)
    const ns = namespaceOf(configurable)
    const checkpointId = text(configurable.checkpoint_id)
    if (checkpointId === '') throw new Error('writes belong to a checkpoint: name checkpoint_id')
    const added = this.#writesOn(ns, checkpointId).add(taskId, writes, this.#encode)
    const { sink, sync } = this.#options
    if (added.length === 0) return
    sink.step({ $case: 'writes', value: { ns, checkpointId, taskId, writes: added } })
    if (sync) await sink.acknowledged()
  }

  /** The thread is deleted by its owner, never from within a graph. */
  async deleteThread(): Promise<void> {
    throw new HeddleError('unsupported', 'A graph cannot delete its own thread.')
  }

  /** A DeltaChannel is its last snapshot and what was written on each ancestor since. */
  async getDeltaChannelHistory({ config, channels }:
    { config: RunnableConfig; channels: string[] }): Promise<Record<string, DeltaChannelHistory>> {
    const histories = Object.fromEntries(channels.map((channel) =>
      [channel, { writes: [] as CheckpointPendingWrite[] } as DeltaChannelHistory]))
    const open = new Set(channels)
    const target = await this.getTuple(config)
    const ns = namespaceOf(config.configurable ?? {})
    let wanted = target?.parentConfig?.configurable?.checkpoint_id as string | undefined
    const line = this.list(configOf(this.#options.threadId, ns, undefined),
      target && { before: target.config })
    if (wanted !== undefined) for await (const { checkpoint, pendingWrites, parentConfig } of line) {
      if (checkpoint.id !== wanted) continue
      for (const channel of [...open]) {
        histories[channel]!.writes.unshift(...writesOf(channel, pendingWrites))
        if (!(channel in checkpoint.channel_values)) continue
        histories[channel]!.seed = checkpoint.channel_values[channel]
        open.delete(channel)
      }
      wanted = parentConfig?.configurable?.checkpoint_id as string | undefined
      if (wanted === undefined || open.size === 0) break
    }
    return histories
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
    if (this.#over) throw new Error('the execution that this checkpointer belongs to is over')
    const configurable = this.#enter(config)
    if (configurable.thread_id === undefined) throw new Error('the config lacks a thread_id')
    return configurable
  }

  /** Earlier steps of this execution count as read, too. */
  async #read<T>(read: (source: CheckpointSource) => Promise<T>): Promise<T> {
    await this.#options.sink.acknowledged()
    return read(this.#options.source)
  }

  #live(stored: StoredTuple): Promise<LiveCheckpoint> {
    return liveCheckpoint(stored, this.#decode)
  }

  /** Remembers the newest one, unless a newer one was put while it was read. */
  async #load(stored: StoredTuple): Promise<LiveCheckpoint> {
    const live = await this.#live(stored)
    const { newest } = this.#options.memory
    if (stored.newest && !newest.has(stored.ns)) newest.set(stored.ns, live)
    return live
  }

  async #tuple(ns: string, live: LiveCheckpoint): Promise<CheckpointTuple> {
    const { id, parentId, skeleton, metadata } = live
    const { threadId, seen } = this.#options
    const checkpoint: Checkpoint = {
      ...skeleton, id, channel_values: live.channels.values(),
      channel_versions: { ...skeleton.channel_versions },
      versions_seen: copyOf(skeleton.versions_seen),
    }
    if (skeleton.v < 4 && parentId !== '') await this.#bringSends(ns, parentId, checkpoint)
    if (ns === '') seen(id, checkpoint.channel_values)
    const tuple: CheckpointTuple = {
      config: configOf(threadId, ns, id), checkpoint, metadata: { ...metadata },
      pendingWrites: live.writes.tuples(),
    }
    if (parentId !== '') tuple.parentConfig = configOf(threadId, ns, parentId)
    return tuple
  }

  /** Before version 4 what was sent to nodes stood in the parent's writes only. */
  async #bringSends(ns: string, parentId: string, checkpoint: Checkpoint): Promise<void> {
    const parent = await this.#read((source) => source.tuple(ns, parentId))
    const writes = parent ? (await this.#live(parent)).writes.tuples() : []
    checkpoint.channel_values[tasksChannel] = writesOf(tasksChannel, writes).map(([, , send]) => send)
    const versions = Object.values(checkpoint.channel_versions).map(Number)
    checkpoint.channel_versions[tasksChannel] = Math.max(1, ...versions)
  }

  /** The channels after a checkpoint: changes to its parent's where that is the one we know. */
  #nextState(ns: string, parentId: string, values: ChannelValues,
    isNew: (channel: string) => boolean) {
    const parent = this.#options.memory.newest.get(ns)
    const full = parent === undefined || parent.id !== parentId
      || parent.deltaBytes >= Math.max(fullEveryBytes, parent.fullBytes)
    const channels = full ? new KnownChannels() : parent.channels
    const changes = full ? channels.restate(values, this.#encode)
      : channels.advance(values, isNew, this.#encode)
    const bytes = changesBytes(changes)
    return full ? { full, changes, channels, deltaBytes: 0, fullBytes: bytes }
      : { full, changes, channels, deltaBytes: parent.deltaBytes + bytes,
          fullBytes: parent.fullBytes }
  }

  #writesOn(ns: string, checkpointId: string): PendingWrites {
    const newest = this.#options.memory.newest.get(ns)
    if (newest?.id === checkpointId) return newest.writes
    const key = `${ns}\n${checkpointId}`
    const writes = this.#strayWrites.get(key) ?? new PendingWrites()
    this.#strayWrites.set(key, writes)
    return writes
  }

  /** A copy of the thread must look native: its checkpoints do not say whose they were. */
  #describe(metadata: CheckpointMetadata): CheckpointMetadata {
    const described: CheckpointMetadata = { ...this.#options.metadata, ...metadata }
    delete (described as { thread_id?: unknown }).thread_id
    return described
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function namespaceOf(configurable: Configurable): string {
  return text(configurable.checkpoint_ns)
}

function configOf(thread_id: string, checkpoint_ns: string, checkpoint_id: string | undefined):
  RunnableConfig {
  const configurable: Configurable = { thread_id, checkpoint_ns }
  if (checkpoint_id !== undefined) configurable.checkpoint_id = checkpoint_id
  return { configurable }
}

function copyOf(seen: Skeleton['versions_seen']): Checkpoint['versions_seen'] {
  return Object.fromEntries(Object.entries(seen).map(([node, versions]) =>
    [node, { ...versions }]))
}

/**
 * Of a checkpoint without a parent only what was written, or never had a version: a default.
 * The engine leaves a version out of `newVersions` where an ancestor holds the value.
 */
function writtenValues(values: ChannelValues, versions: ChannelVersions, news: ChannelVersions):
  ChannelValues {
  return Object.fromEntries(Object.entries(values).filter(([channel]) =>
    channel in news || !(channel in versions)))
}

/** In the order of their replay: by task, then as written. */
function writesOf(channel: string, writes: readonly CheckpointPendingWrite[] = []):
  CheckpointPendingWrite[] {
  return writes.filter(([, name]) => name === channel)
    .sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)
}
