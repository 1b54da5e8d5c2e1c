/** The revisions that a member has on disk. */

import { chmod, mkdir, readdir, readFile, rename, rm, stat, utimes,
  writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import type { ReadChunk } from '../archive/archive-reader.ts'
import { ownArchive, packageArchives, packagesHash } from '../manifest.ts'
import type { Manifest, ManifestArchive } from '../manifest.ts'
import { writingTo } from '../written-path.ts'
import { linkNestedPackages } from './nested-packages.ts'
import { syncFolder, unpack } from './unpack.ts'

/** Folder of the cache, and the bytes that it may have. */
export interface RevisionCacheOptions {
  /** Folder, which is made if it is missing. One process uses it at a time. */
  readonly directory: string
  /**
   * Name of the folder in messages. Default: a name without the path, because deployers see it.
   */
  readonly label?: string
  /**
   * Bytes of all trees together. The least recently used tree goes first. A held tree never goes,
   * even if there are more bytes.
   */
  readonly bytesMax: number
  readonly env: Pick<Env, 'nowMs'>
}

/** A revision on disk that is not removed before it is released. */
export interface HeldRevision {
  /** The folder of the own files: the root of the workspace, or of the project. */
  readonly root: string
  /** Path of its langgraph.json. */
  readonly configFile: string
  /** Lets the cache remove it. Calls after the first do nothing. */
  release(): void
}

/** A folder of packages, or of own files, that is complete. */
interface Tree {
  readonly bytes: number
  usedAtMs: number
}

/**
 * Mode of the folders: other users pass and see no names. Code of a deployment may run as a user of
 * its own, which finds the files of its revision only, as their name is a hash that it is given.
 */
const passable = 0o711
/** Bits of a mode for users other than the owner. */
const ofOthers = 0o007

const usualLabel = 'the folder of revisions'

/** Form of the names of the cache's folders. Nothing else in the directory has it. */
const isTree = /^[0-9a-f]{64}/

/**
 * Keeps each set of packages once, as `<packages>/node_modules`, and the own files of revisions
 * below it, as `<packages>/<own>`: Node finds packages by walking up. Both names are hashes of what
 * is in there. A folder is complete if `<its name>.json` lies beside it.
 */
export class RevisionCache {
  readonly #options: RevisionCacheOptions
  /** By path below the directory. */
  readonly #trees = new Map<string, Tree>()
  readonly #holders = new Map<string, number>()
  /** Folders that are being filled or removed. */
  readonly #busy = new Map<string, Promise<void>>()

  private constructor(options: RevisionCacheOptions) {
    this.#options = options
  }

  /** Finds what is there, and removes what was not completed when the process ended. */
  static async open(options: RevisionCacheOptions): Promise<RevisionCache> {
    const { directory, label } = options
    await writingTo(directory, async () => {
      await mkdir(directory, { recursive: true })
      await chmod(directory, passable)
    }, label ?? usualLabel)
    const cache = new RevisionCache(options)
    for (const packages of await cache.#find('')) await cache.#find(packages)
    await cache.#evict()
    return cache
  }

  /** Bytes of all that is there. */
  get bytes(): number {
    return [...this.#trees.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /**
   * Gives a revision, which is unpacked unless it is there. The manifest is a checked one. Throws
   * RevisionError if an archive differs from the manifest, `unavailable` if the disk cannot store
   * it, and the errors of `readChunk`; the disk has no part of it then.
   */
  async hold(manifest: Manifest, readChunk: ReadChunk,
    signal?: AbortSignal): Promise<HeldRevision> {
    const packages = packagesHash(manifest)
    const own = join(packages, ownArchive(manifest).hash)
    const release = this.#keep([packages, own])
    try {
      await this.#fill(packages, packageArchives(manifest), readChunk, signal)
      await this.#fill(own, [ownArchive(manifest)], readChunk, signal)
      await this.#evict()
    } catch (error) {
      release()
      throw error
    }
    const root = this.#pathOf(own)
    return { root, configFile: join(root, manifest.config), release }
  }

  #keep(folders: readonly string[]): () => void {
    const count = (by: number) => {
      for (const folder of folders) {
        const holders = (this.#holders.get(folder) ?? 0) + by
        if (holders > 0) this.#holders.set(folder, holders)
        else this.#holders.delete(folder)
      }
    }
    count(1)
    let held = true
    return () => {
      if (held) count(-1)
      held = false
    }
  }

  async #fill(folder: string, archives: readonly ManifestArchive[], readChunk: ReadChunk,
    signal: AbortSignal | undefined): Promise<void> {
    // After a failure of another call, this one tries again with its own chunks.
    while (this.#busy.has(folder)) await this.#busy.get(folder)
    const tree = this.#trees.get(folder)
    if (tree) return await this.#touch(folder, tree)
    const { directory, label = usualLabel } = this.#options
    await this.#alone(folder, () =>
      writingTo(directory, async () => {
        const fresh = `${this.#pathOf(folder)}.new`
        try {
          await unpack(archives, fresh, readChunk, signal)
          const [packages, own] = folder.split('/')
          if (own === undefined) await chmod(fresh, passable)
          else await linkNestedPackages(this.#pathOf(packages!), fresh)
          await rename(fresh, this.#pathOf(folder))
        } catch (error) {
          await rm(fresh, { recursive: true, force: true })
          throw error
        }
        await this.#complete(folder, archives.reduce((sum, { bytes }) => sum + bytes, 0))
      }, label))
  }

  /** Writes the mark of a complete folder, after all that it promises is on disk. */
  async #complete(folder: string, bytes: number): Promise<void> {
    const parent = join(this.#pathOf(folder), '..')
    await syncFolder(parent)
    await writeFile(`${this.#pathOf(folder)}.json`, JSON.stringify({ bytes }), { flush: true })
    await syncFolder(parent)
    this.#trees.set(folder, { bytes, usedAtMs: this.#options.env.nowMs() })
  }

  async #touch(folder: string, tree: Tree): Promise<void> {
    tree.usedAtMs = this.#options.env.nowMs()
    const time = tree.usedAtMs / 1_000
    await utimes(`${this.#pathOf(folder)}.json`, time, time)
  }

  /** Names of the complete folders in a folder. Incomplete ones are removed. */
  async #find(parent: string): Promise<readonly string[]> {
    const names = (await readdir(this.#pathOf(parent))).filter((name) => isTree.test(name))
    const found: string[] = []
    for (const name of names) {
      const folder = join(parent, name)
      const isWhole = names.includes(name.endsWith('.json') ? name.slice(0, -5) : `${name}.json`)
      const tree = isWhole && !name.endsWith('.json') ? await this.#read(folder) : undefined
      if (tree && parent === '') await chmod(this.#pathOf(folder), passable)
      if (tree) this.#trees.set(folder, tree)
      if (tree) found.push(folder)
      else if (!isWhole || !name.endsWith('.json')) await this.#erase(folder)
    }
    return found
  }

  /**
   * Size and last use from a tree's mark; undefined without one, or if users of graphs could not
   * read it.
   */
  async #read(folder: string): Promise<Tree | undefined> {
    const file = `${this.#pathOf(folder)}.json`
    try {
      const { mode } = await stat(this.#pathOf(folder))
      if ((mode & ofOthers) === 0) return undefined
      const { bytes } = JSON.parse(await readFile(file, 'utf8')) as { readonly bytes: number }
      return { bytes, usedAtMs: (await stat(file)).mtimeMs }
    } catch {
      return undefined
    }
  }

  async #evict(): Promise<void> {
    while (this.bytes > this.#options.bytesMax) {
      const oldest = [...this.#trees].filter(([folder]) => this.#isFree(folder))
        .toSorted(([, one], [, other]) => one.usedAtMs - other.usedAtMs)[0]
      if (oldest === undefined) return
      const [folder] = oldest
      this.#trees.delete(folder)
      await this.#alone(folder, () => this.#erase(folder))
    }
  }

  /** True if a tree may be removed. Packages stay as long as own files use them. */
  #isFree(folder: string): boolean {
    return !this.#holders.has(folder) && !this.#busy.has(folder)
      && ![...this.#trees.keys()].some((other) => other.startsWith(`${folder}/`))
  }

  /** Removes a tree. The mark goes first: a folder without it is removed at the next start. */
  async #erase(folder: string): Promise<void> {
    for (const path of [`${this.#pathOf(folder)}.json`, this.#pathOf(folder)]) {
      await rm(path, { recursive: true, force: true })
    }
  }

  /** Does work on a folder alone, so that no other call sees it half done. */
  async #alone(folder: string, work: () => Promise<void>): Promise<void> {
    const done = work()
    this.#busy.set(folder, done.catch(() => {}))
    try {
      await done
    } finally {
      this.#busy.delete(folder)
    }
  }

  #pathOf(folder: string): string {
    return join(this.#options.directory, folder)
  }
}
