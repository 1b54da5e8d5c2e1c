/**
 * Runs one graph worker in a process of its own, whose end harms neither the server nor its runs.
 */

import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import type { Env } from '../../../cluster/index.ts'
import type { Carrier, CarrierEvents, FromApart, ToApart, WorkerStart } from './carrier.ts'
import { startChild } from '../start-child.ts'
import { residentBytes } from './worker-heap.ts'

/** MiB beyond the heap: for Node itself, for code, and for buffers of the graph. */
const besideHeapMb = 1024
const lookMs = 500
const mib = 1024 * 1024
/** Text that V8 prints before it ends a process in which one large object exceeded the limit. */
const outOfMemory = 'JavaScript heap out of memory'

/** Starts a worker in a process of its own. Used for a run that may end its process. */
export function workerProcess(env: Pick<Env, 'every'>, start: WorkerStart,
  events: CarrierEvents): Carrier {
  const child = startChild(() =>
    fork(fileURLToPath(new URL('./apart.ts', import.meta.url)), [], {
      serialization: 'advanced',
      env: start.variables,
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
  )
  const send = (message: ToApart) => {
    if (child.connected) child.send(message, () => {})
  }
  let isFull = false
  const full = () => {
    if (!isFull) events.full()
    isFull = true
  }
  const stopLooking = env.every(lookMs, () => {
    const resident = residentBytes(child.pid) ?? 0
    if (resident < (start.heapMb + besideHeapMb) * mib) return
    full()
    child.kill('SIGKILL')
  })
  const { stdout, stderr } = child
  stderr!.on('data', (text: Buffer | string) => {
    if (text.includes(outOfMemory)) full()
  })
  child.on('message', (message: FromApart) => {
    if ('mails' in message) events.mails(message.mails)
    else if ('full' in message) full()
    else events.failed(new Error(message.failed))
  })
  // All messages were read at `disconnect`, and all output at `close`.
  const disconnected = eventOf(child, 'disconnect')
  const closed = eventOf(child, 'close')
  const { promise: gone, resolve: end } = Promise.withResolvers<number | null>()
  void Promise.all([disconnected, closed]).then(([, code]) =>
    end(typeof code === 'number' ? code : null)
  )
  child.on('error', (error) => {
    events.failed(error)
    // A process that never started has no end either.
    if (child.pid === undefined) end(null)
  })
  void gone.then((code) => {
    stopLooking()
    events.exited(code)
  })
  let job = 0
  send({ start })
  return {
    stdout: stdout!,
    stderr: stderr!,
    /** The one job of the worker. */
    get enteredJob() {
      return job
    },
    // It has one job, which may be silent.
    entries: 0,
    post: (mails) => {
      job = mails.find((mail) => mail.type === 'execute')?.job ?? job
      send({ mails })
    },
    terminate: async () => {
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** First argument of an event. Unlike `once` of Node, it does not reject at an error. */
function eventOf(child: ChildProcess, name: string): Promise<unknown> {
  return new Promise((resolve) => child.once(name, resolve))
}
