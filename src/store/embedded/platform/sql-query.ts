/**
 * Questions in SQL about `traces.db`: each is answered by a process, which is killed if it is late.
 */

import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { SqlAnswer, SqlPort } from '../../../platform/index.ts'
import type { SqlEnd, SqlStart } from './sql-process.ts'

/** Time that a question may take. */
const answerMs = 10_000
/** Megabytes of the process besides what SQLite uses. */
const heapMb = 128

const program = fileURLToPath(new URL('./sql-process.ts', import.meta.url))

/** Clock and random bytes for the answers. */
type SqlEnv = Pick<Env, 'after' | 'secret'>

/** Answers over the file with this path. */
export function sqlOver(file: string, env: SqlEnv): SqlPort {
  return {
    querySql: async (question, signal) => {
      if (!existsSync(file)) return { columns: [], rows: [], truncation_reason: null }
      const hidden = `heddle_${Buffer.from(env.secret()).toString('hex')}`
      return resultOf(await endOf({ ...question, file, hidden }, env, signal))
    },
  }
}

/** Message of the process: `late` if it had to be killed, undefined if it died. */
async function endOf(start: SqlStart, env: SqlEnv,
  signal?: AbortSignal): Promise<SqlEnd | 'late' | undefined> {
  signal?.throwIfAborted()
  // Of what this process knows it needs only where compiled modules are.
  const { NODE_COMPILE_CACHE } = process.env
  const child = fork(program, { env: { NODE_COMPILE_CACHE }, stdio: 'ignore',
    execArgv: [`--max-old-space-size=${heapMb}`] })
  const { promise, resolve, reject } = Promise.withResolvers<SqlEnd | 'late' | undefined>()
  const leave = () => reject(signal!.reason)
  signal?.addEventListener('abort', leave, { once: true })
  const stop = env.after(answerMs, () => resolve('late'))
  child.once('message', (end) => resolve(end as SqlEnd))
  child.once('exit', () => resolve(undefined))
  child.once('error', reject)
  child.send(start)
  try {
    return await promise
  } finally {
    stop()
    signal?.removeEventListener('abort', leave)
    child.kill('SIGKILL')
  }
}

function resultOf(end: SqlEnd | 'late' | undefined): SqlAnswer {
  if (end === 'late') {
    throw new HeddleError('invalid', `query: it took longer than ${answerMs / 1_000} seconds. ` +
      'Ask for fewer runs: "start_us > …" is quick.')
  }
  if (end === undefined) {
    throw new HeddleError('invalid', 'query: it needs more memory than a question may have.')
  }
  if ('wrong' in end) throw new HeddleError('invalid', `query: ${end.wrong}.`)
  return end.answer
}
