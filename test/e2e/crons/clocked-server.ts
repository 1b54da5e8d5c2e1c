/** A server whose wall clock the test moves, so that minutes need not pass. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startServer } from '../../support/server-process.ts'
import type { ServerOptions, ServerProcess } from '../../support/server-process.ts'
import { clockVariable } from '../../support/shifted-clock.ts'

const preload = resolve(import.meta.dirname, '../../support/shifted-clock.ts')

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
  const folder = await mkdtemp(join(tmpdir(), 'heddle-clock-'))
  const file = join(folder, 'ahead')
  let aheadMs = 0
  const move = async (ms: number) => {
    aheadMs = ms - Date.now()
    await writeFile(file, String(aheadMs))
  }
  await move(startMs)
  const server = await startServer({ project: 'conformance', ...options,
    env: { ...options.env, NODE_OPTIONS: `--import=${preload}`, [clockVariable]: file } })
  const nowMs = () => Date.now() + aheadMs
  return Object.defineProperties(Object.create(server) as ClockedServer, {
    nowMs: { value: nowMs },
    setClock: { value: async (ms: number) => {
      await move(ms)
      process.kill(server.pid, 'SIGUSR2')
    } },
    close: { value: async () => {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    } },
  })
}
