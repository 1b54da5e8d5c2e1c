/** Compiles a project again when one of its files changes, for development. */

import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { ProjectComponents } from '../components/project-components.ts'
import { compileProject, modulesIn } from './project-compiler.ts'
import type { CompiledProject } from './project-compiler.ts'
import { readProject } from './project.ts'
import type { Project } from './project.ts'

/** Receiver of changes to a project and of their faults. */
export interface ProjectListener {
  /** Called when the compiled project or its settings have changed. */
  changed(compiled: CompiledProject, project: Project): void
  /** Called when a change cannot be used. The project stays as it was before. */
  failed(error: HeddleError): void
}

/** An editor writes a file in several steps. After this long without one, the change has ended. */
const quietMs = 60

/** A project as it was compiled, with its components, which follow its changes. */
export interface WatchedProject {
  readonly project: Project
  readonly compiled: CompiledProject
  readonly components: Pick<ProjectComponents, 'sources' | 'refresh'>
}

/** Watches until the returned function is called. The listener is not called after that. */
export function watchProject(env: Env, watched: WatchedProject,
  listener: ProjectListener): () => void {
  const watcher = new ProjectWatcher(env, watched, listener)
  return () => watcher.stop()
}

class ProjectWatcher {
  readonly #env: Env
  readonly #listener: ProjectListener
  readonly #folders = new Map<string, FSWatcher>()
  readonly #components: WatchedProject['components']
  #project: Project
  #compiled: CompiledProject
  #files: ReadonlySet<string> = new Set()
  /**
   * True if something could not be compiled. A change to a file that is not known yet may fix it.
   */
  #broken: boolean
  #compiling = false
  #cancelTimer = () => {}
  #stopped = false

  constructor(env: Env, { project, compiled, components }: WatchedProject,
    listener: ProjectListener) {
    this.#env = env
    this.#components = components
    this.#project = project
    this.#compiled = compiled
    this.#listener = listener
    this.#broken = compiled.graphs.some(({ failure }) => failure !== null)
    this.#watch(project, compiled)
  }

  stop(): void {
    this.#stopped = true
    this.#cancelTimer()
    for (const folder of this.#folders.values()) folder.close()
  }

  /** Watches folders, not files, because an editor may replace a file by a new one. */
  #watch(project: Project, compiled: CompiledProject): void {
    this.#files = new Set([...filesOf(project, compiled), ...this.#components.sources])
    const wanted = new Set([...this.#files].map((file) => dirname(file)))
    for (const [folder, watcher] of this.#folders) {
      if (wanted.has(folder)) continue
      watcher.close()
      this.#folders.delete(folder)
    }
    for (const folder of wanted) {
      if (!this.#folders.has(folder)) this.#watchFolder(folder)
    }
  }

  #watchFolder(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name === null || this.#concerns(join(folder, name))) this.#schedule()
      })
      // If the folder was removed, its files had events of their own.
      watcher.on('error', () => this.#folders.delete(folder))
      this.#folders.set(folder, watcher)
    } catch (error) {
      this.#env.log.warn('A folder of the project cannot be watched.', { folder, error })
    }
  }

  #concerns(file: string): boolean {
    return this.#files.has(file)
      || this.#broken && /^\.([cm]?[jt]s|[jt]sx|json)$/.test(extname(file))
  }

  #schedule(): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#env.after(quietMs, () => void this.#recompile())
  }

  async #recompile(): Promise<void> {
    if (this.#compiling) return this.#schedule()
    this.#compiling = true
    try {
      const project = await readProject(this.#project.configFile, {
        ignoreAuth: this.#project.ignoreAuth,
        record: this.#project.record,
      })
      const compiled = await compileProject(project)
      await this.#components.refresh(project)
      if (!this.#stopped) this.#take(project, compiled)
    } catch (error) {
      this.#broken = true
      if (!this.#stopped) this.#listener.failed(HeddleError.from(error))
    } finally {
      this.#compiling = false
    }
  }

  #take(project: Project, compiled: CompiledProject): void {
    const { graphs, embedding, login, app, mask } = compiled
    const failures = [...graphs, embedding, login, app, mask].flatMap((each) => each?.failure ?? [])
    if (failures.length > 0) {
      throw new HeddleError('graph_failed', [...new Set(failures)].join('\n'))
    }
    this.#broken = false
    this.#watch(project, compiled)
    const differs = !isDeepStrictEqual(compiled, this.#compiled)
      || !isDeepStrictEqual(project.webhooks, this.#project.webhooks)
      || !isDeepStrictEqual(project.settings, this.#project.settings)
      || !isDeepStrictEqual(project.store, this.#project.store)
    this.#project = project
    this.#compiled = compiled
    if (differs) this.#listener.changed(compiled, project)
  }
}

function filesOf(project: Project, compiled: CompiledProject): Set<string> {
  const files = [...compiled.sources.keys()].map((url) => fileURLToPath(url))
  const settings = ['package.json', 'tsconfig.json'].map((name) => join(project.root, name))
  const modules = modulesIn(project).map(({ file }) => file)
  return new Set([project.configFile, ...settings, ...modules, ...files,
    ...project.envFile === null ? [] : [project.envFile]])
}
