/** Trees that are packed and unpacked by tests, and manifests of them. */

import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink,
  writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

import { onTestFinished } from 'vitest'

import { archiveOf } from '../../../src/revision/archive/archive.ts'
import type { Archive, Chunk, TreeSource } from '../../../src/revision/archive/archive.ts'
import type { Manifest, ManifestArchive } from '../../../src/revision/manifest.ts'

/** A folder that is removed after the test. */
export async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-revision-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** What a path of a tree has: a text, an executable text, or where a link leads. */
export type Leaf = string | { readonly program: string } | { readonly link: string }

/** A tree by path. */
export type Leaves = Readonly<Record<string, Leaf>>

/** Writes a tree into a folder. */
export async function writeTree(folder: string, leaves: Leaves): Promise<void> {
  for (const [path, leaf] of Object.entries(leaves)) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    if (typeof leaf === 'object' && 'link' in leaf) await symlink(leaf.link, file)
    else await writeFile(file, typeof leaf === 'string' ? leaf : leaf.program)
    if (typeof leaf === 'object' && 'program' in leaf) await chmod(file, 0o755)
  }
}

/** The tree that is in a folder, with `writable` at the paths that can be written to. */
export async function readTree(folder: string): Promise<Record<string, Leaf>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = entries.filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name)).sort()
  return Object.fromEntries(
    await Promise.all(
      found.map(async (file) => [relative(folder, file), await leafAt(file)] as const),
    ),
  )
}

async function leafAt(file: string): Promise<Leaf> {
  const found = await lstat(file)
  if (found.isSymbolicLink()) return { link: await readlink(file) }
  const text = await readFile(file, 'utf8')
  return found.mode & 0o100 ? { program: text } : text
}

/** What a tree in a folder is packed from. */
export async function sourcesIn(folder: string): Promise<TreeSource[]> {
  const tree = await readTree(folder)
  return await Promise.all(Object.entries(tree).map(async ([path, leaf]) => {
    if (typeof leaf === 'object' && 'link' in leaf) {
      return { kind: 'link', path, target: leaf.link } as const
    }
    const file = join(folder, path)
    const { size: bytes } = await lstat(file)
    return { kind: 'file', path, executable: typeof leaf === 'object', bytes, file, identity: '',
      changedMs: 0 } as const
  }))
}

/** Chunks by their hash, as a store has them. */
export class Chunks {
  readonly #data = new Map<string, Buffer>()
  reads = 0

  readonly read = async (sha256: string): Promise<Buffer> => {
    this.reads++
    const data = this.#data.get(sha256)
    if (data === undefined) throw new Error(`There is no chunk ${sha256}.`)
    return data
  }

  /** Adds a chunk. */
  put({ sha256, data }: Chunk): void {
    this.#data.set(sha256, data)
  }

  /** Adds the chunks of an archive. Returns what a manifest says of it. */
  add({ hash, bytes, files, chunks }: Archive, kind: ManifestArchive['kind'] = 'own',
    path = ''): ManifestArchive {
    for (const chunk of chunks) this.put(chunk)
    return { kind, path, hash, bytes, files,
      chunks: chunks.map(({ sha256, data }) => ({ sha256, bytes: data.length })) }
  }

  /** Adds an archive of a tree. */
  async addTree(leaves: Leaves, kind: ManifestArchive['kind'] = 'own',
    path = ''): Promise<ManifestArchive> {
    const folder = await freshFolder()
    await writeTree(folder, leaves)
    return this.add(await archiveOf(await sourcesIn(folder)), kind, path)
  }
}

/** A manifest with these archives. */
export function manifestOf(archives: readonly ManifestArchive[]): Manifest {
  return { version: 1, node: 24, platform: null, root: '', config: 'langgraph.json',
    graphs: [{ graph_id: 'agent', path: 'agent.ts', export: 'graph' }], archives: [...archives],
    lock_sha256: '0'.repeat(64), env: {}, wants_env: [],
    source: { commit: null, branch: null, dirty: false } }
}
