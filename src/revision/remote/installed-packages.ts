/**
 * Keeps the packages that builds have installed, by their lock files and manifests, for the next
 * build of the same ones. They are moved and never copied; those used last stay.
 */

import { createHash } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

import { memberOf } from '../../json/index.ts'

/** Bounds on the kept packages. */
export interface InstalledLimits {
  readonly bytes: number
  readonly sets: number
}

/** Limits of a server that has no others. */
const installedLimits: InstalledLimits = { bytes: 2_000_000_000, sets: 20 }

const folderName = 'node_modules'
const listName = 'folders.json'

/** Conditions under which an installation may be taken again. */
export interface InstalledKey {
  /** Owner of the packages: no other owner gets what this one installed. */
  readonly scope: string
  readonly platform: string
  readonly command: readonly string[]
  readonly lockText: string
}

/** Key of the packages; undefined if they depend on more than this, as on files of the project. */
export async function installedKey(root: string, files: readonly string[],
  { scope, platform, command, lockText }: InstalledKey): Promise<string | undefined> {
  // Archives and folders of the project that are copied; npm links folders.
  const copied = command[0] === 'npm' ? /"resolve[d]": ?"file:/ : /\b(?:file|portal):/
  if (copied.test(lockText)) return undefined
  const hash = createHash('sha256')
  hash.update(JSON.stringify([scope, platform, command, lockText]))
  for (const file of files.toSorted()) {
    hash.update(JSON.stringify([relative(root, file), await readFile(file, 'utf8')]))
  }
  return hash.digest('hex')
}

/** Moves kept packages into the project. False if there are none. */
export async function takeInstalled(directory: string, key: string, root: string,
  work: string): Promise<boolean> {
  const taken = join(work, 'taken')
  try {
    // No other build has it from here on.
    await rename(join(directory, key), taken)
    const folders = JSON.parse(await readFile(join(taken, listName), 'utf8')) as readonly string[]
    for (const [index, folder] of folders.entries()) {
      await mkdir(join(root, dirname(folder)), { recursive: true })
      await rename(join(taken, String(index)), join(root, folder))
    }
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  } finally {
    await rm(taken, { recursive: true, force: true })
  }
}

/** Moves installed packages out of the project, and removes the least recently used ones. */
export async function keepInstalled(directory: string, key: string, root: string, work: string,
  limits: InstalledLimits = installedLimits): Promise<void> {
  const kept = join(work, 'kept')
  await mkdir(kept, { recursive: true })
  const folders = await installedFolders(root)
  let bytes = 0
  for (const [index, folder] of folders.entries()) {
    bytes += await bytesOf(join(root, folder))
    await rename(join(root, folder), join(kept, String(index)))
  }
  if (bytes > limits.bytes) return
  await writeFile(join(kept, 'bytes'), String(bytes))
  await writeFile(join(kept, listName),
    JSON.stringify(folders.map((folder) => folder.replaceAll('\\', '/'))))
  await mkdir(directory, { recursive: true })
  await rename(kept, join(directory, key)).catch(() => {
    // Another build of the same was faster: one of them is enough.
  })
  await evict(directory, limits)
}

/** The outermost folders of packages in a project. */
async function installedFolders(root: string, folder = ''): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true })
  const below = entries.filter((entry) => entry.isDirectory()).map(async ({ name }) => {
    const path = join(folder, name)
    return name === folderName ? [path] : await installedFolders(root, path)
  })
  return (await Promise.all(below)).flat()
}

/** Bytes of all files below a folder. */
export async function bytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  let sum = 0
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) sum += await bytesOf(path)
    else sum += await lstat(path).then(({ size }) => size, () => 0)
  }
  return sum
}

async function evict(directory: string, limits: InstalledLimits): Promise<void> {
  const sets = await Promise.all((await readdir(directory)).map(async (name) => {
    const path = join(directory, name)
    const [bytes, usedMs] = await Promise.all([
      readFile(join(path, 'bytes'), 'utf8').then(Number, () => Infinity),
      lstat(path).then(({ mtimeMs }) => mtimeMs, () => 0),
    ])
    return { path, bytes, usedMs }
  }))
  let [count, sum] = [0, 0]
  for (const { path, bytes } of sets.toSorted((one, other) => other.usedMs - one.usedMs)) {
    const isKept = ++count <= limits.sets && (sum += bytes) <= limits.bytes
    if (!isKept) await rm(path, { recursive: true, force: true })
  }
}

function isMissing(error: unknown): boolean {
  return memberOf(error, 'code') === 'ENOENT'
}
