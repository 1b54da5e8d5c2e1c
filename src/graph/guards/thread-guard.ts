/**
 * Loaded before anything else in each thread of a graph process. A thread that is started with
 * arguments or `NODE_OPTIONS` of its own would not be bound by the permissions of its process
 * (Node 24: an empty `execArgv` is enough). Exports nothing, because code can import it again.
 */

import { EventEmitter } from 'node:events'
import module, { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

import { assign, construct, defineProperty, getPrototypeOf, ownKeys } from './intrinsics.ts'
import { accessDenied, calledWithoutNew, replaceForGood } from './refusal.ts'
import { threadOptions } from './thread-options.ts'

const { Worker, SHARE_ENV } = threads

guardThreads()
syncBuiltinESMExports()

/** Replaces `Worker`, and hides the classes by which code could start a thread without it. */
function guardThreads(): void {
  hideSystemClass()
  // The function is no class, because the prototype of a class would be the class itself. It is no
  // proxy, because V8 has functions that return the target of a proxy.
  const guarded = assign(GuardedWorker, { prototype: Worker.prototype })
  defineProperty(guarded, 'name', { value: 'Worker' })
  Object.setPrototypeOf(guarded, EventEmitter)
  defineProperty(Worker.prototype, 'constructor', { value: guarded })
  assign(threads, { Worker: guarded })
  // The thread of such hooks is an instance of a subclass of `Worker`, which code could reach.
  replaceForGood(module, 'register', () => {
    throw accessDenied('A deployment cannot register module hooks in a thread of their own: use ' +
      '`registerHooks` of node:module.')
  })
}

function GuardedWorker(file: unknown, options: unknown): object {
  if (new.target === undefined) throw calledWithoutNew('Worker')
  const bound = threadOptions(options, process.env, SHARE_ENV)
  return construct(Worker, [file, bound], new.target) as object
}

/**
 * Hides the class of the system's threads. Each `Worker` has an instance of it, whose constructor
 * takes arguments for Node. Throws if this version of Node has another structure.
 */
function hideSystemClass(): void {
  const started = unstartedWorker()
  for (const key of ownKeys(started)) {
    if (String(key) !== 'Symbol(kHandle)') continue
    const systemClass: object = getPrototypeOf((started as Record<PropertyKey, object>)[key]!)!
    defineProperty(systemClass, 'constructor', { value: undefined, writable: false,
      configurable: false })
    return
  }
  throw new Error('This version of Node is not supported: the class of its threads is not found.')
}

/** A worker whose thread is never started, because its arguments are invalid. */
function unstartedWorker(): object {
  const { init } = EventEmitter as unknown as { init: (this: object, options: unknown) => void }
  let made: object = {}
  const keep = (worker: object) => {
    made = worker
  }
  assign(EventEmitter, { init(this: object, options: unknown) {
    keep(this)
    init.call(this, options)
  } })
  try {
    return new Worker('', { eval: true, execArgv: ['--no-such-flag'] })
  } catch {
    return made
  } finally {
    assign(EventEmitter, { init })
  }
}
