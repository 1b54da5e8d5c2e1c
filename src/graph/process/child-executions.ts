/** The executions that a graph process has, as the server sees them. */

import { limitConcurrency } from '../../../cluster/index.ts'
import type { CheckpointSource, Execution, ExecutionListener, ExecutionOutcome,
  LossReason } from '../execution.ts'
import type { WrittenLines } from '../logs/run-line.ts'
import { readFrom, resultOf } from '../pool/worker-mail.ts'
import type { FromProcess, ToProcess } from './process-mail.ts'

/** The way to a graph process. */
export interface ProcessPost {
  send(mail: ToProcess): void
  /** Sends a message together with the next one, for messages whose arrival may be late. */
  sendAlong(mail: ToProcess): void
  /** Resolves when the process has taken most of what was sent. */
  drained(): Promise<void>
}

/** Events of executions, beside those that their listeners get. */
export interface ExecutionEvents {
  wrote(execution: Execution, lines: WrittenLines): void
  /** Called when an execution has ended, whatever its outcome. */
  over(execution: Execution, outcome: ExecutionOutcome | LossReason): void
}

/** An execution with the source of its checkpoints and its listener. */
export interface GivenExecution {
  readonly execution: Execution
  readonly source: CheckpointSource
  readonly listener: ExecutionListener
}

/** Reads of checkpoints at a time. The tuples are in memory until the process has taken them. */
const readsAtOnce = 32

/** Sends executions to one process, and passes on what comes back. */
export class ChildExecutions {
  readonly #post: ProcessPost
  readonly #events: ExecutionEvents
  readonly #given = new Map<number, GivenExecution>()
  /** Executions by tenant. */
  readonly #tenants = new Map<string, number>()
  #wasUsed = false
  readonly #inTurn = limitConcurrency(readsAtOnce)

  constructor(post: ProcessPost, events: ExecutionEvents) {
    this.#post = post
    this.#events = events
  }

  /** True if it was given any execution. */
  get wasUsed(): boolean {
    return this.#wasUsed
  }

  get count(): number {
    return this.#given.size
  }

  /** All of them. */
  get executions(): Execution[] {
    return [...this.#given.values()].map(({ execution }) => execution)
  }

  has(id: number): boolean {
    return this.#given.has(id)
  }

  /**
   * True if an execution of this tenant is under way. Items of other tenants may not be asked for.
   */
  serves(tenant: string): boolean {
    return this.#tenants.has(tenant)
  }

  execute(execution: Execution, source: CheckpointSource, listener: ExecutionListener): void {
    this.#wasUsed = true
    this.#given.set(execution.id, { execution, source, listener })
    const { tenant } = execution
    this.#tenants.set(tenant, (this.#tenants.get(tenant) ?? 0) + 1)
    // It has a process of its own already, if it is to have one.
    this.#post.send({ type: 'execute', execution: { ...execution, apart: false } })
  }

  abort(id: number): void {
    if (this.#remove(id)) this.#post.send({ type: 'abort', id })
  }

  stop(id: number): void {
    if (this.#given.has(id)) this.#post.send({ type: 'stop', id })
  }

  /** Handles a message about an execution. Messages about an ended execution are ignored. */
  mail(mail: FromProcess & { type: 'steps' | 'ended' | 'lost' | 'wrote' }): void {
    const given = this.#given.get(mail.id)
    if (!given) return
    switch (mail.type) {
      case 'steps':
        return void this.#steps(given, mail)
      case 'ended':
        this.#over(given, mail.outcome)
        return given.listener.ended(mail.outcome)
      case 'lost':
        this.#over(given, mail.reason)
        return given.listener.lost(mail.reason)
      case 'wrote':
        return this.#events.wrote(given.execution, mail)
    }
  }

  /** Reads checkpoints of an execution's thread, or of the one that a question is about. */
  async read({ of, reading, what }: FromProcess & { type: 'read' },
    asked: CheckpointSource | undefined): Promise<void> {
    const source = of.kind === 'asking' ? asked : this.#given.get(of.id)?.source
    await this.#inTurn(async () => {
      const result = await resultOf(readFrom(source, what))
      this.#post.send({ type: 'stored', reading, result })
      // The next one is read when this one has left.
      await new Promise<void>((resolve) => setImmediate(resolve))
      await this.#post.drained()
    })
  }

  /** Gives all of them up, because their process has ended. */
  loseAll(reason: LossReason): void {
    for (const given of [...this.#given.values()]) {
      this.#over(given, reason)
      given.listener.lost(reason)
    }
  }

  /** Removes all of them. Their listeners are not called. */
  takeAll(): GivenExecution[] {
    const all = [...this.#given.values()]
    this.clear()
    return all
  }

  /** Forgets all of them. Their listeners are not called. */
  clear(): void {
    this.#given.clear()
    this.#tenants.clear()
  }

  async #steps({ execution, listener }: GivenExecution,
    { step, batch }: FromProcess & { type: 'steps' }): Promise<void> {
    const isStored = await listener.steps(batch).then(() => true, () => false)
    const mail: ToProcess = { type: 'landed', step, isStored }
    // An execution that has ended waits for nothing. A step that was not stored must be forgotten
    // at once.
    if (isStored && !this.#given.has(execution.id)) this.#post.sendAlong(mail)
    else this.#post.send(mail)
  }

  #over(given: GivenExecution, outcome: ExecutionOutcome | LossReason): void {
    this.#remove(given.execution.id)
    this.#events.over(given.execution, outcome)
  }

  #remove(id: number): boolean {
    const given = this.#given.get(id)
    if (!given) return false
    this.#given.delete(id)
    const { tenant } = given.execution
    const left = this.#tenants.get(tenant)! - 1
    if (left > 0) this.#tenants.set(tenant, left)
    else this.#tenants.delete(tenant)
    return true
  }
}
