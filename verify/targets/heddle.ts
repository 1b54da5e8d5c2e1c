/** The target: a server with an embedded data directory, as a process that can be killed. */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { startServer } from '../../test/support/server-process.ts'
import type { ServerProcess } from '../../test/support/server-process.ts'
import { deployAgent, deployGuarded } from './deployment.ts'
import { makeKeys } from './keys.ts'
import type { Target } from './target.ts'

/** Milliseconds for which `stop` suspends the process, and for which a clock is wrong. */
const stopMs = 1_500
/** Preloaded, it shows the process a clock that a file sets. */
const fakeClock = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
/** How far a clock jumps, as `libfaketime` reads it. */
const [ahead, back, right] = ['+3600', '-3600', '+0']

export async function startHeddle(receiverUrl: string): Promise<Target> {
  return await startServerTarget('heddle', receiverUrl, {})
}

/** The same server with a clock that jumps by an hour. Needs the package `libfaketime`. */
export async function startHeddleClock(receiverUrl: string): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-clock-'))
  const file = join(folder, 'offset')
  const setClock = (offset: string) => writeFile(file, offset)
  await setClock(right)
  const target = await startServerTarget('heddle-clock', receiverUrl, { LD_PRELOAD: fakeClock,
    FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1' })
  const jump = async (offset: string, meanwhile: () => Promise<void>) => {
    await setClock(offset)
    await meanwhile()
    await setClock(right)
  }
  return {
    ...target,
    // Rules about crons and times to live compare with a clock that does not jump.
    missing: /^(cron|mortal)\./,
    faults: {
      ...target.faults,
      'clock ahead': () => jump(ahead, () => pause(stopMs)),
      'clock back': () => jump(back, () => pause(stopMs)),
      'clock ahead over a kill': () => jump(ahead, target.faults['kill']!),
    },
    close: async () => {
      await target.close()
      await rm(folder, { recursive: true })
    },
  }
}

async function startServerTarget(name: string, receiverUrl: string,
  env: Readonly<Record<string, string>>): Promise<Target> {
  const server = await startServer({
    project: join(import.meta.dirname, '../agent'),
    env: { RECEIVER: receiverUrl, ...env },
    args: ['--workers', '2', '--egress-allow', '127.0.0.1', '--auth', 'keys',
      '--quota-delayed-runs', '2'],
  })
  const keys = await makeKeys(server)
  const kill = async () => {
    await server.kill('SIGKILL')
    await server.restart()
  }
  return {
    name,
    urls: [server.url],
    keys,
    deployment: await deployAgent({ url: server.url, key: keys.own, receiverUrl }),
    guarded: await deployGuarded({ url: server.url, key: keys.own, receiverUrl }),
    loadMs: 30_000,
    faults: {
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
    },
    close: () => server.close(),
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
