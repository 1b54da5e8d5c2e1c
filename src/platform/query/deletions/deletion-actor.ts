/**
 * The deletion actor: works through the deletions of one tenant, one after the other. It keeps
 * nothing: each step reads how far its deletion is, so that the next owner goes on.
 */

import { Backoff } from '../../../../cluster/index.ts'
import type { Actor, ActorContext, ActorKind, ActorWire, Env,
  Turn } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { rawValues } from '../../../json/index.ts'
import type { Uuid } from '../../spans/span.ts'
import { deleteSome, noteFailure } from './deletion-pass.ts'
import type { DeletionParts } from './deletion-pass.ts'
import { isOpen } from './trace-deletion.ts'
import type { TraceDeletion } from './trace-deletion.ts'

/** Name of the actor kind. The id of each actor is `all`. */
export const deletionKindName = 'trace_deletion'

/** A command to the deletions of a tenant. */
export interface DeletionCommand {
  readonly kind: 'look'
  /** A deletion that is listed, and since when. */
  readonly id: Uuid
  readonly listedMs: number
}

/** Ports of the deletions of one member. */
export interface DeletionActorParts {
  /** Undefined until the platform is open, and when it closes. */
  readonly engine: () => DeletionParts | undefined
  readonly env: Env
}

/** All commands and replies are plain data. */
export const deletionWire: ActorWire = { values: rawValues }

/** The actor kind of deletions. */
export function deletionKind(parts: DeletionActorParts): ActorKind<DeletionCommand> {
  return { name: deletionKindName, wire: deletionWire,
    create: (context) => new DeletionActor(context, parts) }
}

/** Pauses after a step that failed. */
const pauses = { firstMs: 500, longestMs: 60_000 }
/** Time for which a listed deletion may have no record: its request is on its way. */
const unmadeMs = 3_600_000

class DeletionActor implements Actor<DeletionCommand> {
  readonly #context: ActorContext<DeletionCommand>
  readonly #parts: DeletionActorParts
  readonly #backoff: Backoff
  /** Deletions that it was woken for, and since when they are listed. */
  readonly #listed = new Map<Uuid, number>()
  #pass: { readonly controller: AbortController; readonly ended: Promise<void> } | undefined
  #stopTimer: (() => void) | undefined

  constructor(context: ActorContext<DeletionCommand>, parts: DeletionActorParts) {
    this.#context = context
    this.#parts = parts
    this.#backoff = new Backoff(parts.env, pauses)
  }

  get occupied(): boolean {
    return this.#pass !== undefined || this.#stopTimer !== undefined
  }

  async activate(): Promise<void> {}

  receive({ id, listedMs }: DeletionCommand): Promise<Turn> {
    this.#listed.set(id, listedMs)
    if (!this.occupied) this.#begin()
    return Promise.resolve({ reply: null })
  }

  /** Cuts work off: the next owner does it again. */
  async passivate(): Promise<void> {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#pass?.controller.abort(new HeddleError('not_owner'))
    await this.#pass?.ended
  }

  #begin(): void {
    this.#stopTimer = undefined
    const controller = new AbortController()
    const { signal } = controller
    const ended = this.#run(signal).then(() => undefined, (error: unknown) => {
      if (signal.aborted) return undefined
      if (this.#parts.engine() === undefined) {
        // The watch wakes it when the platform is open.
        this.#listed.clear()
        return undefined
      }
      this.#parts.env.log.warn('Traces could not be deleted; it is tried again.', {
        key: this.#context.key,
        error,
      })
      return this.#backoff.nextMs()
    }).then((pauseMs) => {
      this.#pass = undefined
      if (signal.aborted) return
      if (pauseMs !== undefined) {
        this.#stopTimer = this.#parts.env.after(pauseMs, () => this.#begin())
      } else if (this.#listed.size > 0) this.#begin()
    })
    this.#pass = { controller, ended }
  }

  /** Goes on until no deletion of the tenant is open. */
  async #run(signal: AbortSignal): Promise<void> {
    const { tenant } = this.#context.key
    const asked = [...this.#listed]
    for (;;) {
      signal.throwIfAborted()
      const engine = this.#engine()
      const oldest = await engine.records.oldestOpen(tenant)
      if (oldest === undefined) break
      await this.#step(engine, oldest, signal)
    }
    for (const [id, listedMs] of asked) {
      await this.#unlistEnded(id, listedMs)
      this.#listed.delete(id)
    }
  }

  async #step(engine: DeletionParts, deletion: TraceDeletion, signal: AbortSignal): Promise<void> {
    const { tenant } = this.#context.key
    try {
      await deleteSome(engine, tenant, deletion, signal)
      this.#backoff.reset()
    } catch (error) {
      signal.throwIfAborted()
      if (!await noteFailure(engine, tenant, deletion, error)) throw error
    }
  }

  /** Takes a deletion that has ended off the list: its owner may have died before it did so. */
  async #unlistEnded(id: Uuid, listedMs: number): Promise<void> {
    const { records, cautiousNowMs } = this.#engine()
    const name = { tenant: this.#context.key.tenant, id }
    const known = await records.get(name)
    const isOver = known === undefined ? cautiousNowMs() - listedMs > unmadeMs : !isOpen(known)
    if (isOver) await records.listed.remove(name)
  }

  #engine(): DeletionParts {
    const engine = this.#parts.engine()
    if (engine === undefined) throw new HeddleError('unavailable')
    return engine
  }
}
