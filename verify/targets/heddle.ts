/** The target: a server with an embedded data directory, as a process that can be killed. */

import { join } from 'node:path'

import { startServer } from '../../test/support/server-process.ts'

/** A server under verification. */
export interface Target {
  readonly name: string
  readonly url: string
  /** Faults that can be injected, by name. Each resolves when the server serves again. */
  readonly faults: Readonly<Record<string, () => Promise<void>>>
  close(): Promise<void>
}

/** Milliseconds for which `stop` suspends the process. */
const stopMs = 1_500

export async function startHeddle(receiverUrl: string): Promise<Target> {
  const server = await startServer({
    project: join(import.meta.dirname, '../agent'),
    env: { RECEIVER: receiverUrl },
    args: ['--workers', '2'],
  })
  const kill = async () => {
    await server.kill('SIGKILL')
    await server.restart()
  }
  return {
    name: 'heddle',
    url: server.url,
    faults: {
      kill,
      // The second kill meets the server while it resumes what the first one interrupted.
      'kill twice': async () => {
        await kill()
        await kill()
      },
      stop: async () => {
        process.kill(server.pid, 'SIGSTOP')
        await new Promise((resolve) => setTimeout(resolve, stopMs))
        process.kill(server.pid, 'SIGCONT')
      },
    },
    close: () => server.close(),
  }
}
