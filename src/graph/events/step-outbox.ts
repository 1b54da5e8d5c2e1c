/** Collects the steps and events of an execution, and sends them as batches, in order. */

import { recordBytes } from '../../checkpoint/index.ts'
import type { ExecutionOutcome, Step, StepEvent } from '../execution.ts'
import type { StepSink } from '../state/step-sink.ts'
import { inFlightMax, lengthOf, partsOf } from './worker-batch.ts'
import type { WorkerBatch } from './worker-batch.ts'

/** A batch with more is one row of the log, which is read as a whole: it has a single step. */
const batchBytesMax = 1024 * 1024

/** An event whose data is decided when it is sent. */
export type LateEvent = () => StepEvent

export interface StepOutboxPorts {
  readonly send: (batch: WorkerBatch) => void
  /** Calls `flush` later, when the code that runs now has yielded. */
  readonly schedule: (flush: () => void) => void
}

interface Failure {
  readonly reason: unknown
}

/** A part of the next step that is not complete yet, and what came before that step. */
interface Held {
  readonly done: Promise<void>
  readonly steps: number
  readonly events: number
}

/**
 * What is added while the engine runs without yielding is sent as one batch. A batch waits until
 * its steps are complete, and later ones wait behind it. Events in flight are limited: the rest
 * waits here, in the worker of the graph that emitted them.
 */
export class StepOutbox implements StepSink {
  readonly #ports: StepOutboxPorts
  #steps: Step[] = []
  /** Of the steps. */
  #bytes = 0
  #events: (StepEvent | LateEvent)[] = []
  #held: Held[] = []
  #scheduled = false
  #closed = false
  /** Set while batches wait: resolves when the last one is sent. */
  #waiting: Promise<void> | undefined
  /** Characters of events that were sent since a batch last landed. */
  #inFlight = 0
  #landing: PromiseWithResolvers<void> | undefined
  #ackIds = 0
  #wanted: PromiseWithResolvers<void> | undefined
  readonly #unconfirmed = new Map<number, PromiseWithResolvers<void>>()
  /** Why nothing more can be sent: a step could not be completed. */
  #failure: Failure | undefined
  /** Why no more events can be sent: one has no data. The steps continue. */
  #silenced: Failure | undefined
  /** Steps were sent without an ack id: that of a later batch will cover them. */
  #unacked = false

  constructor(ports: StepOutboxPorts) {
    this.#ports = ports
  }

