/** Reads deployments with their revisions, so that a read that began earlier never wins. */

import { HeddleError } from '../../errors.ts'
import type { GraphDescription, ProjectSettings } from '../../graph/index.ts'
import type { Deployment } from '../deployment.ts'
import type { Deployments } from '../deployments.ts'
import type { Revision } from '../revision.ts'

/** A deployment as it was read. */
export interface KnownDeployment {
  readonly deployment: Deployment
  /** The graphs of revisions that can be loaded, by name. */
  readonly graphs: ReadonlyMap<string, readonly GraphDescription[]>
  /** Of the active revision; undefined if its project has none. */
  readonly settings: ProjectSettings | undefined
  /** True if the active revision was not found, so that its settings are not known. */
  readonly lacksSettings: boolean
}

/** Reads of one deployment: the one in progress, and the one that begins after it. */
interface Reads {
  readonly current: Promise<void>
  next: Promise<void> | undefined
}

const pageSize = 100

/** Reads each deployment once at a time. Callers that come meanwhile share the next read. */
export class DeploymentReader {
  readonly #deployments: Deployments
  readonly #took: (name: string, found: KnownDeployment | undefined) => void
  readonly #reads = new Map<string, Reads>()

  /** `took` gets what was read; undefined if there is no such deployment. */
  constructor(deployments: Deployments,
    took: (name: string, found: KnownDeployment | undefined) => void) {
    this.#deployments = deployments
    this.#took = took
  }

  /** Resolves when a read that began after this call has been taken. */
  read(name: string): Promise<void> {
    const reads = this.#reads.get(name)
    if (reads === undefined) return this.#begin(name)
    reads.next ??= reads.current.catch(() => {}).then(() => this.#begin(name))
    return reads.next
  }

  /** All deployments, without their revisions. One that is made meanwhile may be missing. */
  async all(): Promise<readonly Deployment[]> {
    const found: Deployment[] = []
    for (;;) {
      const page = await this.#deployments.list({ limit: pageSize, offset: found.length })
      found.push(...page)
      if (page.length < pageSize) return found
    }
  }

  #begin(name: string): Promise<void> {
    const current = this.#read(name)
    const reads: Reads = { current, next: undefined }
    this.#reads.set(name, reads)
    const forget = () => {
      // The next read replaces the entry when it begins.
      if (reads.next === undefined) this.#reads.delete(name)
    }
    void current.then(forget, forget)
    return current
  }

  async #read(name: string): Promise<void> {
    const deployment = await this.#deployments.get(name).catch((error: unknown) => {
      if (HeddleError.from(error).code === 'not_found') return undefined
      throw error
    })
    this.#took(name, deployment && await this.#knownOf(deployment))
  }

  async #knownOf(deployment: Deployment): Promise<KnownDeployment> {
    const { active } = deployment
    let found: Revision | undefined
    const graphs = new Map<string, readonly GraphDescription[]>()
    for (let offset = 0;;) {
      const page: readonly Revision[] = await this.#deployments.revisions(deployment, {
        limit: pageSize,
        offset,
      })
      for (const each of page) if (each.state === 'ready') graphs.set(each.name, each.graphs)
      found ??= page.find(({ name }) => name === active)
      if (page.length < pageSize) {
        return { deployment, graphs, settings: found?.settings ?? undefined,
          lacksSettings: active !== null && found === undefined }
      }
      offset += page.length
    }
  }
}
