/** The thread in which a graph worker lives, behind an interface that a process has as well. */

import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Readable } from 'node:stream'

import type { CompiledProject } from '../project/project-compiler.ts'
import type { ExecutionMark } from './execution-marks.ts'
import type { ToWorker, WorkerData } from './worker-mail.ts'

/**
 * Start of a worker: plain data. The `mark` has a file descriptor, which is valid in this process
 * only.
 */
export interface WorkerStart {
  readonly name: string
  readonly project: CompiledProject
  /** MiB that its graphs may fill. */
  readonly heapMb: number
  /** The environment of its graphs. */
  readonly variables: NodeJS.ProcessEnv
  /**
   * Slot of the file in which the worker marks the run that it executes; missing if it marks none.
   */
  readonly mark?: ExecutionMark
  /** The share of runs whose steps are traced; missing for none. */
  readonly tracedRatio?: number
  /** True in a graph process, where lines of runs are sent only, and not printed as well. */
  readonly isInProcess?: boolean
}

/** Events of a carrier: messages, lack of memory, errors and the end. */
export interface CarrierEvents {
  /** Called with whatever was posted. User code may have posted it. */
  mails(mails: unknown): void
  /** Called when graphs have filled the memory of the worker, which is about to end. */
  full(): void
  /** Called when the worker threw. */
  failed(error: Error): void
  /** Called when the worker has ended. Nothing comes after this. */
  exited(code: number | null): void
}

/** The home of a graph worker: a thread, or a process of its own. */
export interface Carrier {
  readonly stdout: Readable
  readonly stderr: Readable
  /** The job whose code was entered last. It can be read while the worker is stuck. */
  readonly enteredJob: number
  /** Number of times that code of jobs was entered, modulo 2³². It can be read as well. */
  readonly entries: number
  /** Sends messages, which arrive in order. */
  post(mails: readonly ToWorker[]): void
  /** Ends the worker, whatever runs in it. */
  terminate(): Promise<void>
}

/** Messages to a process with one worker: its worker first, then the messages for that worker. */
export type ToApart = { readonly start: WorkerStart } | { readonly mails: readonly ToWorker[] }

/** Messages from that process: the events of its worker. */
export type FromApart = { readonly mails: unknown } | { readonly full: true } | {
  readonly failed: string
}

/**
 * MiB: two halves of 16 MiB, and as much for what is large. Node lets a worker that has filled its
 * memory take a little more while it ends. Objects that a collection moves out of the young
 * generation must fit into that, or V8 ends the whole process. With 64 MiB, whose halves V8 rounds
 * up to 32, it ended half the time.
 */
const youngGenerationMb = 48

/**
 * Starts a worker as a thread of this process. With `printsItself`, this process prints what the
 * worker prints.
 */
export function workerThread(
  { name, project, heapMb, variables: env, mark, tracedRatio, isInProcess }: WorkerStart,
  events: CarrierEvents,
  { printsItself = false } = {},
): Carrier {
  // `parentPort` is not used, because user code may post to it as well.
  const { port1: port, port2 } = new MessageChannel()
  const entered = new Int32Array(new SharedArrayBuffer(8))
  const workerData: WorkerData = { name, project, entered, port: port2, ...mark && { mark },
    ...tracedRatio !== undefined && { tracedRatio },
    ...isInProcess !== undefined && { isInProcess } }
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    name,
    workerData,
    transferList: [port2],
    env,
    stdout: !printsItself,
    stderr: !printsItself,
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb, maxOldGenerationSizeMb: heapMb },
  })
  port.on('message', (mails: unknown) => events.mails(mails))
  worker.on('error',
    (error: Error & { code?: string }) =>
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? events.full() : events.failed(error))
  worker.on('exit', (code) => {
    // Its last messages may still be queued.
    for (let last; (last = receiveMessageOnPort(port));) events.mails(last.message)
    events.exited(code)
  })
  return {
    stdout: worker.stdout,
    stderr: worker.stderr,
    get enteredJob() {
      return entered[0]!
    },
    get entries() {
      return entered[1]!
    },
    post: (mails) => port.postMessage(mails),
    terminate: async () => void await worker.terminate(),
  }
}
