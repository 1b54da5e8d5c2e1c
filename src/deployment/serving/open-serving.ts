/** Serves the deployments of a cluster on one member. */

import { join } from 'node:path'

import { goingAway, HeddleError, ignoreNotFound } from '../../errors.ts'
import { RunLogs, Suspects } from '../../graph/index.ts'
import type { ComponentSource, DeploymentView, GraphHost } from '../../graph/index.ts'
import type { UserRange } from '../../settings/index.ts'
import type { Deployment } from '../deployment.ts'
import { namespaceParts } from '../namespace.ts'
import type { Prepared, PrepareRequest, RevisionTally } from '../rollout/member-port.ts'
import type { DeploymentLine, LineQuery } from './deployment-lines.ts'
import { loadedSecretsOf } from '../loaded-secrets.ts'
import { CompileCaches } from './compile-caches.ts'
import { DeploymentRuntime } from './deployment-runtime.ts'
import { DeploymentDirectory } from './directory.ts'
import { HostWiring } from './host-wiring.ts'
import { LineFiles } from './line-files.ts'
import { loadRevision, secretVersionsOf } from './load-revision.ts'
import type { LoadedProcess, LoadParts, LoadRequest } from './load-revision.ts'
import { ProcessMemory } from './process-memory.ts'
import { RevisionComponents } from './revision-components.ts'
import { firstToGo, useOf } from './retention.ts'
import type { LoadedRevision, ReplayProcess, Serving, ServingProblem,
  ServingStats } from './serving.ts'

/** Parts of the member with which deployments are served. */
export interface ServingOptions extends Omit<LoadParts, 'compileCaches'> {
  /** Compiled code of deployments is kept in `compiled` below it, and their lines in `lines`. */
  readonly revisionsDirectory: string
  /** Finds the users that run the code of deployments; missing for the user of this process. */
  readonly users?: () => Promise<UserRange | undefined>
  /** The host of the project that the server was started with. */
  readonly ownHost: GraphHost
  /** The name of this member, for the lines that code writes here. */
  readonly member: string
  /** Called with the deployment's id after its code has written lines here. */
  readonly written?: (deployment: string) => void
  /** Milliseconds between looks at all records; null where no other process changes them. */
  readonly refreshMs: number | null
  readonly limits: {
    /** MiB that all graph processes of this member may fill together. */
    readonly graphsMemoryMb: number
  }
}

/** Between looks at processes that are idle. */
const sweepMs = 10_000

/**
 * Resolves when the records of all deployments were read once. Without deployments nothing runs
 * here but the look at the records from time to time.
 */
export async function openServing(options: ServingOptions): Promise<Serving> {
  const serving = new MemberServing(options)
  await serving.start()
  return serving
}

class MemberServing implements Serving {
  readonly #options: ServingOptions
  readonly #directory: DeploymentDirectory
  readonly #memory: ProcessMemory
  readonly #compileCaches: CompileCaches
  readonly #lines: LineFiles
  readonly #wiring: HostWiring
  readonly #components: RevisionComponents
  /** By name. */
  readonly #runtimes = new Map<string, DeploymentRuntime>()
  /** Runtimes of removed deployments, until their work has ended. */
  readonly #retired = new Set<DeploymentRuntime>()
  /** Processes that replay. */
  readonly #replays = new Set<ReplayProcess>()
  readonly #counts = { starts: 0, deaths: 0 }
  #stopSweep: (() => void) | undefined
  #isDraining = false
  #closed = false

