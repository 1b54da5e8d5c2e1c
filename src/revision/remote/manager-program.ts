/** Finds the package manager that the server has. None is ever downloaded. */

import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'

import { textAt } from '../../json/index.ts'
import { RevisionError } from '../revision-error.ts'
import { isYarnTwo } from './install-command.ts'
import type { FoundInstall } from './install-command.ts'

const versionMs = 30_000
const elsewhere = 'have it installed there, or deploy without --remote: then the packages that ' +
  'are installed where you type it are sent.'

/** Folders in which a program is looked for, and tried. */
export interface ProgramPlaces {
  /** As the variable PATH has them. */
  readonly path: string
  /** A folder without settings of a project, in which the program is tried. */
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
  // Npm comes with Node.js. Of the others there may be what only starts one that is not there.
  if (program === 'npm') return file
  const version = await versionOf(program, file, empty)
  if (program === 'yarn') requireYarn(version, isYarnTwo(lock.text))
  return file
}

/** The program's file on the path. Relative folders are skipped: they lead into the project. */
async function fileOf(program: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(':').filter((each) => isAbsolute(each))) {
    const file = join(folder, program)
    if (await access(file, constants.X_OK).then(() => true, () => false)) return file
  }
  return undefined
}

async function versionOf(program: string, file: string, empty: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(file, ['--version'], { cwd: empty,
      timeout: versionMs })
    return stdout.trim()
  } catch (error) {
    throw new RevisionError('no_install', `The server that builds has a ${program} which does ` +
      `not run: ${complaintOf(error)}: ${elsewhere}`, { cause: error })
  }
}

function requireYarn(version: string, isTwo: boolean): void {
  if (/^[01]\./.test(version) !== isTwo) return
  throw new RevisionError('no_install', `yarn.lock needs yarn ${isTwo ? '2 or later' : '1'}, and ` +
    `the server that builds has yarn ${version}: ${elsewhere}`)
}

/** The first line of a message that is not a place in code, without its full stop. */
function complaintOf(error: unknown): string {
  const [stderr, stdout] = [textAt(error, 'stderr') ?? '', textAt(error, 'stdout') ?? '']
  const lines = `${stderr}\n${stdout}`.split('\n').map((line) => line.trim())
  const said = lines.find((line) => line !== '' && !line.startsWith('at '))
  return said?.replace(/\.$/, '') ?? 'it says nothing'
}