  step(step: Step): void {
    const bytes = recordBytes(step)
    // What is not complete belongs to this step: it stays with it.
    if (this.#bytes + bytes > batchBytesMax && this.#held.length === 0) this.#flush(null)
    this.#bytes += bytes
    this.#steps.push(step)
    this.#schedule()
  }

  event(event: StepEvent | LateEvent): void {
    this.#events.push(event)
    this.#schedule()
  }

  hold(done: Promise<void>): void {
    // Awaited when the batch is sent; a rejection before must not count as unhandled.
    done.catch(() => {})
    this.#held.push({ done, steps: this.#steps.length, events: this.#events.length })
  }

  acknowledged(): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('the execution is over'))
    if (this.#failure) return Promise.reject(this.#failure.reason as Error)
    if (this.#wanted) return this.#wanted.promise
    if (this.#steps.length === 0 && !this.#unacked) {
      const last = [...this.#unconfirmed.values()].at(-1)
      return last?.promise ?? Promise.resolve()
    }
    this.#wanted = Promise.withResolvers()
    this.#schedule()
    return this.#wanted.promise
  }

  /** The batch with this ack id and all before it are in the log. */
  confirm(ackId: number): void {
    for (const [number, { resolve }] of this.#unconfirmed) {
      if (number > ackId) return
      this.#unconfirmed.delete(number)
      resolve()
    }
  }

  /** The batch sent as `awaited` has landed, and so have all before it. */
  landed(): void {
    this.#landing?.resolve()
  }

  /**
   * Sends what is left together with the outcome. Rejects if a step could not be completed, or an
   * event of a run that did not fail anyway: then all before it was sent, and no outcome.
   */
  async finish(outcome: ExecutionOutcome): Promise<void> {
    this.#flush(outcome)
    await this.#waiting
    if (this.#silenced && outcome.status !== 'error') throw this.#silenced.reason
  }

  /** Sends nothing more, and rejects everything that waits to be confirmed. */
  close(): void {
    this.#closed = true
    this.#landing?.resolve()
    this.#refuseAll(new Error('the execution is over'))
  }

  #refuseAll(reason: unknown): void {
    for (const waiting of [this.#wanted, ...this.#unconfirmed.values()]) {
      waiting?.promise.catch(() => {})
      waiting?.reject(reason)
    }
    this.#wanted = undefined
    this.#unconfirmed.clear()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#ports.schedule(() => {
      this.#scheduled = false
      this.#flush(null)
    })
  }

  #flush(outcome: ExecutionOutcome | null): void {
    if (this.#closed) return
    const [steps, held, wanted] = [this.#steps, this.#held, this.#wanted]
    const events = this.#shownEvents()
    if (steps.length === 0 && events.length === 0 && !wanted && !outcome) return
    this.#steps = []
    this.#bytes = 0
    this.#events = []
    this.#held = []
    this.#wanted = undefined
    const ackId = wanted ? ++this.#ackIds : 0
    if (wanted) this.#unconfirmed.set(ackId, wanted)
    this.#unacked = !wanted && (steps.length > 0 || this.#unacked)
    const fails = this.#silenced !== undefined && outcome?.status !== 'error'
    this.#depart({ steps, events, ackId, outcome: fails ? null : outcome }, held)
  }

  /** Up to the first that has no data. */
  #shownEvents(): StepEvent[] {
    const events: StepEvent[] = []
    for (const event of this.#silenced ? [] : this.#events) {
      try {
        events.push(typeof event === 'function' ? event() : event)
      } catch (reason) {
        this.#silenced = { reason }
        break
      }
    }
    return events
  }

  #depart(batch: WorkerBatch, held: readonly Held[]): void {
    const length = lengthOf(batch)
    const isLight = this.#inFlight + length <= inFlightMax
    if (isLight && !this.#waiting && held.length === 0) return this.#send(batch, length)
    const before = this.#waiting
    const waiting: Promise<void> = completed(batch, held).then(async (complete) => {
      await before
      for (const part of partsOf(complete.batch)) await this.#land(part)
      if (complete.failure) throw complete.failure.reason
      if (this.#waiting === waiting) this.#waiting = undefined
    })
    // The engine must get the error: it may be waiting for the log.
    waiting.catch((reason: unknown) => this.#fail(reason))
    this.#waiting = waiting
  }

  /** Sends a part; if that exceeds what may be in flight, waits until it lands. */
  async #land(batch: WorkerBatch): Promise<void> {
    const length = lengthOf(batch)
    const isLast = batch.outcome !== null
    if (isLast || this.#inFlight + length <= inFlightMax) return this.#send(batch, length)
    if (this.#closed) return
    this.#landing = Promise.withResolvers()
    this.#ports.send({ ...batch, awaited: true })
    await this.#landing.promise
    this.#inFlight = 0
  }

  #send(batch: WorkerBatch, length: number): void {
    if (this.#closed) return
    this.#inFlight += length
    this.#ports.send(batch)
  }

  #fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#refuseAll(reason)
  }
}

/** The batch once its steps are complete; if one cannot be, what comes before it. */
async function completed(batch: WorkerBatch,
  held: readonly Held[]): Promise<{ batch: WorkerBatch; failure?: Failure }> {
  const results = await Promise.allSettled(held.map(({ done }) => done))
  const broken = results.findIndex(({ status }) => status === 'rejected')
  if (broken < 0) return { batch }
  const { steps, events } = held[broken]!
  const { reason } = results[broken] as PromiseRejectedResult
  const before = { steps: batch.steps.slice(0, steps), events: batch.events.slice(0, events) }
  return { batch: { ...before, ackId: 0, outcome: null }, failure: { reason } }
}
