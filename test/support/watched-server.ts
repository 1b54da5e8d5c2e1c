/** A server of the project `large`, whose longest turns of the event loop are measured. */

import { afterAll, beforeAll } from 'vitest'

import { startServer } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'

export const megabyte = 1024 * 1024

export interface Watched {
  readonly url: string
  /** The longest turn meanwhile, in milliseconds of processor time, and the last status. */
  during(work: () => Promise<Response>): Promise<{ readonly ms: number; readonly status: number }>
  /** The id of a new thread. */
  thread(): Promise<string>
  send(path: string, body: string): Promise<Response>
}

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
