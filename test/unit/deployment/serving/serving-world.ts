/** A member that serves deployments from records in memory; its graph processes run no graph. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

import { defaultDeploymentLimits, openServing } from '../../../../src/deployment/index.ts'
import type { Deployment, Deployments, DeploymentSecret, DeploymentSecrets, Revision, SecretSet,
  Serving, ServingOptions } from '../../../../src/deployment/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { Execution, ExecutionOutcome, GraphDescription, GraphProcess, GraphProcessOptions,
  LossReason, WrittenLines } from '../../../../src/graph/index.ts'
import type { Manifest, ReadChunk } from '../../../../src/revision/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { eventually } from '../../../support/eventually.ts'
import { ScriptedHost } from '../../../support/scripted-host.ts'

/** A graph that can be loaded. */
export const agent: GraphDescription = { graphId: 'agent', description: null,
  stateChannels: ['log'], plain: true, nodes: ['model'] }

/** A graph process that a test drives. */
export class FakeProcess extends ScriptedHost implements GraphProcess {
  readonly options: GraphProcessOptions
  readonly pid = 1
  described: readonly GraphDescription[] = [agent]
  url: string | undefined
  closed = false
  drained = false

  constructor(options: GraphProcessOptions) {
    super()
    this.options = options
  }

  override graphs(): readonly GraphDescription[] {
    return this.described
  }
  memoryBytes(): number {
    return 1_000
  }
  servedAt(url: string | undefined): void {
    this.url = url
  }
  useItems(): void {}
  useTraces(): void {}
  tracesSteps(): boolean {
    return false
  }
  stats() {
    return { starting: 0, ready: 1, busy: 0, underWay: 0, waiting: 0, lost: 0 }
  }
  drain(): Promise<void> {
    this.drained = true
    return Promise.resolve()
  }
  close(): Promise<void> {
    this.closed = true
    return Promise.resolve()
  }

  /** Writes a line as the code of a run. */
  print(run: Execution, text: string): void {
    const lines: WrittenLines = { lines: [{ atMs: 5, level: 'warn', text }], dropped: 0 }
    this.options.runLogs?.add(run, lines)
    this.options.wrote?.(run, lines)
  }

  /** Ends as a process that was killed. */
  die(): void {
    this.closed = true
    for (const scripted of [...this.running.values()]) this.lose(scripted, 'crashed')
    this.options.died?.('it was killed')
  }
}

/** The world around a member: records, secrets, and the processes that were started. */
export class ServingWorld {
  readonly env = virtualEnv()
  readonly records = new Map<string, Deployment>()
  readonly revisions = new Map<string, Revision>()
  readonly secrets = new Map<string, Readonly<Record<string, string>>>()
  readonly processes: FakeProcess[] = []
  /** Calls of the store, by method. */
  readonly calls: string[] = []
  /** What the store throws; undefined while it works. */
  away: Error | undefined
  /** Called with each process that is started, which starts when it resolves. */
  starting: (process: FakeProcess) => Promise<void> | void = () => {}
  /** Of revisions, by name. */
  readonly manifests = new Map<string, Manifest>()
  readChunk: ReadChunk = () => Promise.reject(new Error('read'))
  readonly own = new ScriptedHost()
  #executions = 0

  /** Adds a deployment whose revisions are ready. */
  deploy(name: string, change: Partial<Deployment> = {}, revisions: readonly string[] = ['r1']) {
    const before = this.records.get(name)
    const record: Deployment = { id: `id-${name}`, name, tenant: 'acme', access: 'own', hosts: [],
      limits: defaultDeploymentLimits, paused: false, removing: false, movesRuns: false,
      active: revisions.at(-1)!, previous: null, next: null, envVersion: 0,
      revisionCount: revisions.length, rollout: null, lastRollout: null, preview: null, owed: [],
      createdAtMs: 0, modifiedAtMs: 0, ...before, ...change, step: (before?.step ?? 0) + 1 }
    this.records.set(name, record)
    for (const revision of revisions) {
      this.revisions.set(`${record.id} ${revision}`, revisionOf(record.id, revision))
    }
    return record
  }

