/** Prepares a server whose deployments run as users of their own, or says why that cannot be. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readdir, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { HeddleError } from '../../errors.ts'
import { asUser, ownCode } from '../../graph/index.ts'
import { namesOf } from '../../settings/index.ts'
import type { UserRange } from '../../settings/index.ts'
import { trialFault, usersFault } from './users-fault.ts'
import type { UsersMachine, UserTrial } from './users-fault.ts'

/** Bits of a mode for users other than the owner. */
const ofOthers = 0o007
/** Mode by which other users may pass a folder. */
const passable = 0o001

/** Milliseconds for the start of a trial process, which even a busy machine keeps. */
const trialMs = 30_000

/**
 * Closes the data directory to all users but that of the server, except for revisions, and tries
 * out whether a process may run as the first of the users. Throws `unavailable` with a sentence.
 */
export async function openGraphsUsers(users: UserRange, dataDirectory: string): Promise<void> {
  const fault = usersFault(users, thisMachine())
  if (fault !== undefined) throw new HeddleError('unavailable', fault)
  const revisions = join(dataDirectory, 'revisions')
  await mkdir(revisions, { recursive: true })
  await closeToOthers(dataDirectory, 'revisions')
  await requireTrial(users, revisions)
}

/** This machine, as far as users of graphs are concerned. */
export function thisMachine(): UsersMachine {
  return { platform: process.platform, uid: process.getuid?.(), groups: process.getgroups?.() ?? [],
    passwd: textOf('/etc/passwd'), group: textOf('/etc/group') }
}

/**
 * Closes a directory to other users, except for the folder of this name. The same holds for later
 * files.
 */
async function closeToOthers(directory: string, open: string): Promise<void> {
  // For all that this process makes from now on, and the processes that it starts.
  process.umask(process.umask(ofOthers) | ofOthers)
  const closed = (await readdir(directory)).filter((name) => name !== open)
  for (const path of closed.map((name) => join(directory, name))) {
    const found = await stat(path).catch(() => undefined)
    if (found && (found.mode & ofOthers) !== 0) await chmod(path, found.mode & 0o7777 & ~ofOthers)
  }
  for (const path of [join(directory, open), directory]) {
    await chmod(path, (await stat(path)).mode & 0o7777 & ~ofOthers | passable)
  }
}

/** Tries out what the server does for its users. */
async function requireTrial(users: UserRange, revisions: string): Promise<void> {
  const fault = await tried(users, revisions).catch((error: NodeJS.ErrnoException) =>
    `this server may not do for its users what it has to (${error.code ?? error.message}): ` +
    'it needs the capabilities CAP_SETUID, CAP_SETGID, CAP_CHOWN and CAP_KILL, and ids that its ' +
    'container knows.'
  )
  if (fault !== undefined) {
    throw new HeddleError('unavailable', `${namesOf('graphsUsers')}: ${fault}`)
  }
}

/**
 * Gives the last user a folder, starts a process as the first and ends it. Resolves with the fault;
 * undefined if there is none. Rejects with the error of the system.
 */
async function tried({ first: user, last }: UserRange,
  revisions: string): Promise<string | undefined> {
  const given = await mkdtemp(join(revisions, '.trial-'))
  await chown(given, last, last).finally(() => rmdir(given))
  const entry = fileURLToPath(new URL('./user-trial-process.ts', import.meta.url))
  const child = fork(entry, [revisions, ...ownCode()], { ...asUser(user), cwd: '/', env: {},
    execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'], timeout: trialMs })
  const ended = new Promise<undefined>((resolve, reject) => {
    child.once('exit', () => resolve(undefined)).once('error', reject)
  })
  try {
    const said = once(child, 'message') as Promise<[UserTrial]>
    const [trial] = await Promise.race([said, ended]) ?? []
    if (trial === undefined) return `user ${user} cannot read the code of Heddle.`
    child.kill('SIGKILL')
    await ended
    return trialFault(user, trial)
  } finally {
    // One that must not be ended from here ends by itself.
    if (child.connected) child.disconnect()
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
