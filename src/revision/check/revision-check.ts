/** Loads the graphs of an unpacked revision in a process of their own, to see whether they load. */

import { fork } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import type { Env } from '../../../cluster/index.ts'
import type { CheckDone, CheckedGraph } from './check-mail.ts'

/** Time that loading may take. Code that waits at its import for a network that is not there. */
const checkMs = 60_000

/** Characters of what the process prints that are kept for the message of a failure. */
const printedMax = 2_000

/**
 * The graphs of a project that is on disk, with their nodes. Throws an error that says why if the
 * process ends before: the code exits, uses up its memory or does not return.
 */
export async function checkGraphs(configFile: string, env: Pick<Env, 'after'>,
  { signal, ignoreAuth = false }: { readonly signal?: AbortSignal; readonly ignoreAuth?: boolean } =
    {}): Promise<readonly CheckedGraph[]> {
  const args = [configFile, ...ignoreAuth ? ['ignore-auth'] : []]
  const child = fork(fileURLToPath(new URL('./check-process.ts', import.meta.url)), args, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    killSignal: 'SIGKILL',
    ...signal ? { signal } : {},
  })
  const printed = text(child.stderr!).catch(() => '')
  const done = Promise.withResolvers<readonly CheckedGraph[]>()
  const stopTimer = env.after(checkMs, () => {
    done.reject(new Error(`The graphs were not loaded after ${checkMs / 1_000} seconds.`))
    child.kill('SIGKILL')
  })
  child.on('message', ({ graphs }: CheckDone) => done.resolve(graphs))
  child.on('error', (error) => done.reject(error))
  child.on('exit', async (code, end) => {
    const words = (await printed).trim().slice(-printedMax)
    done.reject(new Error(`The process that loads the graphs ended with ${code ?? end}. ${words}`))
  })
  return await done.promise.finally(stopTimer)
}