  async open(options: Partial<ServingOptions> = {}): Promise<Serving> {
    const revisionsDirectory = await mkdtemp(join(tmpdir(), 'heddle-serving-'))
    const serving = await openServing({ deployments: this.#deployments(), secrets: this.#secrets(),
      cache: {
        hold: () =>
          Promise.resolve({ root: '/r/own', configFile: '/r/own/langgraph.json',
            release: () => {} }),
      }, start: (started) => this.#start(started), ownHost: this.own, member: 'm1',
      revisionsDirectory, env: this.env, refreshMs: null, limits: { graphsMemoryMb: 10_000 },
      ...options })
    onTestFinished(async () => {
      await serving.close()
      await rm(revisionsDirectory, { recursive: true, force: true })
    })
    return serving
  }

  /** The process that was started as the `number`th, from 1, once it is there. */
  async process(number: number): Promise<FakeProcess> {
    return await eventually(() => {
      const process = this.processes[number - 1]
      if (process === undefined) throw new Error(`${this.processes.length} processes`)
      return process
    })
  }

  /** Executes a run, and keeps what its listener is notified of. */
  run(serving: Serving, { namespace = 'acme@shop', revision = 'r1', kind = 'run' as const } = {}) {
    const execution = { id: ++this.#executions, tenant: namespace, threadId: 't1', runId: 'run1',
      graphId: 'agent', attempt: 1, headId: null, request: { kind } } as unknown as Execution
    const end = Promise.withResolvers<ExecutionOutcome | LossReason>()
    const host = serving.hostOf(namespace, revision)
    const run = { execution, host, outcome: undefined as ExecutionOutcome | LossReason | undefined,
      ended: end.promise }
    const notify = (outcome: ExecutionOutcome | LossReason) => {
      run.outcome = outcome
      end.resolve(outcome)
    }
    host.execute(execution, undefined as never, { steps: () => Promise.resolve(), ended: notify,
      lost: notify })
    return run
  }

  /** The process that executes a run, once one does. */
  async executing({ execution: { id } }: { readonly execution: Execution }): Promise<FakeProcess> {
    return await eventually(() => {
      const found = this.processes.find(({ running }) => running.has(id))
      if (found === undefined) throw new Error('No process executes it.')
      return found
    })
  }

  async #start(options: GraphProcessOptions): Promise<GraphProcess> {
    const process = new FakeProcess(options)
    this.processes.push(process)
    await this.starting(process)
    return process
  }

  #deployments(): Deployments {
    const called = async <Result>(name: string, result: () => Result): Promise<Result> => {
      this.calls.push(name)
      if (this.away) throw this.away
      return await Promise.resolve(result())
    }
    return { get: (name: string) => called('get', () => found(this.records.get(name))),
      list: () => called('list', () => [...this.records.values()]),
      revisions: ({ id }: Deployment) =>
        called('revisions', () =>
          [...this.revisions.values()].filter(({ deployment }) => deployment === id)),
      revision: ({ id }: Deployment, name: string) =>
        called('revision', () => found(this.revisions.get(`${id} ${name}`))),
      manifest: ({ name }: Revision) => called('manifest', () => this.manifests.get(name) ?? small),
      readChunks: () => this.readChunk } as unknown as Deployments
  }

  #secrets(): DeploymentSecrets {
    return {
      list: (id: string) => Promise.resolve(versionsOf(this.secrets.get(id) ?? {})),
      reveal: (id: string, set?: SecretSet) =>
        this.away
          ? Promise.reject(this.away)
          : Promise.resolve(set === undefined
            ? this.secrets.get(id) ?? {}
            // The place of a value is the value here.
            : Object.fromEntries(set.map(({ name, place }) => [name, place!]))),
    } as unknown as DeploymentSecrets
  }
}

const small = { platform: null,
  env: { GREETING: 'from the manifest', MODEL: 'small' } } as unknown as Manifest

/** Another value is another version here. */
function versionsOf(secrets: Readonly<Record<string, string>>): DeploymentSecret[] {
  const versionOf = (value: string) =>
    [...value].reduce((sum, each) => 31 * sum + each.charCodeAt(0), 0)
  return Object.entries(secrets).map(([name, value]) => ({ name, version: versionOf(value),
    updatedAtMs: 0 })
  )
}

function found<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new HeddleError('not_found')
  return value
}

function revisionOf(deployment: string, name: string): Revision {
  return { id: `${deployment}-${name}`, deployment, name, number: Number(name.slice(1)), hash: name,
    state: 'ready', message: '', by: 'local', bytes: 0, files: 0, platform: null, wantsEnv: [],
    source: null, settings: null, graphs: [{ ...agent, description: name }], reason: null,
    failures: [], createdAtMs: 0, expiresAtMs: null, activeAtMs: null }
}
