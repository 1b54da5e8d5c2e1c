/** Finds the package manager that the server has. None is ever downloaded. */

import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'

import { RevisionError } from '../revision-error.ts'
import { isYarnTwo } from './install-command.ts'
import type { FoundInstall } from './install-command.ts'

const versionMs = 30_000
const elsewhere = 'have it installed there, or deploy without --remote: then the packages that ' +
  'are installed where you type it are sent.'

/** Where a program is looked for, and tried. */
export interface ProgramPlaces {
  /** As the variable PATH has them. */
  readonly path: string
  /** A folder without settings of a project. */
  readonly empty: string
}

/** The file of the program. Throws RevisionError if there is none that reads the lock file. */
export async function managerProgram({ command: { program }, lock }: FoundInstall,
  { path, empty }: ProgramPlaces): Promise<string> {
  const file = await fileOf(program, path)
  if (file === undefined) {
    throw new RevisionError('no_install', `${lock.name} needs ${program}, which the server that ` +
      `builds does not have: ${elsewhere}`)
  }
  if (program === 'yarn') await requireYarn(file, isYarnTwo(lock.text), empty)
  return file
}

/** A path that is not absolute leads into the project. */
async function fileOf(program: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(':').filter((each) => isAbsolute(each))) {
    const file = join(folder, program)
    if (await access(file, constants.X_OK).then(() => true, () => false)) return file
  }
  return undefined
}

async function requireYarn(file: string, isTwo: boolean, empty: string): Promise<void> {
  const version = await promisify(execFile)(file, ['--version'], { cwd: empty, timeout: versionMs })
    .then(({ stdout }) => stdout.trim(), (error: unknown) => {
      throw new RevisionError('no_install', 'The server that builds has a yarn which does not ' +
        `run: ${lastLineOf(error)}: ${elsewhere}`)
    })
  if (/^[01]\./.test(version) !== isTwo) return
  throw new RevisionError('no_install', `yarn.lock needs yarn ${isTwo ? '2 or later' : '1'}, and ` +
    `the server that builds has yarn ${version}: ${elsewhere}`)
}

function lastLineOf(error: unknown): string {
  const { stderr = '', stdout = '' } = error as { readonly stderr?: string;
    readonly stdout?: string }
  return `${stdout}\n${stderr}`.trim().split('\n').at(-1)!
}
