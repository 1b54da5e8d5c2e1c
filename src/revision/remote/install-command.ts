/** What installs the packages that a lock file names. Scripts of packages are never run. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { platformHere } from '../closure/platform.ts'
import type { Platform } from '../closure/platform.ts'
import { RevisionError } from '../revision-error.ts'

/** What installs packages. */
export interface InstallCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
}

/** A command, the folder that it runs in, and the lock file that it reads. */
export interface FoundInstall {
  readonly command: InstallCommand
  readonly place: string
  readonly lockText: string
}

const npm = ['npm', 'ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund']
const bun = ['bun', 'install', '--frozen-lockfile', '--production', '--ignore-scripts']

/** By lock file, the usual ones first. */
const installs: Readonly<Record<string, readonly string[]>> = {
  'package-lock.json': npm,
  'npm-shrinkwrap.json': npm,
  'pnpm-lock.yaml': ['pnpm', 'install', '--frozen-lockfile', '--prod', '--ignore-scripts'],
  'yarn.lock': ['yarn', 'install', '--frozen-lockfile', '--production', '--ignore-scripts'],
  'bun.lock': bun,
  'bun.lockb': bun,
}

/** Finds the lock file in the first of the folders that has one. Throws RevisionError. */
export async function installFor(places: readonly string[],
  platform: Platform): Promise<FoundInstall> {
  for (const place of places) {
    for (const name of Object.keys(installs)) {
      const lockText = await readFile(join(place, name), 'utf8').catch(() => '')
      if (lockText !== '')
        return { command: installCommand(name, lockText, platform), place, lockText }
    }
  }
  throw new RevisionError('no_lock_file', 'It needs a lock file of npm, pnpm, yarn or bun.')
}

/** What installs the packages of a lock file for a platform. Throws RevisionError. */
export function installCommand(lockFile: string, text: string, platform: Platform): InstallCommand {
  const [program = '', ...args] = installs[lockFile]!
  const here = platformHere()
  const isHere = platform.os === here.os && platform.cpu === here.cpu
    && platform.libc === here.libc
  if (!isHere && program !== 'npm' && program !== 'pnpm') {
    throw new RevisionError('other_platform', `${program} installs for this platform only: use ` +
      '--clean on a machine of the other one.')
  }
  if (!isHere) {
    args.push(`--os=${platform.os}`, `--cpu=${platform.cpu}`,
      ...platform.libc === undefined ? [] : [`--libc=${platform.libc}`])
  }
  // Newer releases of yarn have other options and link no packages by themselves.
  if (program === 'yarn' && text.includes('__metadata:')) {
    return { program, args: ['install', '--immutable'],
      variables: { YARN_ENABLE_SCRIPTS: 'false', YARN_NODE_LINKER: 'node-modules' } }
  }
  return { program, args }
}
