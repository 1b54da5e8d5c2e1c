/** Processes for one execution at a time: for those that an earlier process died with. */

import type { Env } from '../../../cluster/index.ts'
import type { CheckpointSource, Execution, ExecutionListener, PauseReason } from '../execution.ts'
import { aborted, drained } from '../pool/execution-scheduler.ts'
import type { GivenExecution } from './child-executions.ts'
import { StartPauses } from '../pool/turns/start-pauses.ts'
import type { HostingChild } from './hosting-child.ts'

/** Pauses after a process that could not load the project. */
const pauses = { firstMs: 100, longestMs: 10_000 }
/** Processes at a time. Each takes the memory of a whole deployment. */
const processesMax = 2

/** Starts processes for suspects, one execution each at a time. Belongs to a graph process. */
export class ApartProcesses {
  readonly #env: Pick<Env, 'after' | 'random' | 'log'>
  readonly #start: () => HostingChild
  readonly #pauses: StartPauses
  readonly #children = new Set<HostingChild>()
  readonly #ending = new Set<Promise<void>>()
  /** Children whose execution was stopped. They get no other, because its code may continue. */
  readonly #stopped = new WeakSet<HostingChild>()
  readonly #waiting = new Map<number, GivenExecution>()
  #isDraining = false
  #stopPause = () => {}

  constructor(env: Pick<Env, 'after' | 'random' | 'log'>, start: () => HostingChild) {
    this.#env = env
    this.#start = start
    this.#pauses = new StartPauses({ range: pauses, random: () => env.random(),
      after: (ms, fn) => (this.#stopPause = env.after(ms, fn)), resumed: () => this.#pump() })
  }

  get children(): Iterable<HostingChild> {
    return this.#children
  }

  get waiting(): number {
    return this.#waiting.size
  }

  execute(execution: Execution, source: CheckpointSource, listener: ExecutionListener): void {
    this.#waiting.set(execution.id, { execution, source, listener })
    this.#pump()
  }

  /** False if it does not have this execution. */
  pause(id: number, why?: PauseReason): boolean {
    const waiting = this.#waiting.get(id)
    if (waiting && why === 'messages') {
      waiting.execution.takesMessages = true
      return true
    }
    if (waiting) {
      this.#waiting.delete(id)
      waiting.listener.ended(drained)
      return true
    }
    const child = this.#childOf(id)
    child?.process.send({ type: 'pause', id, why })
    return child !== undefined
  }

  /** False if it does not have this execution. */
  abort(id: number): boolean {
    if (this.#waiting.delete(id)) return true
    const child = this.#childOf(id)
    // Its code may go on for ever.
    if (child) this.#end(child)
    return child !== undefined
  }

  /** Stops an execution, which reports its completed steps. False for an unknown execution. */
  stop(id: number): boolean {
    const waiting = this.#waiting.get(id)
    if (waiting) {
      this.#waiting.delete(id)
      waiting.listener.ended(aborted)
      return true
    }
    const child = this.#childOf(id)
    child?.executions.stop(id)
    if (child) this.#stopped.add(child)
    return child !== undefined
  }

  /** Call when an execution of one of its processes is over. */
  over(): void {
    queueMicrotask(() => this.#pump())
  }

  /** Handles the end of a process that it did not end. */
  died(child: HostingChild): void {
    this.#children.delete(child)
    if (!child.process.isLoaded) this.#unbegun(child)
    this.over()
  }

  /** Lets executions wait for another process, because theirs ended before it could start them. */
  #unbegun(child: HostingChild): void {
    this.#pauses.failed()
    for (const given of child.executions.takeAll()) {
      if (this.#isDraining) given.listener.ended(drained)
      else this.#waiting.set(given.execution.id, given)
    }
  }

  /** Lets executions stop at their next superstep. Resolves when none is left. */
  async drain(): Promise<void> {
    this.#isDraining = true
    for (const id of [...this.#waiting.keys()]) this.pause(id)
    await Promise.all([...this.#children].map((child) => child.drain()))
  }

  async close(): Promise<void> {
    this.#stopPause()
    this.#waiting.clear()
    await Promise.all([...[...this.#children].map((child) => child.close()), ...this.#ending])
    this.#children.clear()
  }

  #childOf(id: number): HostingChild | undefined {
    return [...this.#children].find(({ executions }) => executions.has(id))
  }

  /** Gives what waits to processes that are idle, and ends those that nothing waits for. */
  #pump(): void {
    const unused = [...this.#children].filter(({ executions }) => executions.count === 0)
    for (const child of unused) if (this.#stopped.has(child)) this.#end(child)
    const idle = unused.filter((child) => this.#children.has(child))
    for (const { execution, source, listener } of [...this.#waiting.values()]) {
      const child = idle.pop() ?? this.#another()
      if (!child) return
      this.#waiting.delete(execution.id)
      child.executions.execute(execution, source, listener)
    }
    if (!this.#isDraining) { for (const child of idle) this.#end(child) }
  }

  #another(): HostingChild | undefined {
    if (this.#children.size + this.#ending.size >= processesMax || this.#pauses.isPaused)
      return undefined
    try {
      const child = this.#start()
      this.#children.add(child)
      child.process.loaded.then(() => this.#pauses.succeeded(), () => {})
      return child
    } catch (error) {
      this.#env.log.warn('A process for a run of its own cannot be started now.', { error })
      this.#pauses.failed()
      return undefined
    }
  }

  /** Ends a process, which counts until it has handed over its traces and ended. */
  #end(child: HostingChild): void {
    this.#children.delete(child)
    const ended = child.close().finally(() => {
      this.#ending.delete(ended)
      this.over()
    })
    this.#ending.add(ended)
  }
}
