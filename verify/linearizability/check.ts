/** Checks with porcupine, a program in Go, that the logs of threads are linearizable. */

import { spawn, spawnSync } from 'node:child_process'
import { text } from 'node:stream/consumers'

import { isSuccess } from '../checker/history-index.ts'
import type { HistoryIndex, ThreadRecord } from '../checker/history-index.ts'
import type { Violation } from '../checker/violation.ts'
import type { Call } from '../history/history.ts'

/** An operation on the log of a thread, with microseconds: an append or a read of all values. */
interface LogOperation {
  readonly append?: string
  readonly read?: readonly string[]
  readonly client: number
  readonly start: number
  /** Undefined if it is not known whether the append was done. */
  readonly end?: number
}

/** True if the machine has Go. */
export function hasGo(): boolean {
  return spawnSync('go', ['version']).status === 0
}

/**
 * Returns a violation for each thread whose log is not linearizable. Copies, and threads that went
 * back to an earlier checkpoint, are left out, because their logs do not only grow.
 */
export async function checkLogs(index: HistoryIndex): Promise<readonly Violation[]> {
  const threads = [...index.threads.values()].filter(({ copy, calls }) =>
    copy === undefined && !calls.some(({ operation }) => /^(thread|v2)\.fork$/.test(operation))
  )
  const program = spawn('go', ['run', '.'], { cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'] })
  const output = text(program.stdout)
  program.stdin.end(threads.map((thread) => `${JSON.stringify(toOperations(thread))}\n`).join(''))
  const code = await new Promise((resolve) => program.once('close', resolve))
  if (code !== 0 && code !== 1) throw new Error(`go run ended with ${String(code)}.`)
  const lines = (await output).split('\n').filter((line) => /^\d+$/.test(line))
  return lines.map((line) => {
    const { id, calls } = threads[Number(line)]!
    return { rule: 'linearizable', message: `The log of thread ${id} is not linearizable`,
      calls: calls.slice(-1) }
  })
}

/**
 * The operations on the log of a thread. An update appends its entry, and a run that succeeded
 * appends the entry of its start. Other entries are left out of the reads.
 */
export function toOperations(thread: ThreadRecord): readonly LogOperation[] {
  const appends = [...toUpdates(thread), ...toRuns(thread)]
  const values = new Set(appends.map(({ append }) => append))
  const reads = thread.reads.map(({ call, log }) => (
    { read: log.filter((entry) => values.has(entry)), ...toTimes(call) }
  ))
  // A read that has the entry shows that it was appended: fewer orders are left to try.
  const bounded = appends.map((operation) => {
    const seen = reads.filter(({ read }) => read.includes(operation.append!)).map(({ end }) => end)
    const ends = [...seen, operation.end ?? Infinity]
    const end = Math.min(...ends)
    return { ...operation, end: end === Infinity ? undefined : end }
  })
  return [...bounded, ...reads]
}

function toTimes({ client, startMs, endMs }: Call) {
  // A client is an id of porcupine, which knows no negative one.
  return { client: client + 1, start: Math.round(startMs * 1_000), end: Math.round(endMs * 1_000) }
}

function toUpdates({ calls }: ThreadRecord): LogOperation[] {
  return calls.filter(({ operation, status }) =>
    operation === 'state.update' && (status === undefined || isSuccess(status) || status >= 500)
  ).map((call) => {
    const { values } = call.body as { values: { log: [string] } }
    const times = toTimes(call)
    return { append: values.log[0], ...times, end: isSuccess(call.status) ? times.end : undefined }
  })
}

function toRuns({ runs }: ThreadRecord): LogOperation[] {
  return [...runs.values()].flatMap(({ start, views }) => {
    const succeeded = views.find(({ status }) => status === 'success')?.call
    if (!start || !succeeded || /^(answer|input)$/.test(start.action) ||
      start.call.operation === 'run.repeat') {
      return []
    }
    const { client, start: startUs } = toTimes(start.call)
    return [{ append: `${start.token}:in`, client, start: startUs, end: toTimes(succeeded).end }]
  })
}
