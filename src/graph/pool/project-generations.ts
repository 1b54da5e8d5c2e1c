/** The projects of a pool: the one that serves, and those that are to follow it. */

import type { HeddleError } from '../../errors.ts'
import type { GraphDescription } from '../execution.ts'
import type { CompiledProject } from '../project/project-compiler.ts'

/**
 * serving      a worker has loaded the project
 * superseded   the project changed once more before that
 */
export type Opened = 'serving' | 'superseded'

/** Projects are numbered from 1 in the order in which they came. */
export class ProjectGenerations {
  /** By generation, the serving one and later ones. */
  readonly #projects: Map<number, CompiledProject>
  #newest = 1
  /** The generation that takes work, and what it serves; 0 before the first. */
  #serving = 0
  #graphs: readonly GraphDescription[] = []
  #opening: PromiseWithResolvers<Opened> | undefined

  constructor(project: CompiledProject) {
    this.#projects = new Map([[1, project]])
  }

  get newest(): number {
    return this.#newest
  }

  get serving(): number {
    return this.#serving
  }

  /** The generation that serves, or will be the first to. */
  get current(): number {
    return this.#serving || this.#newest
  }

  /** The graphs of the serving generation. */
  get graphs(): readonly GraphDescription[] {
    return this.#graphs
  }

  /** Of the serving generation or a later one. */
  project(generation: number): CompiledProject {
    return this.#projects.get(generation)!
  }

  /** Resolves when a worker has loaded the newest project, or when that has changed. */
  open(): Promise<Opened> {
    this.#opening = Promise.withResolvers()
    return this.#opening.promise
  }

  /** A new project, which serves as soon as a worker has loaded it. */
  add(project: CompiledProject): void {
    this.#newest += 1
    this.#projects.set(this.#newest, project)
    this.#opening?.resolve('superseded')
  }

  /** A worker has loaded its project; true if that is the first to serve it. */
  loaded(generation: number, graphs: readonly GraphDescription[]): boolean {
    const takesOver = generation > this.#serving
    if (takesOver) {
      this.#serving = generation
      this.#graphs = graphs
      for (const old of this.#projects.keys()) if (old < generation) this.#projects.delete(old)
    }
    return takesOver
  }

  /** A worker is ready to serve this generation. Resolves `open` if none is newer. */
  announce(generation: number): void {
    if (generation === this.#newest) this.#opening?.resolve('serving')
  }

  /** Rejects every caller that waits for the project, because it cannot be loaded. */
  failed(error: HeddleError): void {
    this.#opening?.reject(error)
  }
}
