/** All that a member executes of one deployment: a host for each revision, and their bounds. */

import { FairSemaphore } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { RunLogs, Suspects } from '../../graph/index.ts'
import type { GraphDescription, GraphHost, GraphProcess, LoggedRun,
  WrittenLines } from '../../graph/index.ts'
import { withoutFolders } from '../../revision/index.ts'
import { defaultDeploymentLimits } from '../deployment.ts'
import type { Deployment } from '../deployment.ts'
import type { GraphFailure } from '../revision.ts'
import type { Prepared, PrepareRequest, RevisionTally } from '../rollout/member-port.ts'
import type { SecretSet } from '../secret-set.ts'
import { DeploymentLines } from './deployment-lines.ts'
import type { DeploymentLine, LineQuery, NewLine } from './deployment-lines.ts'
import type { LineFiles } from './line-files.ts'
import type { LoadedProcess, LoadRequest } from './load-revision.ts'
import { RevisionHost } from './revision-host.ts'
import { RevisionProcesses } from './revision-processes.ts'
import type { LoadedRevision, ServingProblem } from './serving.ts'

/** Parts of the member with which a deployment is served. */
export interface DeploymentRuntimeParts {
  readonly name: string
  readonly member: string
  readonly env: Env
  /** The deployment as it is known now; undefined if it is gone. */
  readonly deployment: () => Deployment | undefined
  readonly find: () => Promise<Deployment>
  readonly graphs: (revision: string) => readonly GraphDescription[] | undefined
  /** Text that is equal for equal secrets, for a process that would start now with such a set. */
  readonly secretVersions: (set: SecretSet | undefined) => Promise<string>
  readonly load: (
    options: Omit<LoadRequest, 'original' | 'memory'>,
  ) => Promise<LoadedProcess>
  /** True if the revision was active before, or if that cannot be read now. */
  readonly hasServed: (revision: string) => Promise<boolean>
  readonly changed: () => void
  /** Keeps its lines over a restart. */
  readonly files: Pick<LineFiles, 'add' | 'read'>
  /** Called after lines were written, so that readers can be woken. */
  readonly written: () => void
  /** Called when a process was started, or has ended by itself. */
  readonly count: (what: 'starts' | 'deaths') => void
}

interface ServedRevision {
  readonly host: RevisionHost
  readonly processes: RevisionProcesses
  tally: RevisionTally
  /** Preparations that are under way. */
  preparing: number
}

/** Serves the revisions of one deployment. */
export class DeploymentRuntime {
  readonly #parts: DeploymentRuntimeParts
  readonly #revisions = new Map<string, ServedRevision>()
  readonly #lines: DeploymentLines
  readonly #runLogs = new RunLogs()
  readonly #suspects = new Suspects()
  readonly #turns: FairSemaphore
  #restored: Promise<void> | undefined
  #isDraining = false

