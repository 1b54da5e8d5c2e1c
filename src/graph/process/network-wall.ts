/**
 * The network namespace in which a replay is executed, where the system allows one: it has no
 * network but for programs inside of it, which holds even for code that passes the guards.
 */

import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { promisify } from 'node:util'

import { messageOf } from '../../errors.ts'

/** Programs that open the namespace, by their paths. */
export interface NetworkWall {
  readonly unshare: string
  readonly ip: string
  readonly shell: string
  /** Changes the user inside of the namespace. Needed for processes of another user only. */
  readonly setpriv: string
  /** True for root. Other users need a namespace of users as well. */
  readonly isRoot: boolean
}

/** A wall that works here, or the reason why there is none. */
export type FoundWall =
  | { readonly kind: 'namespace'; readonly wall: NetworkWall }
  | { readonly kind: 'none'; readonly reason: string }

/** A program and its arguments. */
export interface Command {
  readonly program: string
  readonly args: readonly string[]
}

const folders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']
/** Time for the trial, in milliseconds. */
const trialMs = 5_000

/**
 * Tries the programs of this machine. `user` is the user of the processes, if they have another
 * than this process.
 */
export async function findNetworkWall(user: number | undefined): Promise<FoundWall> {
  if (process.platform !== 'linux') return none(`${process.platform} has no network namespaces`)
  const [unshare, ip, shell, setpriv] = ['unshare', 'ip', 'sh', 'setpriv'].map(findProgram)
  if (unshare === undefined || shell === undefined) return none('unshare is not installed')
  if (ip === undefined) return none('ip is not installed')
  if (user !== undefined && setpriv === undefined) return none('setpriv is not installed')
  const wall: NetworkWall = { unshare, ip, shell, setpriv: setpriv ?? '',
    isRoot: process.getuid?.() === 0 }
  const { program, args } = behindWall(wall, { program: shell, args: ['-c', 'exit 0'] }, user)
  try {
    await promisify(execFile)(program, args, { env: {}, cwd: '/', timeout: trialMs })
    return { kind: 'namespace', wall }
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    return none(stderr.trim().split('\n')[0] || messageOf(error))
  }
}

/** Returns the command that executes a program in a new namespace, with the rights of a user. */
export function behindWall({ unshare, ip, shell, setpriv, isRoot }: NetworkWall,
  { program, args }: Command, user: number | undefined): Command {
  const asUser = user === undefined
    ? []
    : [setpriv, `--reuid=${user}`, `--regid=${user}`, '--clear-groups']
  // Servers of the replayed code use the loopback interface, which is down at first.
  const script = '"$0" link set lo up && exec "$@"'
  const namespaces = isRoot ? ['--net'] : ['--map-root-user', '--net']
  return { program: unshare,
    args: [...namespaces, '--', shell, '-c', script, ip, ...asUser, program, ...args] }
}

function none(reason: string): FoundWall {
  return { kind: 'none', reason }
}

function findProgram(name: string): string | undefined {
  return folders.map((folder) => `${folder}/${name}`).find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
