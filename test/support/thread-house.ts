/** One member with threads on store twins and a scripted host; it can crash and restart. */

import { ByteBudget, ActivationTable, createInbound, createRouter, inProcessTransport,
  placedOwnership, soleMember } from '../../cluster/index.ts'
import type { Inbound, OwnershipCheck, Router, Tracing } from '../../cluster/index.ts'
import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import { RunKeys } from '../../src/access/index.ts'
import type { AppUser, DeployedGraphs } from '../../src/graph/index.ts'
import { cautiousClock } from '../../src/limits/index.ts'
import { ReadQuota } from '../../src/limits/read-quota.ts'
import type { TimeToLiveRequest } from '../../src/search/index.ts'
import { dueThreadActors, DueWakes } from '../../src/server/due-wakes.ts'
import { LateExpiries } from '../../src/thread/context/late-expiries.ts'
import { executionNotes } from '../../src/server/execution-notes.ts'
import { watchedHost } from '../../src/server/watched-host.ts'
import { createThreadClient, defaultLimits, HeldRuns, InputQuota, Quarantine, Recoveries,
  threadKind } from '../../src/thread/index.ts'
import type { RunName, StartRun, ThreadClient, ThreadLimits } from '../../src/thread/index.ts'
import { virtualEnv } from './env.ts'
import { MemoryLog } from './memory-log.ts'
import { memoryTables } from './memory-tables.ts'
import { ScriptedEgress } from './scripted-egress.ts'
import { ScriptedHost } from './scripted-host.ts'

/** A member in memory. A test moves its time by `env`. */
export class ThreadHouse {
  readonly env = virtualEnv()
  readonly reads = new ReadQuota(this.env)
  readonly log = new MemoryLog()
  readonly tables = memoryTables(this.log)
  host = new ScriptedHost()
  egress = new ScriptedEgress()
  quarantine!: Quarantine
  readonly heldRuns = new HeldRuns()
  readonly recoveries = new Recoveries()
  /** Takes effect at the next restart; by default replies are not checked. */
  check: OwnershipCheck | undefined
  /** Takes effect at the next restart. */
  billing = true
  /** Runs that have ended, as they are reported. */
  readonly endedRuns: RunRow[] = []
  /** Runs whose traces were to be removed. */
  readonly goneRuns: string[] = []
  /** How that is answered. */
  removesTraces: () => Promise<void> = () => Promise.resolve()
  client!: ThreadClient
  /** Takes requests of other members. */
  inbound!: Inbound
  activations!: ActivationTable
  dueWakes: DueWakes | undefined
  expiries: LateExpiries | undefined
  /** Threads that may wait outside the memory for their end. */
  expiriesMax = 100
  defaultTimeToLive: TimeToLiveRequest | undefined
  /** Whether a due time is settled. */
  isSettled: (dueMs: number) => Promise<boolean> = () => Promise.resolve(true)
  #epoch = 0
  #executions = 0
  readonly #limits: ThreadLimits
  readonly #inputCharacters: number

  readonly #tracing: Tracing | undefined
  readonly #deployed: DeployedGraphs | undefined

  constructor(
    { inputCharacters = Infinity, ...limits }: Partial<ThreadLimits> & {
      inputCharacters?: number
    } = {},
    tracing?: Tracing,
    deployed?: DeployedGraphs,
  ) {
    this.#tracing = tracing
    this.#deployed = deployed
    this.#limits = { ...defaultLimits, ...limits }
    this.#inputCharacters = inputCharacters
    this.restart()
  }

