/** A child process with what it executes and what it was asked. */

import type { Env } from '../../../cluster/index.ts'
import type { AppPlace } from '../app-thread/app-mail.ts'
import { ChildExecutions } from './child-executions.ts'
import type { ExecutionEvents } from './child-executions.ts'
import { ChildQuestions } from './child-questions.ts'
import type { ChildServices } from './child-services.ts'
import { GraphChild } from './graph-child.ts'
import type { ChildStart } from './graph-child.ts'
import type { TakePrinted } from '../pool/printed-lines.ts'
import { handOverMs } from '../pool/trace-intake.ts'
import { UnrecordedRuns } from '../recording/unrecorded-runs.ts'
import type { DeathCause } from './loss.ts'
import type { FromProcess } from './process-mail.ts'

/** Events of a child that hosts graphs. */
export interface HostingEvents extends ExecutionEvents {
  readonly printed: TakePrinted
  /** Called when the login and the app answer at another place, or nowhere. */
  moved(place: AppPlace | null): void
  /** Called once when it has ended by itself. It still has what it executed. */
  died(child: HostingChild, cause: DeathCause, reason: string): void
}

/** One process that hosts graphs. */
export class HostingChild {
  readonly process: GraphChild
  readonly executions: ChildExecutions
  readonly questions: ChildQuestions
  readonly #env: Env
  readonly #services: ChildServices
  readonly #drained = Promise.withResolvers<void>()
  readonly #flushed = Promise.withResolvers<void>()
  /** True if it traces or records runs. */
  readonly #writes: boolean
  readonly #unrecorded: UnrecordedRuns
  readonly #moved: HostingEvents['moved']

  constructor(env: Env, start: ChildStart, services: ChildServices, events: HostingEvents) {
    this.#env = env
    this.#services = services
    this.#moved = (place) => events.moved(place)
    const { project: { recording }, tracedRatio } = start.start
    this.#writes = recording !== undefined || tracedRatio !== undefined
    this.#unrecorded = new UnrecordedRuns(env, recording?.ratio ?? 0)
    this.process = new GraphChild(env, start, {
      mail: (mail) => this.#receive(mail),
      printed: events.printed,
      died: (cause, reason) => {
        for (const execution of this.executions.executions) this.#unrecorded.ended(execution)
        this.#unrecorded.warn(reason)
        events.died(this, cause, reason)
        this.#end(`The process of the graph has ended. ${reason}`)
      },
    })
    this.executions = new ChildExecutions(this.process, {
      wrote: (execution, lines) => events.wrote(execution, lines),
      over: (execution, outcome) => {
        if (typeof outcome !== 'string') this.#unrecorded.ended(execution)
        events.over(execution, outcome)
      },
    })
    this.questions = new ChildQuestions(this.process)
  }

  /** Lets runs stop at their next superstep. Resolves when it executes nothing, or has ended. */
  drain(): Promise<void> {
    this.process.send({ type: 'drain' })
    return this.#drained.promise
  }

  /**
   * Ends it, whatever runs in it. Before that, it hands over the traces and recordings of ended
   * runs, for some seconds at most.
   */
  async close(): Promise<void> {
    this.executions.clear()
    this.#end('The graph host is closed.')
    if (this.#writes && this.process.isLoaded && this.executions.wasUsed) await this.#handOver()
    this.#unrecorded.warn('it was ended before it had written the recording')
    await this.process.close()
  }

  async #handOver(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const stop = this.#env.after(handOverMs, resolve)
    this.process.send({ type: 'flush' })
    await Promise.race([this.#flushed.promise, this.process.gone, late])
    stop()
  }

  #end(reason: string): void {
    this.questions.end(reason)
    this.#drained.resolve()
  }

  #receive(mail: FromProcess): void {
    switch (mail.type) {
      case 'steps':
      case 'ended':
      case 'lost':
      case 'wrote':
        return this.executions.mail(mail)
      case 'read': {
        const asked = mail.of.kind === 'asking'
          ? this.questions.sourceOf(mail.of.id)
          : undefined
        return void this.executions.read(mail, asked)
      }
      case 'answer':
        return this.questions.answer(mail)
      case 'items':
        return void this.#services.remember(this.process, mail, this.executions.serves(mail.tenant))
      case 'trace':
        return void this.#services.trace(this.process, mail).then(() =>
          this.#unrecorded.received(mail.body)
        )
      case 'logged':
        return this.#env.log[mail.level](mail.message, { ...mail.details, pid: this.process.pid })
      case 'moved':
        return this.#moved(mail.place)
      case 'drained':
        return this.#drained.resolve()
      case 'flushed':
        this.#unrecorded.clear()
        return this.#flushed.resolve()
    }
  }
}
