/** The project's own files, as they are packed. */

import { fstatSync } from 'node:fs'
import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'

import type { TreeSource } from '../archive/archive.ts'
import { RevisionError } from '../revision-error.ts'
import { IgnoreRules, isNeverPacked } from './ignore-rules.ts'
import type { IgnoreFile } from './ignore-rules.ts'

/** Files that are packed, and those that are left out. */
export interface OwnFilesOptions {
  /** Absolute and without links. */
  readonly root: string
  /** Absolute path of the dotenv file that is not packed, whatever its name; null without one. */
  readonly envFile: string | null
  /** Absolute paths of files that the graphs import: these are packed also if they are ignored. */
  readonly needed: readonly string[]
  readonly filesMax: number
  /**
   * Files that are not the project's, as `<device> <inode>`; by default those to which this process
   * prints.
   */
  readonly printed?: ReadonlySet<string>
}

const ignoreFiles = ['.gitignore', '.heddleignore', '.dockerignore'] as const

/** All files below the root that nothing excludes. Throws RevisionError. */
export async function ownFiles(options: OwnFilesOptions): Promise<TreeSource[]> {
  const found = new Map<string, TreeSource>()
  await walk(options, '', new IgnoreRules(), found)
  for (const file of options.needed) {
    const path = relative(options.root, file).replaceAll(sep, '/')
    if (path.startsWith('../')) throw outside(file)
    const steps = path.split('/')
    if (steps.some(isNeverPacked) || file === options.envFile) continue
    if (!found.has(path)) await add(options, path, found)
  }
  return [...found.values()]
}

async function walk(options: OwnFilesOptions, folder: string, above: IgnoreRules,
  found: Map<string, TreeSource>): Promise<void> {
  const entries = await readdir(join(options.root, folder), { withFileTypes: true })
  const names = new Set(entries.map(({ name }) => name))
  const rules = above.with(await ignoreFilesIn(options.root, folder, names))
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (isNeverPacked(entry.name) || rules.ignores(path, entry.isDirectory())) continue
    if (join(options.root, path) === options.envFile) continue
    if (entry.isDirectory()) await walk(options, path, rules, found)
    else await add(options, path, found)
  }
}

/** The ignore files of a folder. A .dockerignore counts at the root only. */
async function ignoreFilesIn(root: string, folder: string,
  names: ReadonlySet<string>): Promise<IgnoreFile[]> {
  const present = ignoreFiles.filter((name) =>
    names.has(name) && (name !== '.dockerignore' || folder === '')
  )
  return await Promise.all(present.map(async (name) => ({
    folder,
    form: name === '.dockerignore' ? 'docker' as const : 'git' as const,
    text: await readFile(join(root, folder, name), 'utf8'),
  })))
}

async function add({ root, filesMax, printed = printedFiles() }: OwnFilesOptions, path: string,
  found: Map<string, TreeSource>): Promise<void> {
  const entry = await sourceAt(root, root, path)
  if (entry === undefined || await isPrinted(entry, printed)) return
  found.set(path, entry)
  if (found.size > filesMax) {
    throw new RevisionError('too_large', `The project has more than ${filesMax} files: name in ` +
      '.heddleignore what its graphs do not need.')
  }
}

/** Files into which a shell writes the output of this process: they grow while it packs. */
function printedFiles(): ReadonlySet<string> {
  return new Set([1, 2].flatMap((fd) => {
    try {
      const found = fstatSync(fd, { bigint: true })
      return found.isFile() ? [`${found.dev} ${found.ino}`] : []
    } catch {
      // It is closed.
      return []
    }
  }))
}

async function isPrinted(entry: TreeSource, printed: ReadonlySet<string>): Promise<boolean> {
  if (entry.kind === 'link' || printed.size === 0) return false
  const { dev, ino } = await lstat(entry.file, { bigint: true })
  return printed.has(`${dev} ${ino}`)
}

/**
 * A file or a link at a path below `folder`; undefined for a socket and the like, and for a link to
 * nothing. Throws `outside_project` for a link that leads out of the root.
 */
export async function sourceAt(root: string, folder: string,
  path: string): Promise<TreeSource | undefined> {
  const file = join(folder, path)
  const found = await lstat(file, { bigint: true })
  if (found.isFile()) {
    const { mode, size, ino, mtimeNs, ctimeNs, mtimeMs, ctimeMs } = found
    return { kind: 'file', path, executable: (Number(mode) & 0o100) !== 0, bytes: Number(size),
      file, identity: `${ino} ${mtimeNs} ${ctimeNs}`,
      changedMs: Math.max(Number(mtimeMs), Number(ctimeMs)) }
  }
  if (!found.isSymbolicLink()) return undefined
  const real = await realpath(file).catch(() => undefined)
  if (real === undefined) return undefined
  if (!isBelow(root, real)) throw outside(file)
  // The target of the link is not packed.
  if (relative(root, real).split(sep).some(isNeverPacked)) return undefined
  const target = relative(await realpath(dirname(file)), real).replaceAll(sep, '/') || '.'
  return target === '.' || !isBelow(folder, real) ? undefined : { kind: 'link', path, target }
}

/** True if the path is the folder, or in it. */
export function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

function outside(file: string): RevisionError {
  return new RevisionError('outside_project',
    `${file} (${basename(file)}) lies or leads outside of the project: copy what it names into it.`)
}
