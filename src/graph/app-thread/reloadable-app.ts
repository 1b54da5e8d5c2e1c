/** The login and the app of a project that is reloaded when one of its files changes. */

import type { Env } from '../../../cluster/index.ts'
import type { ProjectApp } from '../app/project-app.ts'
import { graphEnvironment } from '../project/graph-environment.ts'
import type { CompiledProject } from '../project/project-compiler.ts'
import { defaultHeapMb, memoryMb } from '../pool/worker-heap.ts'
import { AppLink } from './app-link.ts'
import { bringsCode, defaultAppTimeoutMs, SupervisedApp } from './supervised-app.ts'

/** Bounds of the code of a login and an app. */
export interface ReloadableAppOptions {
  readonly env: Env
  /** MiB that it may fill; by default as much as a graph worker. */
  readonly heapMb: number | undefined
  /** Number of graph workers beside it. */
  readonly workers: number
  /** Variables that it sees, as graphs do. */
  readonly variables: readonly string[]
  /** Time that an answer of the login may take, in milliseconds; by default 10 000. */
  readonly timeoutMs?: number | undefined
}

/** A thread that was loaded, and may take the place of the one before. */
export interface LoadedApp {
  /** Serves it from now on. */
  take(): void
  /** Ends it. */
  drop(): Promise<void>
}

/** Time in which a thread that was replaced may end its requests. */
const outgoingMs = 30_000

interface Served {
  readonly thread: SupervisedApp
  readonly link: AppLink
}

/** Serves the newest project that could be loaded. */
export class ReloadableApp {
  readonly #options: ReloadableAppOptions
  readonly #outgoing = new Set<Served>()
  #served: Served | undefined
  #url: string | undefined
  #hasUrl = false

  constructor(options: ReloadableAppOptions) {
    this.#options = options
  }

  /** The login and the app; undefined if the project brings neither. */
  get app(): ProjectApp | undefined {
    return this.#served?.link.app
  }

  /** Loads a project. Rejects with `graph_failed` if its login or its app cannot be loaded. */
  async load(project: CompiledProject): Promise<LoadedApp> {
    const { env, heapMb, workers, variables, timeoutMs = defaultAppTimeoutMs } = this.#options
    if (!bringsCode(project)) return { take: () => this.#take(undefined), drop: async () => {} }
    const link = new AppLink(env, timeoutMs)
    const thread = new SupervisedApp(env, { project, hangMs: timeoutMs,
      heapMb: heapMb ?? defaultHeapMb(memoryMb(), workers + 1),
      variables: graphEnvironment(process.env, variables), moved: (place) => link.moved(place) })
    const served = { thread, link }
    try {
      await thread.opened
    } catch (error) {
      await end(served)
      throw error
    }
    return { take: () => this.#take(served), drop: () => end(served) }
  }

  /** Gives its code the URL at which the server answers clients; undefined if it does not. */
  servedAt(url: string | undefined): void {
    this.#url = url
    this.#hasUrl = true
    this.#served?.thread.servedAt(url)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#outgoing, ...this.#served ? [this.#served] : []].map(end))
  }

  #take(served: Served | undefined): void {
    const before = this.#served
    this.#served = served
    if (this.#hasUrl) served?.thread.servedAt(this.#url)
    if (before === undefined) return
    this.#outgoing.add(before)
    this.#options.env.after(outgoingMs, () => {
      this.#outgoing.delete(before)
      void end(before)
    })
  }
}

async function end({ thread, link }: Served): Promise<void> {
  link.close()
  await thread.close()
}
