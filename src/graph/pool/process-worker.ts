/**
 * Runs one graph worker in a process of its own, whose end harms neither the server nor its runs.
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import type { Env } from '../../../cluster/index.ts'
import type { FromApart, ToApart } from './process-messages.ts'
import type { Carrier, CarrierEvents, WorkerStart } from './carrier.ts'
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
  const child = fork(fileURLToPath(new URL('./apart.ts', import.meta.url)), [], {
    serialization: 'advanced',
    env: start.variables,
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
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
  child.on('error', (error) => events.failed(error))
  // All messages were read at `disconnect`, and all output at `close`.
  const gone = Promise.all([once(child, 'disconnect'), once(child, 'close')])
  void gone.then(([, [code]]) => {
    stopLooking()
    events.exited(typeof code === 'number' ? code : null)
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
