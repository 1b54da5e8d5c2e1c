/** Shows package managers a project without whatever makes them run code or leave its folder. */

import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'

import { isBelow } from '../closure/own-files.ts'
import { requireRegistrySettings } from './foreign-packages.ts'
import type { LockFile } from './install-command.ts'
import type { OpenHosts } from './open-hosts.ts'
import { keptManifest, keptWorkspace, keptYarnSettings } from './kept-settings.ts'
import type { KeptSettings } from './kept-settings.ts'
import { filesNamed } from './project-files.ts'

/**
 * File that yarn 2 and later read for .yarnrc.yml, in the folder of a project and in those above.
 */
export const yarnSettingsName = '.yarnrc.kept.yml'

/** Files that package managers read, of any version. */
const readFiles = /^(package\.json|pnpm-workspace\.yaml|\.npmrc|\.yarnrc.*|\.?bunfig\.toml)$/i
const runFiles = /^(\.pnpmfile\.[cm]?js|\.pnp\..*|\.yarnclean|\.corepack\.env)$/i
const lockFiles = /^(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock.*|yarn\.lock|bun\.lockb?)$/i
const isRead = (name: string) => [readFiles, runFiles, lockFiles].some((each) => each.test(name))

/**
 * Files that package managers see, each with its shown name and its filter. All others are hidden.
 */
const views: Readonly<
  Record<string, { readonly as: string; readonly keep: (text: string) => KeptSettings }>
> = {
  'package.json': { as: 'package.json', keep: keptManifest },
  'pnpm-workspace.yaml': { as: 'pnpm-workspace.yaml', keep: keptWorkspace },
  '.yarnrc.yml': { as: yarnSettingsName, keep: keptYarnSettings },
}

/** A project, and the lock file that is installed from. */
export interface ViewedProject {
  readonly root: string
  readonly lock: LockFile
  readonly hosts: OpenHosts
  /** Folder for the original files meanwhile. */
  readonly aside: string
}

/**
 * Does some work while package managers see only the shown files. Afterwards all files are as
 * before, unless it fails. Throws RevisionError for settings that name packages from elsewhere.
 */
export async function withInstallerView<Result>({ root, lock, hosts, aside }: ViewedProject,
  work: () => Promise<Result>): Promise<Result> {
  const hidden = (await filesNamed(root, isRead))
    .filter((file) => file !== join(lock.folder, lock.name))
  const added: string[] = []
  await mkdir(aside, { recursive: true })
  for (const [index, file] of hidden.entries()) {
    const view = await viewOf(file, root, lock, hosts)
    await rename(file, join(aside, String(index)))
    if (view === undefined) continue
    await writeFile(view.file, JSON.stringify(view.kept))
    added.push(view.file)
  }
  const result = await work()
  for (const file of added) await rm(file, { force: true })
  for (const [index, file] of hidden.entries()) await rename(join(aside, String(index)), file)
  return result
}

/** The shown form of a file; undefined if it is hidden. Throws RevisionError. */
async function viewOf(file: string, root: string, { folder }: LockFile, hosts: OpenHosts) {
  const place = dirname(file)
  // A package manager would take the folder for a workspace with an unchecked lock file.
  const isAbove = place !== folder && isBelow(place, folder)
  const view = isAbove ? undefined : views[basename(file)]
  if (view === undefined) return undefined
  try {
    const kept = view.keep(await readFile(file, 'utf8'))
    if (place === folder) {
      requireRegistrySettings(kept, relative(root, folder), basename(file), hosts)
    }
    return { file: join(place, view.as), kept }
  } catch (error) {
    // Further down may be what only tests of the project read.
    if (place === folder) throw error
    return undefined
  }
}
