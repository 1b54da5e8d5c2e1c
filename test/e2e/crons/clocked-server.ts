/** A server whose wall clock the test moves. */

import { movedClock } from '../../support/moved-clock.ts'
import { startServer } from '../../support/server-process.ts'
import type { ServerOptions, ServerProcess } from '../../support/server-process.ts'

/** A server and its clock. */
export interface ClockedServer extends ServerProcess {
  /** What its clock shows, or will show at its next start. */
  nowMs(): number
  /** Sets the clock. A running server notices at once. */
  setClock(ms: number): Promise<void>
}

/** Starts a server whose clock shows `startMs`. */
export async function startClocked(startMs: number,
  options: ServerOptions = {}): Promise<ClockedServer> {
  const clock = await movedClock(startMs)
  const server = await startServer({ project: 'conformance', ...options,
    env: { ...options.env, ...clock.env } })
  return Object.defineProperties(Object.create(server) as ClockedServer, {
    nowMs: { value: clock.nowMs },
    setClock: { value: (ms: number) => clock.set(ms, [server.pid]) },
    close: { value: async () => {
      await server.close()
      await clock.close()
    } },
  })
}
