/** The thread in which a graph worker lives, behind what a process of its own offers as well. */

import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Readable } from 'node:stream'

import type { ExecutionMark } from './execution-marks.ts'
import type { CompiledProject } from './project-compiler.ts'
import type { ToWorker, WorkerData } from './worker-mail.ts'

/** What a worker is started with: plain data, but for the number that is shared with it. */
export interface WorkerStart {
  readonly name: string
  readonly project: CompiledProject
  /** What its graphs may fill. */
  readonly heapMb: number
  /** The environment of its graphs. */
  readonly variables: NodeJS.ProcessEnv
  /** Where it marks what it executes; missing if nobody looks. */
  readonly mark?: ExecutionMark
}

export interface CarrierEvents {
  /** Whatever was posted: user code may have done it. */
  mails(mails: unknown): void
  /** Its graphs have filled its memory: it is about to end. */
  full(): void
  failed(error: Error): void
  /** It is gone; nothing comes after this. */
  exited(code: number | null): void
}

export interface Carrier {
  readonly stdout: Readable
  readonly stderr: Readable
  /** The job whose code was entered last, readable while the worker is stuck. */
  readonly enteredJob: number
  post(mails: readonly ToWorker[]): void
  /** Ends it, whatever runs in it. */
  terminate(): Promise<void>
}

/**
 * Two halves of 16 MiB, and as much for what is large. Node lets a worker that has filled its
 * memory take a little more while it ends. What a collection moves out of the young generation must
 * fit into that, or V8 ends the whole process: with 64 MiB, whose halves V8 rounds up to 32, it did
 * so half the time.
 */
const youngGenerationMb = 48

/**
 * Starts a worker as a thread of this process. `printsItself`: what it prints is printed by this
 * process as well.
 */
export function workerThread({ name, project, heapMb, variables: env, mark }: WorkerStart,
  events: CarrierEvents, { printsItself = false } = {}): Carrier {
  // Not `parentPort`, to which user code may post as well.
  const { port1: port, port2 } = new MessageChannel()
  const entered = new Int32Array(new SharedArrayBuffer(4))
  const workerData: WorkerData = { name, project, entered, port: port2, ...mark && { mark } }
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    name, workerData, transferList: [port2], env, stdout: !printsItself, stderr: !printsItself,
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb,
      maxOldGenerationSizeMb: heapMb },
  })
  port.on('message', (mails: unknown) => events.mails(mails))
  worker.on('error', (error: Error & { code?: string }) =>
    error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? events.full() : events.failed(error))
  worker.on('exit', (code) => {
    // Its last messages may still be queued.
    for (let last; (last = receiveMessageOnPort(port));) events.mails(last.message)
    events.exited(code)
  })
  return {
    stdout: worker.stdout, stderr: worker.stderr,
    get enteredJob() { return entered[0]! },
    post: (mails) => port.postMessage(mails),
    terminate: async () => void await worker.terminate(),
  }
}
