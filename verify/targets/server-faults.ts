/** Faults of one server with a data directory. */

import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

import type { ServerProcess } from '../../test/support/server-process.ts'
import type { SlowFsync } from './slow-fsync.ts'
import type { SmallDisk } from './small-disk.ts'
import type { Inject } from './target.ts'

/** Milliseconds for which `stop` suspends the process. */
const stopMs = 1_500
/** Milliseconds for which a disk is full or slow, and for which the version before serves. */
const [diskMs, beforeMs] = [3_000, 5_000]

export interface ServerFaultsOptions {
  readonly server: ServerProcess
  /** The disk of the data directory, if it can be filled. */
  readonly disk?: SmallDisk
  readonly slowFsync?: SlowFsync
  /** Folder of the program of the version before. */
  readonly before?: string
}

/** Returns the faults that this machine and the options allow. */
export function faultsOf(options: ServerFaultsOptions): Readonly<Record<string, Inject>> {
  return { ...processFaults(options), ...diskFaults(options), ...versionFaults(options) }
}

function processFaults({ server }: ServerFaultsOptions): Readonly<Record<string, Inject>> {
  const kill = () => restart(server)
  return {
    kill,
    // The second kill meets the server while it resumes what the first one interrupted.
    'kill twice': async () => {
      await kill()
      await kill()
    },
    stop: async () => {
      process.kill(server.pid, 'SIGSTOP')
      await pause(stopMs)
      process.kill(server.pid, 'SIGCONT')
    },
    'kill a graph process': () => killGraphProcess(server),
  }
}

async function restart(server: ServerProcess): Promise<void> {
  await server.kill('SIGKILL')
  await server.restart()
}

function diskFaults({ server, disk, slowFsync }: ServerFaultsOptions) {
  const faults: Record<string, Inject> = {}
  if (disk) {
    faults['full disk'] = () => disk.whileFull(() => pause(diskMs))
    // A server that was just started has no file that it can use again.
    faults['full disk after a restart'] = async () => {
      await server.kill('SIGTERM')
      await server.restart()
      await disk.whileFull(() => pause(diskMs))
    }
    // A server does not start on a full disk: it starts when there is space.
    faults['kill on a full disk'] = async () => {
      await disk.whileFull(async () => {
        await pause(diskMs)
        await server.kill('SIGKILL')
      })
      await server.restart()
    }
  }
  if (slowFsync) {
    faults['slow fsync'] = () => slowFsync.during(() => pause(diskMs))
    // The kill meets writes that wait for the disk.
    faults['kill during a slow fsync'] = async () => {
      await slowFsync.during(async () => {
        await pause(diskMs)
        await server.kill('SIGKILL')
      })
      await server.restart()
    }
  }
  return faults
}

/** The server goes back to the version before, which serves for a while, and forward again. */
function versionFaults({ server, before }: ServerFaultsOptions): Readonly<Record<string, Inject>> {
  if (before === undefined) return {}
  return {
    'version before and back': async () => {
      await server.kill('SIGTERM')
      await server.restart({ program: before })
      await pause(beforeMs)
      await server.kill('SIGTERM')
      await server.restart({ program: undefined })
    },
  }
}

/** Kills a process of the deployment, also while it loads. The server starts another one. */
async function killGraphProcess(server: ServerProcess): Promise<void> {
  const [child] = await listChildren(server.pid)
  if (child !== undefined) process.kill(child, 'SIGKILL')
}

/** Ids of the processes that a process has started. */
async function listChildren(parent: number): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const parents = await Promise.all(ids.map(async (id) => {
    // The name of the program is in parentheses, and may contain spaces.
    const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')
    return [Number(id), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])] as const
  }))
  return parents.filter(([, other]) => other === parent).map(([id]) => id)
}
