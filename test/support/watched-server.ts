/** A server of the project `large`, whose longest turns of the event loop are measured. */

import { afterAll, beforeAll } from 'vitest'

import { startServer } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'

/** Bytes of a mebibyte. */
export const megabyte = 1024 * 1024

/** A server whose event loop is watched. */
export interface Watched {
  readonly url: string
  /**
   * Milliseconds of processor time of the longest turn during `work`, and the status of its answer.
   */
  during(work: () => Promise<Response>): Promise<{ readonly ms: number; readonly status: number }>
  /** Makes a thread and resolves with its id. */
  thread(): Promise<string>
  send(path: string, body: string): Promise<Response>
}

/** Starts a watched server for a test file. The first run is done when its tests begin. */
export function useWatchedServer(): Watched {
  let server: ServerProcess
  let received = (_output: string) => {}
  const watch = new URL('./turn-watch.ts', import.meta.url)
  beforeAll(async () => {
    server = await startServer({ project: 'large', args: ['--log-level', 'warn'],
      received: (output) => received(output), env: { NODE_OPTIONS: `--import ${watch.href}` } })
    // The first run loads what a run needs.
    await send(`/threads/${await thread()}/runs/wait`, '{"assistant_id":"echo","input":{"x":1}}')
  })
  afterAll(() => server.close())
  const longest = async () => {
    const before = server.output().length
    const answered = new Promise<number>((resolve) => {
      received = (output) => {
        const seen = /longest turn: (\S+) ms\n/.exec(output.slice(before))
        if (seen) resolve(Number(seen[1]))
      }
    })
    process.kill(server.pid, 'SIGUSR2')
    return await answered
  }
  const send = (path: string, body: string) =>
    fetch(`${server.url}${path}`, { method: 'POST', body,
      headers: { 'content-type': 'application/json' } })
  const thread = async () =>
    (await (await send('/threads', '{}')).json() as { thread_id: string }).thread_id
  return {
    get url() {
      return server.url
    },
    send,
    thread,
    during: async (work) => {
      await longest()
      const answer = await work()
      await answer.arrayBuffer()
      return { ms: await longest(), status: answer.status }
    },
  }
}
