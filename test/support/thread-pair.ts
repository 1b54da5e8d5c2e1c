/** Threads whose owners change while callers use them, over one shared log. */

import { ByteBudget, ActivationTable } from '../../cluster/index.ts'
import type { ActorKey, Inbound, Router } from '../../cluster/index.ts'
import type { PurgeSubject } from '../../src/checkpoint/index.ts'
import { HeddleError } from '../../src/errors.ts'
import type { GraphHost } from '../../src/graph/index.ts'
import { cautiousClock } from '../../src/limits/index.ts'
import { ReadQuota } from '../../src/limits/read-quota.ts'
import { createThreadClient, defaultLimits, HeldRuns, InputQuota, Quarantine,
  threadKind } from '../../src/thread/index.ts'
import type { FeedListener, ThreadClient } from '../../src/thread/index.ts'
import { virtualEnv } from './env.ts'
import { MemoryLog } from './memory-log.ts'
import { memoryTables } from './memory-tables.ts'
import { ScriptedEgress } from './scripted-egress.ts'
import { ScriptedHost } from './scripted-host.ts'

class PurgingLog extends MemoryLog {
  override async purge({ branch, id }: PurgeSubject): Promise<void> {
    const rows = this.rows.filter((row) => row.branch.id !== branch.id)
    this.rows.splice(0, this.rows.length, ...rows)
    const updates = this.updates.filter((update) =>
      update.table === 'run_removed'
        ? update.threadId !== id
        : update.table !== 'thread' && update.table !== 'run' || update.row.threadId !== id
    )
    this.updates.splice(0, this.updates.length, ...updates)
  }
}

interface Owner<Host extends GraphHost> {
  readonly epoch: number
  readonly host: Host
  readonly activations: ActivationTable
  /** Its followers. */
  readonly followers: Set<FeedListener>
  dead: boolean
  readonly death: PromiseWithResolvers<void>
}

/**
 * When an owner dies around a command.
 *
 * none    it does not die
 * unheard it dies as soon as it has received the command
 * silent  it executes the command and dies before it has answered
 */
export type Fate = 'none' | 'unheard' | 'silent'

/** Threads with one owner after the other. A test ends the owner. */
export class ThreadChain<Host extends GraphHost> {
  readonly env = virtualEnv()
  readonly reads = new ReadQuota(this.env)
  readonly log = new PurgingLog()
  readonly tables = memoryTables(this.log)
  readonly client: ThreadClient
  /** Fate of the owner that gets the next command. A look before one does not count. */
  fate: Fate = 'none'
  /** Makes the host of each new owner. */
  readonly #newHost: () => Host
  #owner: Owner<Host>
  #owned: Promise<void> = Promise.resolve()
  #executions = 0

  constructor(newHost: () => Host) {
    this.log.shared = true
    this.#newHost = newHost
    this.#owner = this.#newOwner(1)
    this.client = createThreadClient({
      router: this.router,
      threads: this.tables.threads,
      env: this.env,
      newThreadId: () => this.env.uuid(),
      reads: this.reads,
    })
  }

  /** The host of the current owner. */
  get host(): Host {
    return this.#owner.host
  }

  /** Takes the requests of other members to the current owner. */
  get inbound(): Inbound {
    const { activations, epoch } = this.#owner
    return {
      ask: (key, command, { id } = {}) => activations.ask(key, epoch, command, id),
      follow: (key, request, listener) => activations.follow(key, epoch, request, listener),
    }
  }

  /**
   * Kills the owner as SIGKILL does. What it sent is still on its way, and it receives nothing
   * more.
   */
  kill(): void {
    const killed = this.#owner
    killed.dead = true
    killed.death.resolve()
    this.#owner = this.#newOwner(killed.epoch + 1)
    for (const follower of killed.followers) follower.ended('lost')
    this.#wake().catch(() => {})
  }

  /** Hands the threads over while their owner lives. Callers wait meanwhile. */
  async handOver(deadline: AbortSignal = new AbortController().signal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#owned = promise
    const before = this.#owner
    await before.activations.close(deadline)
    this.#owner = this.#newOwner(before.epoch + 1)
    resolve()
    await this.#wake()
  }

  readonly router: Router = {
    ask: async (key, command) => {
      const id = this.env.uuid()
      for (let again = false;; again = true) {
        await this.#owned
        const owner = this.#owner
        const isLook = (command as { brief?: boolean }).brief === true
        const fate = isLook ? 'none' : this.fate
        if (!isLook) this.fate = 'none'
        try {
          const reply = owner.activations.ask(key, owner.epoch, command, id)
          reply.catch(() => {})
          if (fate === 'silent') await reply
          if (fate !== 'none') this.kill()
          const answer = await Promise.race([reply, owner.death.promise])
          if (!owner.dead) return answer
        } catch (error) {
          if (fate === 'silent') this.kill()
          const refusal = HeddleError.from(error)
          const final = refusal.retry === 'no' || refusal.code === 'full'
          if (final && !owner.dead) throw refusal.with({ again })
        }
        await new Promise((nextTick) => setImmediate(nextTick))
      }
    },
    follow: async (key: ActorKey, request: unknown, listener: unknown) => {
      await this.#owned
      const { activations, epoch, followers } = this.#owner
      const stop = await activations.follow(key, epoch, request, listener)
      followers.add(listener as FeedListener)
      return () => {
        followers.delete(listener as FeedListener)
        stop()
      }
    },
  }

  #newOwner(epoch: number): Owner<Host> {
    const host = this.#newHost()
    const quarantine = new Quarantine(this.env)
    quarantine.open()
    const kind = threadKind({
      log: this.log,
      ...this.tables,
      host,
      env: this.env,
      limits: defaultLimits,
      billing: true,
      views: new ByteBudget(1e6),
      feeds: new ByteBudget(1e6),
      inputs: new InputQuota(Infinity),
      heldRuns: new HeldRuns(),
      reads: this.reads,
      egress: new ScriptedEgress(),
      showRun: () => '{}',
      quarantine,
      cautiousNowMs: cautiousClock(this.env),
      nextExecutionId: () => ++this.#executions,
      ask: (key, command) => this.router.ask(key, command),
    })
    const activations = new ActivationTable({ env: this.env, kinds: [kind] })
    return { epoch, host, activations, followers: new Set(), dead: false,
      death: Promise.withResolvers() }
  }

  async #wake(): Promise<void> {
    const { activations, epoch } = this.#owner
    for (const { tenant, threadId } of await this.tables.unfinished()) {
      await activations.wake({ kind: 'thread', tenant, id: threadId }, epoch)
    }
  }
}

/** Owners with scripted hosts, each prepared by `outfit`. */
export class ThreadPair extends ThreadChain<ScriptedHost> {
  constructor(outfit: (host: ScriptedHost) => void = () => {}) {
    super(() => {
      const host = new ScriptedHost()
      outfit(host)
      return host
    })
  }
}
