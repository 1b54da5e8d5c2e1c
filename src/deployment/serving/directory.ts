/** Knowledge of a member about all deployments: their records, in memory. */

import { Backoff, LRUCache, throttleLog } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { DeploymentView, GraphDescription } from '../../graph/index.ts'
import type { Deployment } from '../deployment.ts'
import type { Deployments } from '../deployments.ts'
import { DeploymentReader } from './deployment-reader.ts'
import type { KnownDeployment } from './deployment-reader.ts'

/** Source of records, and the interval of looks at them. */
export interface DirectoryOptions {
  readonly deployments: Deployments
  readonly env: Env
  /** Milliseconds between looks at all records; null where no other process changes them. */
  readonly refreshMs: number | null
}

/** Milliseconds for which a name that was not there is not looked for again. */
const unknownMs = 1_000
const unknownMax = 1_000
/**
 * Names that are looked for within that time. The bound exists because any caller can make up
 * names.
 */
const lookedForMax = 50
/** Milliseconds until a deployment is read again whose active revision was missing. */
const againMs = 5_000
/** Pauses between tries to read the records at the start. */
const pauses = { firstMs: 500, longestMs: 5_000 }
const quietMs = 60_000

/**
 * Keeps the records of all deployments. Its knowledge may be late, and never goes back. Nothing is
 * asked of the store for callers without a deployment.
 */
export class DeploymentDirectory {
  readonly #options: DirectoryOptions
  readonly #reader: DeploymentReader
  readonly #known = new Map<string, KnownDeployment>()
  readonly #views = new Map<string, DeploymentView>()
  readonly #unknown = new LRUCache<string, number>({ max: unknownMax })
  readonly #watchers = new Map<string, Set<(deployment: Deployment) => void>>()
  readonly #warn: (report: (omitted: number) => void) => void
  readonly #changed: (deployment: Deployment) => void
  /** Number of names that were looked for, and the start of that count. */
  #misses = { sinceMs: 0, count: 0 }
  /** Timers of deployments that are read again, by name. */
  readonly #again = new Map<string, () => void>()
  #isRead = false
  #stop = () => {}
  #closed = false

  /** `changed` is called first of all that watch, for every deployment. */
  constructor(options: DirectoryOptions, changed: (deployment: Deployment) => void) {
    this.#options = options
    this.#changed = changed
    this.#warn = throttleLog(options.env, quietMs)
    this.#reader = new DeploymentReader(options.deployments,
      (name, found) => this.#take(name, found))
  }

  /**
   * Reads all records once, and then from time to time. False if they could not be read: that is
   * tried again.
   */
  async open(): Promise<boolean> {
    const isRead = await this.#refresh()
    if (isRead) this.#poll()
    else this.#tryAgain(new Backoff(this.#options.env, pauses))
    return isRead
  }