  constructor(options: ServingOptions) {
    const { env, limits, revisionsDirectory, users } = options
    this.#options = options
    this.#directory = new DeploymentDirectory(options, (deployment) => this.#changed(deployment))
    this.#memory = new ProcessMemory({ env, totalMb: limits.graphsMemoryMb,
      endIdle: () => this.#endIdle() })
    this.#compileCaches = new CompileCaches({ directory: join(revisionsDirectory, 'compiled'),
      users, lacksUser: () => this.#endIdle() })
    this.#lines = new LineFiles(join(revisionsDirectory, 'lines'), env)
    this.#components = new RevisionComponents(options)
    this.#wiring = new HostWiring(() =>
      [...this.#runtimes].flatMap(([name, { graphs }]) =>
        graphs.map((graph) => [name, graph] as const)
      )
    )
  }

  get useHost(): Serving['useHost'] {
    return this.#wiring.use
  }

  async start(): Promise<void> {
    if (await this.#directory.open()) await this.#removeFiles()
  }

  async open(namespace: string): Promise<void> {
    const { deployment: name } = namespaceParts(namespace)
    if (name === null) return
    // One that is being removed, too: its threads are deleted by their actors, and run nothing.
    await this.#directory.find(name)
  }

  view(namespace: string): DeploymentView | undefined {
    const { deployment: name } = namespaceParts(namespace)
    return name === null ? undefined : this.#directory.view(name)
  }

  hostOf(namespace: string, revision: string): GraphHost {
    const { deployment: name } = namespaceParts(namespace)
    return name === null || revision === ''
      ? this.#options.ownHost
      : this.#runtimeOf(name).hostOf(revision)
  }

  onChange(namespace: string, changed: () => void): () => void {
    const { deployment: name } = namespaceParts(namespace)
    return name === null ? () => {} : this.#directory.watch(name, changed)
  }

  ended(namespace: string, revision: string, status: string): void {
    const { deployment: name } = namespaceParts(namespace)
    if (name === null || revision === '') return
    if (this.#directory.known(name)) this.#runtimeOf(name).ended(revision, status)
  }

  components(deployment: string): ComponentSource {
    return {
      namesOf: async (graphId) =>
        await this.#components.namesOf(await this.find(deployment), graphId),
      read: async (name) => await this.#components.read(await this.find(deployment), name),
    }
  }

  find(name: string): Promise<Deployment> {
    return this.#directory.find(name)
  }
  all(): readonly Deployment[] {
    return this.#directory.all
  }
  named(host: string): Deployment | undefined {
    return this.#directory.named(host)
  }
  learn(name: string): Promise<void> {
    return this.#directory.learn(name)
  }
  watch(name: string, changed: (deployment: Deployment) => void): () => void {
    return this.#directory.watch(name, changed)
  }

  async prepare(request: PrepareRequest): Promise<Prepared> {
    if (this.#closed) throw goingAway()
    await this.#directory.find(request.deployment)
    return await this.#runtimeOf(request.deployment).prepare(request)
  }

  tally({ deployment, revision }: PrepareRequest): RevisionTally {
    return this.#runtimeOf(deployment).tally(revision)
  }

  async lines(deployment: string, query: LineQuery): Promise<readonly DeploymentLine[]> {
    if (this.#directory.known(deployment) === undefined) return []
    return await this.#runtimeOf(deployment).lines(query)
  }

  async openReplay(deployment: Deployment, revision: string,
    signal: AbortSignal): Promise<ReplayProcess> {
    if (this.#closed) throw goingAway()
    const original = await this.#originalOf(deployment)
    const parts = { ...this.#options, compileCaches: this.#compileCaches }
    const { graph, release } = await loadRevision(parts, { deployment, original, revision, signal,
      memory: this.#memory, secrets: loadedSecretsOf(deployment), startMs: undefined,
      printed: () => {}, wrote: () => {}, died: () => {}, runLogs: new RunLogs(),
      suspects: new Suspects(), replays: true })
    const process: ReplayProcess = { graph, close: async () => {
      if (!this.#replays.delete(process)) return
      await graph.close()
      release()
    } }
    this.#replays.add(process)
    return process
  }

  loaded(): readonly LoadedRevision[] {
    return this.#all.flatMap((runtime) => runtime.loaded())
  }

  problems(): readonly ServingProblem[] {
    return [...this.#runtimes.values()].flatMap((runtime) => runtime.problems())
  }

  async requireServes(name: string): Promise<void> {
    await this.#runtimes.get(name)?.requireServes()
  }

  stats(): ServingStats {
    return { ...this.#counts }
  }

  async drain(deadline: AbortSignal): Promise<void> {
    this.#isDraining = true
    await Promise.all(this.#all.map((runtime) => runtime.drain(deadline)))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#directory.close()
    await Promise.all([...this.#all, ...this.#replays].map((each) => each.close()))
    await this.#lines.settled()
    this.#stopSweep?.()
  }

  get #all(): readonly DeploymentRuntime[] {
    return [...this.#runtimes.values(), ...this.#retired]
  }

  #runtimeOf(name: string): DeploymentRuntime {
    const runtime = this.#runtimes.get(name) ?? this.#make(name)
    this.#runtimes.set(name, runtime)
    return runtime
  }

  /** Makes the runtime of a deployment. A new deployment with an old name gets a new one. */
  #make(name: string): DeploymentRuntime {
    const { env, member } = this.#options
    const directory = this.#directory
    let id: string | undefined
    const isSame = (deployment: Deployment) => deployment.id === (id ??= deployment.id)
    const find = async () => {
      const deployment = await directory.find(name)
      if (isSame(deployment)) return deployment
      throw new HeddleError('not_found', `The deployment "${name}" was removed.`)
    }
    const known = () => {
      const deployment = directory.known(name)
      return deployment && isSame(deployment) ? deployment : undefined
    }
    const runtime: DeploymentRuntime = new DeploymentRuntime({
      name,
      member,
      env,
      find,
      deployment: known,
      graphs: (revision) => directory.graphs(name, revision),
      secretVersions: async (set) => {
        const deployment = await find()
        const original = await this.#originalOf(deployment)
        return await secretVersionsOf(this.#options.secrets, { deployment, original, set })
      },
      hasServed: async (revision) =>
        await this.#options.deployments.revision(await find(), revision)
          .then(({ activeAtMs }) => activeAtMs !== null, hasMaybeServed),
      files: this.#lines,
      load: (request) => this.#load(request),
      changed: () => this.#settled(),
      written: () => {
        const { id: writer } = known() ?? {}
        if (writer !== undefined) this.#options.written?.(writer)
      },
      count: (what) => {
        this.#counts[what]++
      },
    })
    if (this.#isDraining) void runtime.drain(AbortSignal.abort())
    return runtime
  }

  async #load(request: Omit<LoadRequest, 'original' | 'memory'>): Promise<LoadedProcess> {
    const original = await this.#originalOf(request.deployment)
    const parts = { ...this.#options, compileCaches: this.#compileCaches }
    const loaded = await loadRevision(parts, { ...request, original, memory: this.#memory })
    await this.#wiring.wire(request.deployment, loaded.graph)
    return loaded
  }

  /** The deployment that a preview takes secrets of. */
  async #originalOf({ tenant, preview }: Deployment): Promise<Deployment | undefined> {
    if (preview === null) return undefined
    const original = await this.#directory.find(preview.of).catch(ignoreNotFound)
    return original?.tenant === tenant ? original : undefined
  }

  /** Handles a change of a deployment that this member has learned of. */
  #changed({ name }: Deployment): void {
    const runtime = this.#runtimes.get(name)
    if (!runtime) return
    if (runtime.deployment === undefined) {
      this.#runtimes.delete(name)
      this.#retired.add(runtime)
    }
    runtime.settle()
    this.#settled()
  }

  #settled(): void {
    const ended = [...this.#retired].filter(({ isInUse }) => !isInUse)
    for (const runtime of ended) this.#retired.delete(runtime)
    if (ended.length > 0 && this.#retired.size === 0) void this.#removeFiles()
    this.#memory.pump()
    const isInUse = !this.#closed && this.#all.some((runtime) => runtime.isInUse)
    if (isInUse && !this.#stopSweep) {
      this.#stopSweep = this.#options.env.every(sweepMs, () => {
        for (const runtime of this.#all) runtime.settle()
        this.#settled()
      })
    } else if (!isInUse) {
      this.#stopSweep?.()
      this.#stopSweep = undefined
    }
  }

  /** Removes what is on disk of deployments that are gone. */
  async #removeFiles(): Promise<void> {
    const { ids } = this.#directory
    await Promise.all([this.#compileCaches.keep(ids), this.#lines.keep(ids)])
      .catch((error: unknown) =>
        this.#options.env.log.warn('Files of deployments that are gone cannot be removed.', {
          error,
        })
      )
  }

  /** Ends one idle process at a time, as its memory may be enough. */
  #endIdle(): void {
    const all = this.#all.flatMap(({ deployment, processes }) =>
      processes.map((each) => ({ each, use: useOf(deployment, each.revision) }))
    )
    if (all.some(({ each }) => each.isEnding)) return
    const candidates = all.flatMap(({ each, use }) =>
      each.all.map((process) => ({ process, use, each }))
    )
    const first = firstToGo(candidates)
    const owner = candidates.find(({ process }) => process === first)?.each
    if (first && owner) void owner.end(first)
  }
}

/** For a record that cannot be read: true unless it is gone. */
function hasMaybeServed(error: unknown): boolean {
  return HeddleError.from(error).code !== 'not_found'
}
