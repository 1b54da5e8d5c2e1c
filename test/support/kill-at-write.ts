/**
 * Loaded before a server that runs from its source: kills it at a write to Cassandra that a file
 * names.
 */

import { readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { Client } from 'cassandra-driver'
import { textAt } from '../../src/json/index.ts'

/** The variable with the path of the file, which contains a `WriteMoment` in JSON. */
export const killVariable = 'HEDDLE_TEST_KILL_AT_WRITE'

/** When a server is killed. */
export interface WriteMoment {
  /** The process that is killed. */
  readonly pid: number
  readonly table: 'log' | 'run' | 'thread_row'
  /** Number of the write to that table, from 1, since the file is there. */
  readonly nth: number
  /** `with`: the write is sent, and its response is not awaited. */
  readonly when: 'before' | 'with' | 'after'
}

type Send = (...args: unknown[]) => Promise<unknown>

const file = process.env[killVariable]
if (file !== undefined && isMainThread) {
  let writes: string[] = []
  /** True for the write of the moment. */
  const isDue = ({ table, nth }: WriteMoment, cql: string) => {
    const written = /INSERT INTO \w+\.(log|run|thread_row) /.exec(cql)?.[1]
    if (written === undefined) return false
    writes.push(written)
    return written === table && writes.filter((each) => each === table).length === nth
  }
  const die = () => process.kill(process.pid, 'SIGKILL')
  const own = Client.prototype as unknown as { execute: Send; batch: Send }
  for (const method of ['execute', 'batch'] as const) {
    const send = own[method]
    own[method] = async function sendOrDie(this: unknown, ...args: unknown[]) {
      const moment = momentIn(file)
      if (moment === undefined) writes = []
      if (!moment || !isDue(moment, cqlOf(args[0]))) return await send.apply(this, args)
      if (moment.when === 'before') die()
      const sent = send.apply(this, args)
      if (moment.when === 'after') await sent
      // The driver sends in a later turn of the event loop.
      setTimeout(die, moment.when === 'with' ? 1 : 0)
      return await new Promise(() => {})
    }
  }
}

/** Text of a statement, or of those of a batch. */
function cqlOf(queries: unknown): string {
  return [queries].flat().map((each) => typeof each === 'string' ? each : textAt(each, 'query'))
    .join('\n')
}

function momentIn(path: string): WriteMoment | undefined {
  try {
    const moment = JSON.parse(readFileSync(path, 'utf8')) as WriteMoment
    return moment.pid === process.pid ? moment : undefined
  } catch {
    return undefined
  }
}
