/** A server of the project `large`, whose longest turns of the event loop are measured. */

import { afterAll, beforeAll, expect } from 'vitest'

import { startServer } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'

/** Bytes of a mebibyte. */
export const megabyte = 1024 * 1024

/** No turn may be longer, but for works that are allowed more, and on slow machines. */
const promisedMs = 50

/** Tries of a work: other processes make a turn longer at times, and never shorter. */
const triesMax = 4

/** The answer that a work must have, and how long it may hold up others. */
interface Allowed {
  readonly status: number
  /** How many times as long as the yardstick a turn may be, if that is more than is promised. */
  readonly times: number
}

/** A server whose event loop is watched. */
export interface Watched {
  readonly url: string
  /**
   * Expects that no turn during `work` takes more processor time than is promised or allowed. The
   * fastest of some tries counts.
   */
  holdsUpNobody(work: () => Promise<Response>, allowed: Allowed): Promise<void>
  /** Makes a thread and resolves with its id. */
  thread(): Promise<string>
  send(path: string, body: string): Promise<Response>
}

const text = 'x'.repeat(24 * megabyte)

/** Processor time of this process for writing and parsing 24 MB now: 40 ms if all is well. */
function yardstickMs(): number {
  const tries = Array.from({ length: triesMax }, () => {
    const before = process.threadCpuUsage()
    JSON.parse(JSON.stringify(text))
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...tries)
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
  /** Milliseconds of processor time of the longest turn, and the status of the answer. */
  const during = async (work: () => Promise<Response>) => {
    await longest()
    const answer = await work()
    await answer.arrayBuffer()
    return { ms: await longest(), status: answer.status }
  }
  const thread = async () =>
    (await (await send('/threads', '{}')).json() as { thread_id: string }).thread_id
  return {
    get url() {
      return server.url
    },
    send,
    thread,
    holdsUpNobody: async (work, { status, times }) => {
      let fastestMs = Infinity
      let boundMs = promisedMs
      for (let tries = 0; tries < triesMax && fastestMs >= boundMs; tries += 1) {
        const turn = await during(work)
        expect(turn.status).toBe(status)
        fastestMs = Math.min(fastestMs, turn.ms)
        if (fastestMs < boundMs) return
        boundMs = Math.max(boundMs, times * yardstickMs())
      }
      expect(fastestMs).toBeLessThan(boundMs)
    },
  }
}
