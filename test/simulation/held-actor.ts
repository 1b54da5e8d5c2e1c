/**
 * A value that is kept back from the disk, as a stateless run is, until somebody asks for it. If
 * nobody does, it goes in a while as if it had never been.
 */

import type { Actor, ActorContext, Turn } from '../../cluster/index.ts'
import { findApplied } from '../../src/owned-row/index.ts'
import type { RecordOf } from '../../src/checkpoint/index.ts'
import { Purge } from '../../src/thread/actor/purge.ts'
import type { ThreadLog } from '../../src/thread/log/thread-log.ts'
import type { LifeActorParts } from './life-actor.ts'
import { historyOf } from './list-actor.ts'
import type { RegisterCommands } from './item-clients.ts'

/**
 * put     answered with `put`, or with `held` if it may still go
 * get     answered with the value, or null
 * remove  answered with null
 */
export type HeldCommand =
  | { readonly type: 'put'; readonly value: string }
  | { readonly type: 'get' | 'remove' }

/** Commands that it sends to itself. */
type OwnCommand = { readonly type: 'end' }

/** Values that are kept back as registers. */
export const heldCommands: RegisterCommands = {
  names: ['held-a', 'held-b', 'held-c', 'held-d'],
  keyOf: (id) => ({ kind: 'thread', id }),
  get: () => ({ type: 'get' }),
  put: (_, value) => ({ type: 'put', value }),
  remove: () => ({ type: 'remove' }),
  valueIn: (reply) => reply as string | null,
  acknowledges: (reply) => reply !== 'held',
}

/** Time after which what is still kept back goes. */
const goesMs = 60

export class HeldActor implements Actor {
  readonly #parts: LifeActorParts
  readonly #context: ActorContext
  readonly #purge: Purge
  /** Set by `activate`, which comes before everything else. */
  #history!: ThreadLog

  constructor(parts: LifeActorParts, context: ActorContext) {
    this.#parts = parts
    this.#context = context
    this.#purge = new Purge(parts, context)
  }

  get occupied(): boolean {
    return this.#purge.underWay || !this.#history.isOnDisk()
  }

  async activate(): Promise<void> {
    this.#history = await historyOf(this.#parts, this.#context)
    const { row: { branch, deleted } } = this.#history.state
    if (deleted) await this.#purge.once(branch!)
  }

  receive(command: unknown, id = this.#parts.env.uuid()): Turn {
    const seen = command as HeldCommand | OwnCommand
    switch (seen.type) {
      case 'put':
        return this.#put(seen.value, id)
      case 'get':
        return { reply: this.#get(), kind: 'read' }
      case 'remove':
        return { reply: this.#remove(id) }
      case 'end':
        if (this.#history.isHeldBack) this.#history.discard()
        return { reply: null }
    }
  }

  async passivate(): Promise<void> {
    this.#history.release()
    await Promise.all([this.#history.quiet(), this.#purge.stop()])
  }

  #put(value: string, id: string): Turn {
    const history = this.#history
    const { exists, applied, row: { seq } } = history.state
    history.keep().catch(() => {})
    if (findApplied(applied, id)) return { reply: history.durable.then(() => 'put') }
    if (!exists && seq > 0) history.renew(this.#purge.lastTry)
    const isFirst = !exists && seq === 0
    if (isFirst) history.holdBack({ takes: () => true, end: () => {} })
    const written = history.write([this.#putRecord(value), { $case: 'commandApplied',
      value: { commandId: id } }])
    if (!isFirst) return { reply: written.then(() => 'put') }
    const { env } = this.#parts
    env.after(goesMs * env.random(), () => this.#context.notify({ type: 'end' }))
    return { reply: 'held', kind: 'early' }
  }

  #putRecord(value: string): RecordOf {
    const atMs = this.#parts.env.nowMs()
    const metadataJson = JSON.stringify({ value })
    if (this.#history.state.exists) {
      return { $case: 'threadPatched', value: { atMs, metadataJson, configJson: '{}' } }
    }
    return { $case: 'threadCreated',
      value: { threadId: this.#context.key.id, atMs, metadataJson, hidden: true, copiedFrom: '',
        headCheckpointId: '', status: '', interruptsJson: '' } }
  }

  async #get(): Promise<string | null> {
    const history = this.#history
    const { exists, row: { metadataJson } } = history.state
    const { value } = JSON.parse(metadataJson) as { readonly value: string }
    if (this.#parts.keepsFirst || !history.isHeldBack) await history.durable
    return exists ? value : null
  }

  async #remove(id: string): Promise<null> {
    const history = this.#history
    const { exists, applied, row: { branch } } = history.state
    history.keep().catch(() => {})
    if (findApplied(applied, id) || !exists) {
      await history.durable
      return null
    }
    const deleted = history.write([{ $case: 'threadDeleted',
      value: { atMs: this.#parts.env.nowMs() } }, { $case: 'commandApplied',
      value: { commandId: id } }])
    await this.#purge.after(deleted, branch!)
    return null
  }
}
