/** A simple model of a thread's checkpoints: keeps every step, builds states from the start. */

import type { Checkpoint, Writes } from '../../proto/gen/storage/v1/log.ts'
import type { ChannelChange, Value } from '../../proto/gen/storage/v1/value.ts'
import { changesBytes, stepBytes } from '../../src/checkpoint/index.ts'
import type { CheckpointSource, Step, StoredTuple, TupleQuery } from '../../src/graph/execution.ts'

type Channels = Map<string, StoredTuple['channels'][number]['content']>

/** A log that is easy to see through, to compare with. */
export class ModelLog implements CheckpointSource {
  readonly checkpoints: Checkpoint[] = []
  readonly writes: Writes[] = []
  /** Number of reads. */
  reads = 0
  /** Number of executions that wrote to it. */
  executions = 0
  /** The execution that wrote the newest steps, once it has ended. */
  lastExecution: number | null = null

  append(steps: readonly Step[]): void {
    for (const step of structuredClone(steps)) {
      if (step.$case === 'checkpoint') this.checkpoints.push(step.value)
      else this.writes.push(step.value)
    }
  }

  get headId(): string | null {
    return this.checkpoints.findLast(({ ns }) => ns === '')?.id ?? null
  }

  /** The root's state as the API would show it. */
  values(): Record<string, unknown> {
    const head = this.checkpoints.findLast(({ ns }) => ns === '')
    return head ? shown(this.#channelsOf(head)) : {}
  }

  async tuple(ns: string, checkpointId: string | null): Promise<StoredTuple | undefined> {
    this.reads += 1
    const found = this.checkpoints.findLast((checkpoint) =>
      checkpoint.ns === ns
      && (checkpointId === null || checkpoint.id === checkpointId)
    )
    return found && this.#tupleOf(found)
  }

  async list(query: TupleQuery): Promise<StoredTuple[]> {
    this.reads += 1
    const before = query.before === null
      ? this.checkpoints.length
      : this.checkpoints.findIndex(({ id }) => id === query.before)
    return this.checkpoints.slice(0, Math.max(0, before)).reverse()
      .filter((checkpoint) => matches(checkpoint, query))
      .slice(0, query.limit ?? undefined)
      .map((checkpoint) => this.#tupleOf(checkpoint))
  }

  #tupleOf(checkpoint: Checkpoint): StoredTuple {
    const { ns, id, parentId } = checkpoint
    const line = this.#lineOf(checkpoint)
    const sinceFull = line.slice(line.findLastIndex(({ full }) => full))
    const [full, ...steps] = sinceFull
    return structuredClone({
      ns,
      id,
      parentId,
      newest: this.checkpoints.findLast((other) => other.ns === ns) === checkpoint,
      skeleton: checkpoint.skeletonJson,
      metadata: checkpoint.metadataJson,
      channels: [...this.#channelsOf(checkpoint)]
        .map(([channel, content]) => ({ channel, content })),
      writes: this.writes.filter((writes) => writes.ns === ns && writes.checkpointId === id),
      deltaBytes: steps.reduce((sum, { changes }) => sum + stepBytes(changes), 0),
      fullBytes: changesBytes(full?.changes ?? []),
    })
  }

  #lineOf(checkpoint: Checkpoint): Checkpoint[] {
    const line = [checkpoint]
    for (let at = checkpoint; !at.full;) {
      at = this.checkpoints.find(({ ns, id }) => ns === at.ns && id === at.parentId)!
      line.unshift(at)
    }
    return line
  }

  #channelsOf(checkpoint: Checkpoint): Channels {
    const channels: Channels = new Map()
    for (const { changes } of this.#lineOf(checkpoint)) {
      for (const change of changes) apply(channels, change)
    }
    return channels
  }
}

function apply(channels: Channels, { channel, change }: ChannelChange): void {
  if (change?.$case === 'set') channels.set(channel, { value: change.value })
  if (change?.$case === 'list') channels.set(channel, { list: change.value.elements })
  if (change?.$case === 'removed') channels.delete(channel)
  if (change?.$case === 'splice') {
    const { at, remove, insert } = change.value
    const { list } = channels.get(channel) as { list: readonly Value[] }
    channels.set(channel, { list: list.toSpliced(at, remove, ...insert) })
  }
}

function shown(channels: Channels): Record<string, unknown> {
  return Object.fromEntries([...channels].map(([channel, content]) => [channel, 'list' in content
    ? content.list.map(({ json }) => JSON.parse(json) as unknown)
    : JSON.parse(content.value.json)]
  ))
}

function matches({ ns, id, metadataJson }: Checkpoint, query: TupleQuery): boolean {
  const metadata = JSON.parse(metadataJson) as Record<string, unknown>
  return (query.ns === null || query.ns === ns)
    && (query.checkpointId === null || query.checkpointId === id)
    && Object.entries(query.filter ?? {}).every(([key, value]) => metadata[key] === value)
}
