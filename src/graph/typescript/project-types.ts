/** Types of a project's TypeScript sources for its graphs, read in a process of its own. */

import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { availableParallelism, constants, loadavg, setPriority } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

import { backoffMs } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { asUser } from '../process-user.ts'
import type { CompiledProject } from '../project/project-compiler.ts'
import type { FileTimes } from '../file-times.ts'
import { changedMs } from '../file-times.ts'
import type { TypedNode, TypedSchemas } from './graph-types.ts'
import type { TypesRead, TypesWanted } from './type-mail.ts'

/** The part of a project that names the files whose types are read. */
export type TypedProject = Pick<CompiledProject, 'graphs'>

/** The types of a project's graphs. Types that could not be read are missing. */
export interface ProjectTypes {
  readonly graphs: ReadonlyMap<string, TypedSchemas>
  /** The graphs that its files add as nodes to others. */
  readonly nodes: readonly TypedNode[]
  /** True while more types are being read. */
  readonly isLoading: boolean
}

/** Limits on the process that reads types. */
export interface ReaderBounds {
  readonly flags: readonly string[]
  /** User that it runs as; undefined for the user of this process. */
  readonly user: number | undefined
}

/** Time that a try may take, in milliseconds. Types that were read until then are kept. */
const tryMs = 120_000
/** Time for which a caller waits, unless it chooses another. */
const waitMs = 30_000
const lookMs = 1_000
/** Pauses between tries: the machine may be busy. */
const pauses = { firstMs: 2_000, longestMs: 30_000 }
const triesMax = 5
/** Time after which a reading whose tries all failed starts again at the next request. */
const quietMs = 600_000
/** Time between the load of a project and its reading, for which the machine has other work. */
const startDelayMs = 20_000
/** Longest time between two looks at whether the machine is still busy. */
const busyDelayMs = 320_000
const typed = ['.ts', '.tsx', '.mts', '.cts']

/** The last reading that no caller waits for. One runs at a time, as each has a compiler. */
let lastInBackground: Promise<void> = Promise.resolve()

/** Reads types once after the load of a project, and again when a file of theirs changes. */
export class TypeReader {
  readonly #env: Env
  readonly #heapMb: number
  readonly #closed = new AbortController()
  readonly #bounds: ReaderBounds
  readonly #isBusy: () => boolean
  #newest: Reading | undefined
  #stopStart = () => {}

  /**
   * `heapMb` limits the heap of the compiler. `isBusy` returns true if a reading in the background
   * would compete with other work of the machine.
   */
  constructor(env: Env, heapMb: number, bounds: ReaderBounds = { flags: [], user: undefined },
    isBusy = isMachineBusy) {
    this.#bounds = bounds
    this.#env = env
    this.#heapMb = heapMb
    this.#isBusy = isBusy
  }

  /** Reads the types of a loaded project soon, at a low priority, while the machine is not busy. */
  begin(project: TypedProject): void {
    this.#stopStart()
    if (wantedOf(project).graphs.length > 0) this.#startLater(project, startDelayMs)
  }

