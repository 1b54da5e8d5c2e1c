/** The components of deployments, read from the revisions that a member has on disk. */

import { LRUCache } from '../../../cluster/index.ts'
import { componentsOf, readComponent } from '../../revision/index.ts'
import type { HeldRevision } from '../../revision/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import type { Deployment } from '../deployment.ts'
import type { LoadParts } from './load-revision.ts'

/** Parts of the member with which revisions are found. */
export type ComponentParts = Pick<LoadParts, 'deployments' | 'cache'>

/** Revisions whose lists are in memory, and bytes of files that are. */
const listsMax = 200
const bytesMax = 64 * 1024 * 1024

type Lists = ReadonlyMap<string, readonly string[]>

/** Reads components. Names of files change with their content, so that what is known stays true. */
export class RevisionComponents {
  readonly #parts: ComponentParts
  readonly #lists = new LRUCache<string, Promise<Lists>>({ max: listsMax })
  readonly #files = new LRUCache<string, Uint8Array>({ maxSize: bytesMax,
    sizeCalculation: ({ length }) => length + 100 })

  constructor(parts: ComponentParts) {
    this.#parts = parts
  }

  /** Names of the files of a graph's components, in the active revision. */
  async namesOf(deployment: Deployment, graphId: string): Promise<readonly string[]> {
    if (deployment.active === null) return []
    return (await this.#listsOf(deployment, deployment.active)).get(graphId) ?? []
  }

  /**
   * A file of a revision that takes runs, of the one before, or of one that was asked for since
   * this member started: pages that are open have its name. Undefined if there is none.
   */
  async read(deployment: Deployment, name: string): Promise<Uint8Array | undefined> {
    const key = `${deployment.id} ${name}`
    const known = this.#files.get(key)
    if (known !== undefined) return known
    const revision = await this.#revisionWith(deployment, name)
    if (revision === undefined) return undefined
    const content = await this.#held(deployment, revision, ({ root }) => readComponent(root, name))
    if (content !== undefined) this.#files.set(key, content)
    return content
  }

  async #revisionWith(deployment: Deployment, name: string): Promise<string | undefined> {
    const { id, active, next, previous } = deployment
    const asked = [...this.#lists.keys()].filter((key) => key.startsWith(`${id} `))
      .map((key) => key.slice(id.length + 1))
    const wanted = new Set([active, next?.revision, previous, ...asked])
    for (const revision of wanted) {
      if (revision == null) continue
      // The one before may have been removed.
      const lists = await this.#listsOf(deployment, revision).catch(ignoreNotFound)
      if ([...lists?.values() ?? []].some((names) => names.includes(name))) return revision
    }
    return undefined
  }

  async #listsOf(deployment: Deployment, revision: string): Promise<Lists> {
    const key = `${deployment.id} ${revision}`
    const known = this.#lists.get(key)
    if (known !== undefined) return await known
    const lists = this.#held(deployment, revision, ({ root }) => componentsOf(root))
    this.#lists.set(key, lists)
    // A store that cannot be reached may be later.
    lists.catch(() => this.#lists.delete(key))
    return await lists
  }

  async #held<Found>(deployment: Deployment, name: string,
    read: (held: HeldRevision) => Promise<Found>): Promise<Found> {
    const { deployments, cache } = this.#parts
    const revision = await deployments.revision(deployment, name)
    const manifest = await deployments.manifest(revision)
    const held = await cache.hold(manifest, deployments.readChunks(deployment.id))
    try {
      return await read(held)
    } finally {
      held.release()
    }
  }
}
