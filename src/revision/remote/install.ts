/** Installs the packages of a project whose files nobody here has looked at. */

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { dirname, join } from 'node:path'

import { readProject } from '../../graph/index.ts'
import { workspaceOf } from '../closure/workspace.ts'
import { platformName } from '../closure/platform.ts'
import { RevisionError } from '../revision-error.ts'
import { inWork } from './build-mail.ts'
import type { BuildTask } from './build-mail.ts'
import { installFor } from './install-command.ts'
import type { InstallCommand } from './install-command.ts'
import { installedKey, takeInstalled } from './installed-packages.ts'
import { filesNamed, withoutCommands } from './project-files.ts'

/** How packages that are there can be found again. */
export interface Installation {
  /** Undefined if they must not be kept. */
  readonly key: string | undefined
}

/** Packages whose installation runs programs of their own: git, and what a clone configures. */
const notFromRegistry = /git\+(?:ssh|https?|file):|git:\/\/|git@[\w.-]+:|\.git#|type: git\b/

/** Installs, or takes what an earlier build installed. Throws RevisionError. */
export async function installPackages({ config, platform, scope, installed, work }: BuildTask,
  say: (text: string) => void): Promise<Installation> {
  const folder = join(work, inWork.project)
  const { root: projectFolder, configFile } = await readProject(join(folder, config))
  const { root } = await workspaceOf(projectFolder)
  if (root !== folder && !root.startsWith(`${folder}/`)) throw strayWorkspace()
  const { command, place, lockText } = await installFor([dirname(configFile), root], platform)
  if (notFromRegistry.test(lockText)) {
    throw new RevisionError('not_from_registry', 'A package of the lock file comes from git, and ' +
      'what is built here takes packages from registries only: build it where it is, with ' +
      'heddle deploy.')
  }
  const key = await installedKey(folder, await filesNamed(folder, /^package\.json$|^pnpm-/), {
    scope,
    platform: platformName(platform),
    command: [command.program, ...command.args],
    lockText,
  })
  if (key !== undefined && await takeInstalled(installed, key, folder, work)) {
    say('The packages are those of an earlier build: the lock file is the same.')
    return { key }
  }
  say(`${command.program} ${command.args.join(' ')}`)
  await withoutCommands(folder, join(work, 'aside'), () => run(command, place, say))
  return { key }
}

async function run({ program, args, variables }: InstallCommand, folder: string,
  say: (text: string) => void): Promise<void> {
  const shield = program === 'pnpm' ? ['--ignore-pnpmfile'] : []
  const child = spawn(program, [...args, ...shield], { cwd: folder,
    env: { ...process.env, ...variables }, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = Promise.withResolvers<number | string>()
  child.once('error', ended.reject)
  child.once('close', (code, signal) => ended.resolve(code ?? signal ?? 'nothing'))
  const last: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
      if (line.trim() === '') return
      say(line)
      last.push(line)
      if (last.length > 5) last.shift()
    })
  }
  const code = await ended.promise.catch((error: unknown) => {
    throw (error as { readonly code?: unknown }).code === 'ENOENT'
      ? new RevisionError('no_install', `The lock file needs ${program}, which the server that ` +
        'builds does not have: build it where it is, with heddle deploy.')
      : error
  })
  if (code === 0) return
  throw new RevisionError('no_install', `${program} ${args[0]} could not install the packages:\n` +
    last.join('\n'))
}

function strayWorkspace(): RevisionError {
  return new RevisionError('outside_project', 'The project is a part of a workspace that was not ' +
    'uploaded with it.')
}