  #startLater(project: TypedProject, delayMs: number): void {
    this.#stopStart = this.#env.after(delayMs, () => {
      if (this.#isBusy()) {
        this.#startLater(project, Math.min(delayMs * 2, busyDelayMs))
        return
      }
      lastInBackground = lastInBackground.then(() => {
        if (!this.#closed.signal.aborted) return this.#readingOf(project, true).done
      })
    })
  }

  /**
   * Returns the types of a project, after waiting for up to `ms` milliseconds until all are read;
   * empty if it has no TypeScript or cannot be read. Never rejects.
   */
  async typesOf(project: TypedProject, ms = waitMs): Promise<ProjectTypes> {
    const reading = this.#readingOf(project, false)
    this.#hurry(reading)
    if (reading.isLoading && ms > 0) await this.#within(ms, reading.done)
    const { graphs, nodes, isLoading } = reading
    return { graphs, nodes, isLoading }
  }

  /** Ends what is being read. */
  close(): void {
    this.#stopStart()
    this.#closed.abort()
  }

  #readingOf(project: TypedProject, isIdle: boolean): Reading {
    const newest = this.#newest
    if (newest?.project === project && this.#isFresh(newest)) return newest
    const reading: Reading = { project, graphs: new Map(), nodes: [], files: [],
      lookedMs: this.#env.monotonicMs(), untilMs: Infinity,
      isLoading: wantedOf(project).graphs.length > 0, isIdle, done: Promise.resolve() }
    this.#newest = reading
    reading.done = this.#read(reading).finally(() => {
      reading.isLoading = false
    })
    return reading
  }

  /** Files are looked at once a second at most: there may be thousands. */
  #isFresh(reading: Reading): boolean {
    if (reading.isLoading) return true
    const nowMs = this.#env.monotonicMs()
    if (nowMs >= reading.untilMs) return false
    if (nowMs - reading.lookedMs < lookMs) return true
    reading.lookedMs = nowMs
    return reading.files.every(([file, ms]) => changedMs(file) === ms)
  }

  /** Gives a reading the usual priority, now that a caller waits for it. */
  #hurry(reading: Reading): void {
    if (!reading.isIdle) return
    reading.isIdle = false
    const { child } = reading
    if (child?.pid === undefined) return
    try {
      setPriority(child.pid, constants.priority.PRIORITY_NORMAL)
    } catch {
      // Only root may raise a priority. The next try has the usual one.
      reading.restarts = true
      child.kill('SIGKILL')
    }
  }

  async #within(ms: number, done: Promise<void>): Promise<void> {
    const late = Promise.withResolvers<void>()
    const stop = this.#env.after(ms, late.resolve)
    await Promise.race([done, late.promise]).finally(stop)
  }

  async #read(reading: Reading): Promise<void> {
    const wanted = wantedOf(reading.project)
    if (wanted.graphs.length === 0) return
    // Until the compiler reports the files that it read.
    reading.files = wanted.graphs.map(({ file }) => [file, changedMs(file)])
    for (let tries = 1; !this.#closed.signal.aborted; tries++) {
      const reason = await this.#run(reading, wanted)
        .catch(({ message }: Error) => message)
      if (reason === null || this.#closed.signal.aborted || this.#newest !== reading) return
      if (reading.restarts === true) {
        reading.restarts = false
        continue
      }
      const isLast = tries >= triesMax
      this.#env.log.warn('Not all types of the project could be read: schemas have the names of ' +
        'fields only.', { reason, again: isLast ? 'when files change' : 'in some seconds' })
      if (isLast) {
        reading.untilMs = this.#env.monotonicMs() + quietMs
        return
      }
      await this.#pause(tries)
    }
  }

  /** Waits before the next try, unless this reader is closed. */
  #pause(tries: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = this.#env.after(backoffMs(pauses, tries, this.#env.random()), resolve)
    const { signal } = this.#closed
    const end = () => {
      stop()
      resolve()
    }
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    return promise.finally(() => signal.removeEventListener('abort', end))
  }

  /** Resolves when all is read: with null, or with the reason why not. */
  async #run(reading: Reading, wanted: TypesWanted): Promise<string | null> {
    const child = fork(fileURLToPath(new URL('./type-process.ts', import.meta.url)), [], {
      execArgv: [...this.#bounds.flags, `--max-old-space-size=${this.#heapMb}`],
      env: environment(),
      ...asUser(this.#bounds.user),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      signal: this.#closed.signal,
      killSignal: 'SIGKILL',
    })
    reading.child = child
    if (reading.isIdle) lowerPriority(child)
    const ended = Promise.withResolvers<string | null>()
    const stopTimer = this.#env.after(tryMs, () => {
      ended.resolve(`it took more than ${tryMs / 1_000} seconds`)
      child.kill('SIGKILL')
    })
    child.on('message', (message: TypesRead) => {
      if (message.type === 'files') reading.files = message.read
      else if (message.type === 'nodes') reading.nodes = message.nodes
      else reading.graphs.set(message.graphId, message.schemas)
    })
    child.on('error', ({ message }) => ended.resolve(message))
    child.on('exit',
      (code, signal) =>
        ended.resolve(code === 0 ? null : `the compiler ended with ${code ?? signal}`))
    child.send(wanted, () => {})
    return ended.promise.finally(stopTimer)
  }
}

interface Reading {
  readonly project: TypedProject
  readonly graphs: Map<string, TypedSchemas>
  nodes: readonly TypedNode[]
  files: FileTimes
  /** Time at which the files were last seen unchanged. */
  lookedMs: number
  /** Time at which the types are read again in any case. */
  untilMs: number
  isLoading: boolean
  /** True while no caller waits for it. */
  isIdle: boolean
  /** True if its process was ended only to start at another priority. */
  restarts?: boolean
  child?: ChildProcess
  done: Promise<void>
}

/** The graphs of a project that may have types, and can be loaded. */
function wantedOf(project: TypedProject): TypesWanted {
  return { graphs: project.graphs.filter(({ failure }) => failure === null)
    .map(({ graphId, url, exportName }) => ({ graphId, file: fileURLToPath(url), exportName }))
    .filter(({ file }) => typed.includes(extname(file))) }
}

/** True if more processes were ready to run in the last minute than the machine can run at once. */
function isMachineBusy(): boolean {
  return loadavg()[0]! >= availableParallelism()
}

/** The platform may not allow it. The compiler then has the usual priority. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // The process may have ended already.
  }
}

/** The compiler reads files and nothing else, so that it needs no secret. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, SYSTEMROOT, NODE_COMPILE_CACHE } = process.env
  return { PATH, SYSTEMROOT, NODE_COMPILE_CACHE }
}
