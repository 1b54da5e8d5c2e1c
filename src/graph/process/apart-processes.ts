/** Processes for one execution at a time: for those that an earlier process died with. */

import type { CheckpointSource, Execution, ExecutionListener, PauseReason } from '../execution.ts'
import { aborted, drained } from '../pool/execution-scheduler.ts'
import type { HostingChild } from './hosting-child.ts'

/** Processes at a time. Each takes the memory of a whole deployment. */
const processesMax = 2

interface Waiting {
  readonly execution: Execution
  readonly source: CheckpointSource
  readonly listener: ExecutionListener
}

/** Starts processes for suspects, one execution each at a time. Belongs to a graph process. */
export class ApartProcesses {
  readonly #start: () => HostingChild
  readonly #children = new Set<HostingChild>()
  /** Children whose execution was stopped. They get no other, because its code may continue. */
  readonly #stopped = new WeakSet<HostingChild>()
  readonly #waiting = new Map<number, Waiting>()
  #isDraining = false

  constructor(start: () => HostingChild) {
    this.#start = start
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

  /** A process has ended by itself. */
  died(child: HostingChild): void {
    this.#children.delete(child)
    this.over()
  }

  /** Lets executions stop at their next superstep. Resolves when none is left. */
  async drain(): Promise<void> {
    this.#isDraining = true
    for (const id of [...this.#waiting.keys()]) this.pause(id)
    await Promise.all([...this.#children].map((child) => child.drain()))
  }

  async close(): Promise<void> {
    this.#waiting.clear()
    await Promise.all([...this.#children].map((child) => child.close()))
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
    if (this.#children.size >= processesMax) return undefined
    const child = this.#start()
    this.#children.add(child)
    return child
  }

  #end(child: HostingChild): void {
    this.#children.delete(child)
    void child.close()
    this.over()
  }
}
