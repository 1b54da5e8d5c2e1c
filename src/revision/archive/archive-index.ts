/**
 * Remembers the archives that the packages of a project were packed to, as Git remembers files in
 * its index. A package whose files did not change is not read again.
 */

import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { ownBuild } from '../../settings/index.ts'
import type { ManifestArchive } from '../manifest.ts'
import type { TreeSource } from './archive.ts'

/** The part of a manifest about one archive that holds wherever the archive lies. */
export type PackedArchive = Omit<ManifestArchive, 'kind' | 'path'>

interface Entry {
  /** Hash of the paths, sizes, times and inodes of all its files. */
  readonly stamp: string
  readonly packed: PackedArchive
}

/** Use of the index in one build. */
export interface IndexUse {
  /** Current time, taken before files are looked at. */
  readonly nowMs: number
  /** False to pack all packages anew. The index is written all the same. */
  readonly isRead: boolean
}

/**
 * Age below which a file may change and keep its times: some file systems count in steps of 2 s.
 */
const racyMs = 2_000

/** The build that packs, because another build may pack the same files in another way. */
const program = `heddle ${ownBuild()} node ${process.version}`

/** The archives of one project, by the path of the package. */
export class ArchiveIndex {
  readonly #file: string
  readonly #nowMs: number
  readonly #before: ReadonlyMap<string, Entry>
  readonly #after = new Map<string, Entry>()

  constructor(file: string, nowMs: number, before: ReadonlyMap<string, Entry>) {
    this.#file = file
    this.#nowMs = nowMs
    this.#before = before
  }

  /** Opens the index of a project. An index that cannot be read counts as empty. */
  static async open(root: string, { nowMs, isRead }: IndexUse): Promise<ArchiveIndex> {
    const file = join(root, 'node_modules', '.cache', 'heddle-archives')
    const text = isRead ? await readFile(file, 'utf8').catch(() => '') : ''
    return new ArchiveIndex(file, nowMs, entriesIn(text))
  }

  /** Archive of a package; undefined if it has to be packed. */
  find(path: string, tree: readonly TreeSource[]): PackedArchive | undefined {
    const known = this.#before.get(path)
    if (known === undefined || known.stamp !== stampOf(tree)) return undefined
    this.#after.set(path, known)
    return known.packed
  }

  /** Remembers the archive of a package, unless its files are too new to show later changes. */
  note(path: string, tree: readonly TreeSource[], packed: PackedArchive): void {
    const newestMs = Math.max(...tree.map((each) => each.kind === 'file' ? each.changedMs : 0))
    if (newestMs >= this.#nowMs - racyMs) return
    this.#after.set(path, { stamp: stampOf(tree), packed })
  }

  /** Writes what was found and noted. Nothing is lost if it cannot be written. */
  async save(): Promise<void> {
    const body = JSON.stringify([...this.#after])
    const temporary = `${this.#file}.${process.pid}`
    try {
      await mkdir(dirname(this.#file)).catch(() => {})
      await writeFile(temporary, `${checksum(body)}\n${body}`)
      await rename(temporary, this.#file)
    } catch {
      // Without an index, the next build packs all packages.
      await rm(temporary, { force: true }).catch(() => {})
    }
  }
}

/** Entries of the index; none if another build wrote it, or if it is cut off. */
function entriesIn(text: string): ReadonlyMap<string, Entry> {
  const end = text.indexOf('\n')
  const body = text.slice(end + 1)
  if (end < 0 || text.slice(0, end) !== checksum(body)) return new Map()
  return new Map(JSON.parse(body) as [string, Entry][])
}

function checksum(body: string): string {
  return createHash('sha256').update(`${program}\n${body}`).digest('hex')
}

function stampOf(tree: readonly TreeSource[]): string {
  const lines = tree.map((each) =>
    JSON.stringify(each.kind === 'link'
      ? [each.path, each.target]
      : [each.path, each.executable, each.bytes, each.identity])
  )
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex')
}