  /** A deployment, which is looked for if it is not known. Throws `not_found`. */
  async find(name: string): Promise<Deployment> {
    const known = this.#known.get(name)
    if (known) return known.deployment
    if (this.#mayLookFor(name)) await this.#reader.read(name)
    const { deployment } = this.#known.get(name) ?? {}
    if (deployment) return deployment
    throw new HeddleError('not_found', `There is no deployment ${JSON.stringify(name)}.`)
  }

  /**
   * False if too many names were looked for: the answer is then as late as the last look at all
   * records.
   */
  #mayLookFor(name: string): boolean {
    const nowMs = this.#options.env.monotonicMs()
    if (nowMs < (this.#unknown.get(name) ?? 0)) return false
    if (nowMs - this.#misses.sinceMs >= unknownMs) this.#misses = { sinceMs: nowMs, count: 0 }
    if (++this.#misses.count <= lookedForMax) return true
    if (this.#isRead) return false
    throw new HeddleError('unavailable', 'This member does not know its deployments yet.')
  }

  /** From memory; undefined if it is not known. */
  known(name: string): Deployment | undefined {
    return this.#known.get(name)?.deployment
  }

  /** All that are known. */
  get all(): readonly Deployment[] {
    return [...this.#known.values()].map(({ deployment }) => deployment)
  }

  /** The ids of all that are known. */
  get ids(): ReadonlySet<string> {
    return new Set([...this.#known.values()].map(({ deployment: { id } }) => id))
  }

  /** The deployment that has this host name. */
  named(host: string): Deployment | undefined {
    const wanted = host.toLowerCase()
    return [...this.#known.values()].map(({ deployment }) => deployment)
      .find(({ hosts, removing }) => !removing && hosts.includes(wanted))
  }

  /** The same object until the deployment changes; undefined if it is not known, or removed. */
  view(name: string): DeploymentView | undefined {
    const known = this.#known.get(name)
    if (!known || known.deployment.removing) return undefined
    const view = this.#views.get(name) ?? viewOf(known)
    this.#views.set(name, view)
    return view
  }

  /** The graphs of a revision that can be loaded. */
  graphs(name: string, revision: string): readonly GraphDescription[] | undefined {
    return this.#known.get(name)?.graphs.get(revision)
  }

  /** Resolves when a read that began after this call has been taken. */
  learn(name: string): Promise<void> {
    return this.#reader.read(name)
  }

  watch(name: string, changed: (deployment: Deployment) => void): () => void {
    const watchers = this.#watchers.get(name) ?? new Set()
    // Of its own, so that the same function may watch twice.
    const watcher = (deployment: Deployment) => changed(deployment)
    this.#watchers.set(name, watchers.add(watcher))
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#watchers.get(name) === watchers) this.#watchers.delete(name)
    }
  }

  close(): void {
    this.#closed = true
    this.#stop()
    for (const stop of this.#again.values()) stop()
  }

  #tryAgain(backoff: Backoff): void {
    if (this.#closed) return
    this.#stop = this.#options.env.after(backoff.nextMs(), async () => {
      if (await this.#refresh()) this.#poll()
      else this.#tryAgain(backoff)
    })
  }

  #poll(): void {
    const { env, refreshMs } = this.#options
    if (refreshMs === null || this.#closed) return
    this.#stop = env.after(refreshMs, async () => {
      await this.#refresh()
      this.#poll()
    })
  }

  /** Reads all that has changed, is new or is gone. False if the store cannot be read. */
  async #refresh(): Promise<boolean> {
    try {
      const all = await this.#reader.all()
      const names = new Set(all.map(({ name }) => name))
      const changed = all.filter((one) => this.#isNews(one)).map(({ name }) => name)
      // A page may have left one out: only a read of its own says that it is gone.
      const gone = [...this.#known.keys()].filter((name) => !names.has(name))
      await Promise.all([...changed, ...gone].map((name) => this.#reader.read(name)))
      this.#isRead = true
      return true
    } catch (error) {
      this.#warn((omitted) =>
        this.#options.env.log.warn('The records of deployments cannot be read; what is known of ' +
          'them is used.', { omitted, error })
      )
      return false
    }
  }

  #isNews({ name, id, step }: Deployment): boolean {
    const known = this.#known.get(name)?.deployment
    return known === undefined || known.id !== id || known.step !== step
  }

  #take(name: string, found: KnownDeployment | undefined): void {
    const before = this.#known.get(name)
    if (!found) {
      this.#unknown.set(name, this.#options.env.monotonicMs() + unknownMs)
      if (!before) return
      this.#known.delete(name)
      this.#views.delete(name)
      return this.#tell({ ...before.deployment, removing: true })
    }
    const { id, step } = found.deployment
    // A store that answers from a slow copy does not take anything back.
    if (before?.deployment.id === id && before.deployment.step > step) return
    this.#known.set(name, found)
    this.#views.delete(name)
    this.#unknown.delete(name)
    if (found.lacksSettings) this.#readAgain(name)
    this.#tell(found.deployment)
  }

  /** The active revision was missing: it may have been replaced while the revisions were read. */
  #readAgain(name: string): void {
    if (this.#closed) return
    this.#again.get(name)?.()
    this.#again.set(name, this.#options.env.after(againMs, () => {
      this.#again.delete(name)
      this.#reader.read(name).catch(() => this.#readAgain(name))
    }))
  }

  #tell(deployment: Deployment): void {
    this.#changed(deployment)
    for (const watcher of [...this.#watchers.get(deployment.name) ?? []]) watcher(deployment)
  }
}

function viewOf(
  { deployment, graphs: revisions, settings, lacksSettings }: KnownDeployment,
): DeploymentView {
  const { active, next, paused, movesRuns, limits: { run_timeout_s: timeout } } = deployment
  return { active, next, paused, movesRuns, revisions, settings, lacksSettings,
    runTimeoutMs: timeout * 1_000 }
}
