/** The target: a server with an embedded data directory, as a process that can be killed. */

import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { startServer } from '../../test/support/server-process.ts'
import { deployAgent } from './deployment.ts'
import { makeKeys } from './keys.ts'
import type { Target } from './target.ts'

/** Milliseconds for which `stop` suspends the process. */
const stopMs = 1_500

export async function startHeddle(receiverUrl: string): Promise<Target> {
  const server = await startServer({
    project: join(import.meta.dirname, '../agent'),
    env: { RECEIVER: receiverUrl },
    args: ['--workers', '2', '--egress-allow', '127.0.0.1', '--auth', 'keys'],
  })
  const keys = await makeKeys(server)
  const kill = async () => {
    await server.kill('SIGKILL')
    await server.restart()
  }
  return {
    name: 'heddle',
    urls: [server.url],
    keys,
    deployment: await deployAgent({ url: server.url, key: keys.own, receiverUrl }),
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
    },
    close: () => server.close(),
  }
}
