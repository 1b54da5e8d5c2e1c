/**
 * Loaded before anything else in each thread of a graph process: a thread that is started with
 * arguments or NODE_OPTIONS of its own would not be bound by the permissions of its process
 * (Node 24: an empty `execArgv` is enough).
 */

import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'
import type { WorkerOptions } from 'node:worker_threads'

const { Worker } = threads

const guarded = new Proxy(Worker, {
  construct(target, [file, given]: [string | URL, WorkerOptions | undefined], made) {
    const worker: object = Reflect.construct(target, [file, allowed(given)], made)
    return worker
  },
})

// Each instance would lead to the class itself.
Object.defineProperty(Worker.prototype, 'constructor', { value: guarded })
Object.assign(threads, { Worker: guarded })
syncBuiltinESMExports()

/** The options, read once: getters could say something else the second time. */
function allowed(given: WorkerOptions | undefined): WorkerOptions | undefined {
  if (given === undefined || given === null) return given
  const options = { ...given }
  if (options.execArgv !== undefined) throw refusal('execArgv')
  if (typeof options.env !== 'object' || options.env === null) return options
  const env = { ...options.env }
  if (Object.keys(env).some((name) => name.toUpperCase() === 'NODE_OPTIONS')) {
    throw refusal('env.NODE_OPTIONS')
  }
  return { ...options, env }
}

function refusal(option: string): Error {
  return Object.assign(
    new Error(`A thread of a deployment cannot be started with ${option} of its own.`),
    { code: 'ERR_ACCESS_DENIED' },
  )
}
