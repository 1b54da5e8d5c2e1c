/**
 * Builds the command that installs the packages of a lock file. Scripts of packages are never run.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { readPackage } from '../closure/installed-package.ts'
import { platformHere } from '../closure/platform.ts'
import type { Platform } from '../closure/platform.ts'
import { RevisionError } from '../revision-error.ts'

/** A command of a package manager. */
export interface InstallCommand {
  readonly program: PackageManager
  readonly args: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
}

/** A lock file, and the folder that it is in. */
export interface LockFile {
  readonly folder: string
  readonly name: string
  readonly text: string
}

/** A command, which runs in the folder of the lock file that it reads. */
export interface FoundInstall {
  readonly command: InstallCommand
  readonly lock: LockFile
}

type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun'

/** Package manager for each lock file, the usual ones first. */
const readers: Readonly<Record<string, PackageManager>> = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
}

/**
 * Npm and pnpm get their usual level of messages: one that `npm run --silent` or an .npmrc asks for
 * would hide why packages could not be installed.
 */
const options: Readonly<Record<PackageManager, readonly string[]>> = {
  npm: ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=notice'],
  pnpm: ['install', '--frozen-lockfile', '--prod', '--ignore-scripts', '--loglevel=info'],
  yarn: ['install', '--frozen-lockfile', '--production', '--ignore-scripts', '--non-interactive'],
  bun: ['install', '--frozen-lockfile', '--production', '--ignore-scripts'],
}

/**
 * Finds the lock file in the first of the folders that has one: that of the package manager which
 * its package.json names, or else the usual one. Throws RevisionError.
 */
export async function installFor(folders: readonly string[],
  platform: Platform): Promise<FoundInstall> {
  for (const folder of folders) {
    const named = /^[a-z]+/.exec((await readPackage(folder))?.packageManager ?? '')?.[0]
    const names = Object.keys(readers).toSorted((one, other) =>
      Number(readers[other] === named) - Number(readers[one] === named)
    )
    for (const name of names) {
      const text = await readFile(join(folder, name), 'utf8').catch(() => '')
      if (text !== '')
        return { command: installCommand(name, text, platform), lock: { folder, name, text } }
    }
  }
  throw new RevisionError('no_lock_file', 'It needs a lock file of npm, pnpm, yarn or bun.')
}

/** Command that installs the packages of a lock file for a platform. Throws RevisionError. */
export function installCommand(lockFile: string, text: string, platform: Platform): InstallCommand {
  const program = readers[lockFile]!
  const here = platformHere()
  const isHere = platform.os === here.os && platform.cpu === here.cpu
    && platform.libc === here.libc
  if (!isHere && program !== 'npm' && program !== 'pnpm') {
    throw new RevisionError('other_platform', `${program} installs for this platform only: use ` +
      '--clean on a machine of the other one.')
  }
  if (isYarnTwo(text)) {
    // It has no option for production alone: what is not needed is installed, and not packed.
    return { program, args: ['install', '--immutable', '--mode=skip-build'],
      variables: { YARN_ENABLE_SCRIPTS: 'false', YARN_NODE_LINKER: 'node-modules' } }
  }
  const forOther = isHere
    ? []
    : [`--os=${platform.os}`, `--cpu=${platform.cpu}`,
      ...platform.libc === undefined ? [] : [`--libc=${platform.libc}`]]
  return { program, args: [...options[program], ...forOther] }
}

/** True for a lock file of yarn 2 or later, which has other options than yarn 1. */
export function isYarnTwo(lockText: string): boolean {
  return /^__metadata:/m.test(lockText) && !/^#\s+yarn\s+lockfile\s+v1/im.test(lockText)
}