  /** Restarts as after SIGKILL: what the store has is left, and which runs were being executed. */
  restart(marked: readonly RunName[] = [], { isOpen = true } = {}): void {
    this.quarantine = new Quarantine(this.env, marked)
    if (isOpen) this.quarantine.open()
    this.dueWakes?.close()
    this.expiries?.close()
    this.host = new ScriptedHost()
    this.egress = new ScriptedEgress()
    const self = { id: 'm', address: 'here' }
    const tracing = this.#tracing
    const runKeys = new RunKeys<AppUser>(this.env)
    const host = watchedHost(this.host, executionNotes(tracing, { runKeys, forAll: false }))
    const kind = threadKind({
      log: this.log,
      ...this.tables,
      host,
      ...this.#deployed && { deployed: this.#deployed },
      egress: this.egress,
      env: this.env,
      quarantine: this.quarantine,
      showRun: ({ runId, status }) => JSON.stringify({ run_id: runId, status }),
      showTask: async ({ first, run, asks, isGivenUp, values, dialect }) =>
        JSON.stringify({ task: first.runId, run: run.runId, asks, isGivenUp, values, dialect }),
      limits: this.#limits,
      billing: this.billing,
      runsEnded: (runs) => void this.endedRuns.push(...runs),
      runsGone: async (_, runs) => {
        await this.removesTraces()
        this.goneRuns.push(...runs.map(({ runId }) => runId))
      },
      views: new ByteBudget(1e6),
      feeds: new ByteBudget(1e6),
      inputs: new InputQuota(this.#inputCharacters),
      recoveries: this.recoveries,
      heldRuns: this.heldRuns,
      reads: this.reads,
      cautiousNowMs: cautiousClock(this.env),
      defaultTimeToLive: () => this.defaultTimeToLive,
      nextExecutionId: () => ++this.#executions,
      ask: (key, command) => router.ask(key, command),
      isSettled: (_, { dueMs }) => this.isSettled(dueMs),
      wakeAt: (atMs) => dueWakes.note(atMs),
      expireAfter: (...thread) => expiries.note(...thread),
      expiresLater: (...thread) => expiries.has(...thread),
    })
    const activations = this.activations = new ActivationTable({ env: this.env, kinds: [kind],
      ...this.check && { check: this.check } })
    const view = soleMember(self)
    const ownership = placedOwnership({ view, shards: 1, epoch: ++this.#epoch })
    const epoch = this.#epoch
    const dueWakes: DueWakes = this.dueWakes = new DueWakes({ env: this.env,
      due: dueThreadActors(this.tables.due), wake: (key) => activations.wake(key, epoch) })
    const expiries = this.expiries = new LateExpiries({ env: this.env, activations,
      epochOf: () => epoch, limit: this.expiriesMax })
    const router: Router = createRouter({
      env: this.env,
      ownership,
      activations,
      transport: inProcessTransport(),
    })
    this.inbound = createInbound({
      ownership,
      activations,
      services: [],
      ...tracing && { tracing },
    })
    this.client = createThreadClient({
      router,
      threads: this.tables.threads,
      newThreadId: () => this.env.uuid(),
      reads: this.reads,
      env: this.env,
    })
  }

  startRun(threadId: string, run: Partial<StartRun> = {}): Promise<unknown> {
    return this.client.startRun('t', threadId, this.run(run))
  }

  /** A run that writes `text` in one step and ends. */
  async runOnce(threadId: string, text: string): Promise<void> {
    await this.startRun(threadId)
    await settled()
    await this.host.step(this.host.only, text)
    this.host.end(this.host.only)
    await settled()
  }

  run(run: Partial<StartRun> = {}): StartRun {
    return aRun(this.env.uuid7(), run)
  }
}

/** A run to start, with defaults for what a test does not say. */
export function aRun(runId: string, run: Partial<StartRun> = {}): StartRun {
  return {
    runId,
    assistantId: 'a',
    graphId: 'agent',
    strategy: 'enqueue',
    commandId: '',
    metadata: {},
    kwargs: { input: {} },
    afterMs: 0,
    awaited: false,
    ifMissing: 'create',
    plan: { graphId: 'agent', assistantMetadata: {}, headers: {}, userId: '', resumable: false,
      temporary: false, timeoutMs: 3_600_000 },
    ...run,
  }
}

/** A message for a run of the thread, as the front door sends it. Its text is its id. */
export function aMessage(text: string) {
  return { ifMissing: 'reject', plan: { ...aRun('').plan, injects: true },
    kwargs: { input: { messages: [{ role: 'user', content: text, id: text }] } } } as const
}

/** Resolves when everything that needs no timer has run. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}
