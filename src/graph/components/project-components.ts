/** The components of the server's own project: built at its start, and when their files change. */

import { isDeepStrictEqual } from 'node:util'

import { changedMs } from '../file-times.ts'
import { buildComponents } from './build-components.ts'
import type { BuiltComponents } from './build-components.ts'
import type { ProjectWithUi } from './ui-plan.ts'

/** Finds the files of components by what callers name. */
export interface ComponentSource {
  /** Names of the files of a graph's components; empty if it has none. */
  namesOf(graphId: string): Promise<readonly string[]>
  /** The content of a file; undefined if there is none. */
  read(name: string): Promise<Uint8Array | undefined>
}

const nothing: BuiltComponents = { graphs: [], sources: [], warnings: [] }

/** Keeps what was built last, and what was built before that for pages which are open. */
export class ProjectComponents implements ComponentSource {
  #project: ProjectWithUi
  #built = nothing
  #before = nothing

  private constructor(project: ProjectWithUi) {
    this.#project = project
  }

  /** Builds the components of a project. Throws `invalid`. */
  static async open(project: ProjectWithUi): Promise<ProjectComponents> {
    const components = new ProjectComponents(project)
    await components.#build(project)
    return components
  }

  /** The project's own files that they were made of. */
  get sources(): readonly string[] {
    return this.#built.sources.map(([file]) => file)
  }
  get warnings(): readonly string[] {
    return this.#built.warnings
  }

  /** Builds them again if a file or a setting has changed. Throws `invalid`: then nothing has. */
  async refresh(project: ProjectWithUi): Promise<void> {
    const isSame = isDeepStrictEqual(project.ui, this.#project.ui) &&
      this.#built.sources.every(([file, ms]) => changedMs(file) === ms)
    if (!isSame) await this.#build(project)
  }

  async namesOf(graphId: string): Promise<readonly string[]> {
    const found = this.#built.graphs.find((each) => each.graphId === graphId)
    return found?.files.map(({ name }) => name) ?? []
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    return [...this.#built.graphs, ...this.#before.graphs].flatMap(({ files }) => files)
      .find((file) => file.name === name)?.content
  }

  async #build(project: ProjectWithUi): Promise<void> {
    const built = await buildComponents(project)
    this.#before = this.#built
    this.#built = built
    this.#project = project
  }
}
