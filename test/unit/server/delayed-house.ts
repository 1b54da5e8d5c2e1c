/** Threads with delayed runs over a data directory, whose clock the test moves. */

import { ByteBudget, ActivationTable, createRouter, inProcessTransport, placedOwnership,
  soleMember } from '../../../cluster/index.ts'
import type { DeployedGraphs } from '../../../src/graph/index.ts'
import { ReadQuota } from '../../../src/limits/read-quota.ts'
import { dueThreadActors, DueWakes } from '../../../src/server/due-wakes.ts'
import { openEmbeddedStore } from '../../../src/store/embedded/index.ts'
import type { EmbeddedStore } from '../../../src/store/embedded/index.ts'
import { createThreadClient, defaultLimits, InputQuota, Quarantine,
  threadKind } from '../../../src/thread/index.ts'
import type { ThreadClient } from '../../../src/thread/index.ts'
import { virtualEnv } from '../../support/env.ts'
import { ScriptedEgress } from '../../support/scripted-egress.ts'
import { ScriptedHost } from '../../support/scripted-host.ts'
import { aRun } from '../../support/thread-house.ts'

export class DelayedHouse {
  readonly env = virtualEnv()
  readonly host = new ScriptedHost()
  readonly client: ThreadClient
  readonly activations: ActivationTable
  readonly store: EmbeddedStore
  readonly #dueWakes: DueWakes

  static async open(directory: string, epochMs = 0,
    deployed?: DeployedGraphs): Promise<DelayedHouse> {
    const env = virtualEnv()
    env.advance(epochMs)
    const store = await openEmbeddedStore({ directory, env })
    return new DelayedHouse(store, await store.claimEpoch(), env, deployed)
  }

  private constructor(store: EmbeddedStore, epoch: number, env: DelayedHouse['env'],
    deployed: DeployedGraphs | undefined) {
    this.store = store
    this.env = env
    let executions = 0
    const reads = new ReadQuota(env)
    const quarantine = new Quarantine(env)
    quarantine.open()
    const dueWakes: DueWakes = new DueWakes({ env, due: dueThreadActors(store.due),
      wake: (key) => activations.wake(key, epoch) })
    const kind = threadKind({
      log: store.log,
      threads: store.threads,
      runs: store.runs,
      host: this.host,
      ...deployed && { deployed },
      env,
      egress: new ScriptedEgress(),
      showRun: () => '{}',
      limits: defaultLimits,
      billing: false,
      views: new ByteBudget(1e6),
      feeds: new ByteBudget(1e6),
      inputs: new InputQuota(Infinity),
      reads,
      quarantine,
      nextExecutionId: () => ++executions,
      ask: (key, command) => router.ask(key, command),
      wakeAt: (atMs) => dueWakes.note(atMs),
    })
    const activations = this.activations = new ActivationTable({ env, kinds: [kind] })
    const view = soleMember({ id: 'm', address: 'here' })
    const ownership = placedOwnership({ view, shards: 1, epoch })
    const router = createRouter({ env, ownership, activations, transport: inProcessTransport() })
    this.client = createThreadClient({ router, threads: store.threads, env,
      newThreadId: () => env.uuid(), reads })
    this.#dueWakes = dueWakes
    dueWakes.note(0)
  }

  async startDelayed(threadId: string, afterMs: number, input: string): Promise<void> {
    const run = aRun(this.env.uuid7(), { afterMs, kwargs: { input } })
    await this.client.startRun('t', threadId, run)
  }

  /** Moves the clock; resolves when what that began has had its turns. */
  async pass(ms: number): Promise<void> {
    this.env.advance(ms)
    // Questions are answered after all that was written before.
    await this.store.use('t')
  }

  async close(): Promise<void> {
    this.#dueWakes.close()
    await this.activations.close(AbortSignal.abort())
    await this.store.close()
  }
}
