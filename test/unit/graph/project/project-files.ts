/** Projects for tests: each in a temporary folder outside Heddle, removed after the test. */

import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { onTestFinished } from 'vitest'

/** By path: text is written as it is, everything else as JSON. */
export type ProjectFiles = Readonly<Record<string, unknown>>

/** Calls what it is given when the project is not needed any more. */
export type WhenOver = (remove: () => Promise<void>) => void

/** The folder of the project, links resolved. By default it is removed after the test. */
export async function writeProject(files: ProjectFiles,
  whenOver: WhenOver = onTestFinished): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'heddle-project-')))
  whenOver(() => rm(root, { recursive: true, force: true }))
  await writeFiles(root, files)
  return root
}

/** Writes each file atomically: a watch never sees half of one. */
export async function writeFiles(root: string, files: ProjectFiles): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = join(root, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(`${file}~`, typeof content === 'string' ? content : JSON.stringify(content))
    await rename(`${file}~`, file)
  }
}

/** A project of the repository that several tests use. */
export function sharedProject(name: string): string {
  return fileURLToPath(new URL(`../../../support/projects/${name}`, import.meta.url))
}
