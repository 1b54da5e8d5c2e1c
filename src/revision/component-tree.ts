/** Components in a revision: files beside those of the project, and a list of them by graph. */

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { HeddleError } from '../errors.ts'
import { buildComponents, componentBytesMax, isComponentFile } from '../graph/index.ts'
import type { BuiltComponents, Project } from '../graph/index.ts'
import { isObject } from '../json/index.ts'
import type { FileSource, TreeSource } from './archive/archive.ts'
import { RevisionError } from './revision-error.ts'
import { inTemporaryFolder } from './written-path.ts'

/** Folder of the components, in that of the project's own files. */
const folder = '.heddle-ui'
const list = 'components.json'

/** Components as they are packed, and their warnings. */
export interface ComponentTree {
  /** The project's own files, and those of its components. */
  readonly files: readonly TreeSource[]
  readonly warnings: readonly string[]
  /** Removes what was made to be packed. Call when it is packed. */
  remove(): Promise<void>
}

/**
 * Builds the components of a project, and adds them to its own files. Every source must be in
 * `root`. Throws RevisionError.
 */
export async function withComponents(project: Project, root: string,
  own: readonly TreeSource[]): Promise<ComponentTree> {
  const rest = own.filter(({ path }) => !path.startsWith(`${folder}/`))
  const { graphs, warnings } = await built(project, root)
  if (graphs.length === 0) return { files: rest, warnings, remove: async () => {} }
  const made = await inTemporaryFolder(() => mkdtemp(join(tmpdir(), 'heddle-ui-')))
  const named = new Map(
    graphs.flatMap(({ files }) => files.map(({ name, content }) => [name, content])),
  )
  const index = Object.fromEntries(
    graphs.map(({ graphId, files }) => [graphId, files.map(({ name }) => name).toSorted()]),
  )
  const contents = [...named, [list, Buffer.from(JSON.stringify(index))] as const]
  const files = await Promise.all(contents.map(([name, content]) => written(made, name, content)))
  return { files: [...rest, ...files], warnings,
    remove: () => rm(made, { recursive: true, force: true }) }
}

async function built(project: Project, root: string): Promise<BuiltComponents> {
  try {
    return await buildComponents(project, { within: root })
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error
    throw new RevisionError('no_compile', error.message)
  }
}

async function written(made: string, name: string, content: Uint8Array): Promise<FileSource> {
  const file = join(made, name)
  await inTemporaryFolder(() => writeFile(file, content))
  return { kind: 'file', path: `${folder}/${name}`, executable: false, bytes: content.length, file,
    identity: name, changedMs: 0 }
}

/** Bytes of the list of a revision, which may have been built by another program. */
const listBytesMax = 1024 * 1024

/**
 * Names of the files of components by graph, in a revision that is on disk; empty for one without
 * any. What is not of the right form counts as nothing.
 */
export async function componentsOf(root: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const text = await boundedRead(join(root, folder, list), listBytesMax)
  return listOf(text?.toString() ?? '{}')
}

function listOf(text: string): ReadonlyMap<string, readonly string[]> {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    return new Map()
  }
  return new Map(
    Object.entries(isObject(found) ? found : {}).map((
      [graphId, names],
    ) => [graphId,
      (Array.isArray(names) ? names : []).filter((name: unknown): name is string =>
        typeof name === 'string' && isComponentFile(name)
      )]
    ),
  )
}

/** A file of components in a revision that is on disk; undefined if there is none. */
export async function readComponent(root: string, name: string): Promise<Buffer | undefined> {
  return await boundedRead(join(root, folder, name), componentBytesMax)
}

async function boundedRead(path: string, bytesMax: number): Promise<Buffer | undefined> {
  const { size } = await stat(path).catch(() => ({ size: Infinity }))
  return size > bytesMax ? undefined : await readFile(path)
}
