/** Builds a project from a fresh install of what its lock file names, in a temporary folder. */

import { execFile } from 'node:child_process'
import { cp, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

import { readProject } from '../../graph/index.ts'
import { memberOf, textAt } from '../../json/index.ts'
import { installFor, inTemporaryFolder, sourceOf, workspaceOf } from '../../revision/index.ts'
import type { BuiltRevision, InstallCommand, Platform } from '../../revision/index.ts'
import { CommandError } from '../admin-command.ts'

/** Project to install, and the programs for that. */
export interface CleanInstall {
  /** A langgraph.json, or a folder that has one. */
  readonly config: string
  readonly platform: Platform
  /** Builds the copy. */
  build(config: string): Promise<BuiltRevision>
  /** Runs a program; by default in a process of its own. */
  readonly run?: (command: InstallCommand, folder: string) => Promise<void>
}

/** Names that are not copied: they are installed or made anew, or belong to this folder alone. */
const left: readonly string[] = ['node_modules', '.git', '.heddle']

/** Copies the project, installs its packages there, and builds it. Throws CommandError. */
export async function withCleanInstall(
  { config, platform, build, run = runInstall }: CleanInstall,
): Promise<BuiltRevision> {
  // Guards of the project are checked when the copy is built.
  const { root: folder, configFile } = await readProject(config, { ignoreAuth: true })
  const { root } = await workspaceOf(folder)
  const copy = await inTemporaryFolder(async () =>
    realpath(await mkdtemp(join(tmpdir(), 'heddle-clean-')))
  )
  try {
    await inTemporaryFolder(() =>
      cp(root, copy, { recursive: true, verbatimSymlinks: true, filter: (file) =>
        !left.includes(basename(file)) || file === root })
    )
    // The lock file of a folder within the workspace of something else wins.
    const places = [...new Set([dirname(configFile), root])]
    const { command, lock } = await installFor(places, platform)
    await run(command, join(copy, relative(root, lock.folder)))
    const { manifest, warnings } = await build(join(copy, relative(root, configFile)))
    return { manifest: { ...manifest, source: await sourceOf(root) }, warnings }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function runInstall({ program, args, variables }: InstallCommand,
  folder: string): Promise<void> {
  try {
    await promisify(execFile)(program, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, ...variables }, shell: process.platform === 'win32' })
  } catch (error) {
    const [stderr, stdout] = [textAt(error, 'stderr') ?? '', textAt(error, 'stdout') ?? '']
    if (memberOf(error, 'code') === 'ENOENT')
      throw new CommandError(`--clean needs ${program}, which is not here.`)
    const said = (stderr.trim() || stdout.trim()).split('\n').slice(-5).join('\n')
    throw new CommandError(`${program} ${args[0]} could not install the packages:\n${said}`)
  }
}