  constructor(parts: DeploymentRuntimeParts) {
    this.#parts = parts
    this.#lines = new DeploymentLines(parts.member)
    const concurrency = () => (parts.deployment()?.limits ?? defaultDeploymentLimits).concurrency
    // Waiting runs were admitted before: threads bound their number.
    const waiting = Number.MAX_SAFE_INTEGER
    this.#turns = new FairSemaphore({ waiting, full: 'Too many runs wait.', get inAll() {
      return concurrency()
    }, get each() {
      return concurrency()
    } })
  }

  /** As it is known now; undefined if it is gone. */
  get deployment(): Deployment | undefined {
    return this.#parts.deployment()
  }
  /** True while there are processes. */
  get isInUse(): boolean {
    return this.processes.some(({ all, isEnding }) => all.length > 0 || isEnding)
  }
  get processes(): readonly RevisionProcesses[] {
    return [...this.#revisions.values()].map(({ processes }) => processes)
  }
  get graphs(): readonly GraphProcess[] {
    return this.processes.flatMap(({ all }) => all.flatMap(({ graph }) => graph ? [graph] : []))
  }

  hostOf(revision: string): GraphHost {
    return this.#of(revision).host
  }

  /** Loads a revision for a roll-out. Rejects with an error that may be tried again. */
  async prepare({ revision, ...options }: PrepareRequest): Promise<Prepared> {
    const { env } = this.#parts
    const beganMs = env.monotonicMs()
    const served = this.#of(revision)
    const { processes } = served
    served.preparing++
    try {
      const { graph, hide, leave, isFresh } = await processes.prepare(options)
      // Errors at the import of code may contain secrets, and folders of this member.
      const graphs = graph.graphs().map(({ failure, ...known }) =>
        failure === undefined ? known : { ...known, failure: withoutFolders(hide(failure)) }
      )
      const failures = graphs.flatMap(failureOf)
      leave()
      if (failures.length === 0) return { kind: 'ready', ms: env.monotonicMs() - beganMs, graphs }
      const idle = processes.all.find((process) => process.graph === graph && process.isIdle)
      if (isFresh && idle) void processes.end(idle)
      return { kind: 'refused', reason: failures[0]!.message, failures }
    } catch (error) {
      const { retry, message: reason } = HeddleError.from(error)
      if (retry !== 'no') throw error
      return { kind: 'refused', reason, failures: [] }
    } finally {
      served.preparing--
    }
  }

  /** Notes that a run of a revision has ended. */
  ended(revision: string, status: string): void {
    const served = this.#of(revision)
    const { ended, failed } = served.tally
    const isFailed = status === 'error' || status === 'timeout'
    served.tally = { ...served.tally, ended: ended + 1, failed: failed + (isFailed ? 1 : 0) }
  }

  tally(revision: string): RevisionTally {
    const { tally, processes } = this.#of(revision)
    return { ...tally, deaths: processes.deaths }
  }

  /** Lines of this deployment, also from before this member was started. */
  async lines(query: LineQuery): Promise<readonly DeploymentLine[]> {
    await (this.#restored ??= this.#restore())
    return this.#lines.read(query)
  }

  async #restore(): Promise<void> {
    const { id } = this.#parts.deployment() ?? {}
    if (id === undefined) return
    this.#lines.restore(await this.#parts.files.read(id))
  }

  /** Revisions that take new runs and cannot be loaded here. */
  problems(): readonly ServingProblem[] {
    return this.#pointed.flatMap(({ revision, problem }) =>
      problem === undefined ? [] : [{ deployment: this.#parts.name, revision, ...problem }]
    )
  }

  /** Throws `graph_failed` with the reason if it is known that the active revision cannot serve. */
  async requireServes(): Promise<void> {
    const active = this.#parts.deployment()?.active ?? ''
    await this.#revisions.get(active)?.processes.requireServes().catch((error: unknown) => {
      const { code, message, retry } = HeddleError.from(error)
      // The thread tries again by itself.
      if (retry !== 'no') return
      throw new HeddleError(code, `The deployment ${this.#parts.name} cannot serve: its revision ` +
        `${active} cannot be loaded: ${message}`)
    })
  }

  get #pointed(): readonly RevisionProcesses[] {
    const { active, next } = this.#parts.deployment() ?? { active: null, next: null }
    return this.processes.filter(({ revision }) => [active, next?.revision].includes(revision))
  }

  loaded(): readonly LoadedRevision[] {
    return [...this.#revisions].flatMap(([revision, { processes }]) => {
      const { all, isBroken, deaths } = processes
      const of = { deployment: this.#parts.name, revision, deaths }
      const broken: LoadedRevision = { ...of, state: 'broken', executing: 0, memoryBytes: null,
        envVersion: this.#parts.deployment()?.envVersion ?? 0 }
      return [...isBroken ? [broken] : [],
        ...all.map(({ envVersion, state, executing, memoryBytes }) => ({ ...of, envVersion, state,
          executing, memoryBytes })
        )]
    })
  }

  settle(): void {
    for (const [revision, served] of this.#revisions) {
      served.processes.settle()
      if (this.#isForgotten(revision, served)) this.#revisions.delete(revision)
    }
  }

  async drain(deadline: AbortSignal): Promise<void> {
    this.#isDraining = true
    await Promise.all([...this.#revisions.values()].map(({ host }) => host.drain(deadline)))
  }

  async close(): Promise<void> {
    for (const { host } of this.#revisions.values()) host.close()
    await Promise.all(this.processes.map((processes) => processes.close()))
  }

  /** True for a revision that cannot be loaded any more and has no work. */
  #isForgotten(revision: string, { host, processes, preparing }: ServedRevision): boolean {
    const hasWork = preparing > 0 || !host.isIdle || processes.all.length > 0 || processes.isEnding
    return !hasWork && this.#parts.graphs(revision) === undefined
  }

  #of(revision: string): ServedRevision {
    const served = this.#revisions.get(revision) ?? this.#make(revision)
    this.#revisions.set(revision, served)
    return served
  }

  #make(revision: string): ServedRevision {
    const { env, deployment, find, graphs, load, changed, count, secretVersions, hasServed } =
      this.#parts
    const note = (level: DeploymentLine['level'], text: string) =>
      this.#write([{ atMs: env.nowMs(), level, revision, text, thread_id: null, run_id: null }])
    const details = { deployment: this.#parts.name, revision }
    const processes = new RevisionProcesses({ revision, env, deployment, find, changed,
      secretVersions, hasServed: () => hasServed(revision),
      load: async ({ signal, startMs, secrets }, died) =>
        load({ deployment: await find(), revision, secrets, signal, startMs, died,
          runLogs: this.#runLogs, suspects: this.#suspects, printed: (line, level) =>
            note(level, line), wrote: (run, lines) =>
            this.#wrote(revision, run, lines) }), started: () => count('starts'),
      died: (reason) => {
        count('deaths')
        env.log.warn('The graph process of a deployment has ended.', { ...details, reason })
        note('error', `The graph process has ended: ${reason}`)
      }, broke: (error) => {
        env.log.warn('A revision cannot be loaded.', { ...details, error })
        note('error', `The revision cannot be loaded: ${error.message}`)
      }, lacked: ({ reason }) => note('error', `A graph cannot be loaded: ${reason}`) })
    const host = new RevisionHost({ revision, env, processes, graphs: () => graphs(revision),
      turns: this.#turns, runLogs: this.#runLogs })
    if (this.#isDraining) void host.drain(AbortSignal.abort())
    return { host, processes, tally: { ended: 0, failed: 0, deaths: 0 }, preparing: 0 }
  }

  #wrote(revision: string, { threadId: thread_id, runId: run_id }: LoggedRun,
    { lines }: WrittenLines): void {
    this.#write(
      lines.map(({ atMs, level, text }) => ({ atMs, level, revision, text, thread_id, run_id })),
    )
  }

  #write(lines: readonly NewLine[]): void {
    const added = lines.map((line) => this.#lines.add(line))
    const { id } = this.#parts.deployment() ?? {}
    if (id !== undefined) this.#parts.files.add(id, added)
    this.#parts.written()
  }
}

/** Failure of a graph, with its place from the message: `… (src/agent.ts:3:7): …`. */
function failureOf({ graphId: graph_id, failed, failure }: GraphDescription): GraphFailure[] {
  if (failed !== true) return []
  const message = failure ?? 'It cannot be loaded.'
  const at = message.split('(').slice(1).map((rest) => rest.split(')')[0]!)
    .find((place) => /:\d+:\d+$/.test(place))
  return [{ graph_id, message, at: at ?? null }]
}
