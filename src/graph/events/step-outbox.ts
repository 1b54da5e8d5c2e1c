/** Collects the steps and events of an execution, and sends them as batches, in order. */

import { recordBytes } from '../../checkpoint/index.ts'
import type { ExecutionOutcome, Step, StepEvent } from '../execution.ts'
import type { StepSink } from '../state/step-sink.ts'
import { Acknowledgements } from './acknowledgements.ts'
import { inFlightMax, lengthOf, partsOf } from './worker-batch.ts'
import type { WorkerBatch } from './worker-batch.ts'

/**
 * Bytes above which a batch has a single step: it is one row of the log, which is read as a whole.
 */
const batchBytesMax = 1024 * 1024

/** An event that is decided when it is sent; undefined for none. */
export type LateEvent = () => StepEvent | undefined

/** Ports of an outbox: the way out of the worker, and the end of the current turn. */
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

/** Steps and events that were added since the last batch. */
interface Turn {
  readonly steps: Step[]
  /** Of the steps. */
  bytes: number
  readonly events: (StepEvent | LateEvent)[]
  readonly held: Held[]
}

const emptyTurn = (): Turn => ({ steps: [], bytes: 0, events: [], held: [] })

/**
 * Sends what is added while the engine runs without yielding as one batch. A batch waits until its
 * steps are complete, and later ones wait behind it. Events in flight are limited. The rest waits
 * here, in the worker of the graph that emitted them.
 */
export class StepOutbox implements StepSink {
  readonly #ports: StepOutboxPorts
  #next = emptyTurn()
  #scheduled = false
  #closed = false
  /** True once `finish` was called. Later steps and events are ignored. */
  #isFinishing = false
  #finished: Promise<void> | undefined
  /** True once `hurry` was called. */
  #hurried = false
  /** Set while batches wait. Resolves when the last one is sent. */
  #waiting: Promise<void> | undefined
  /** Characters of events that were sent since a batch last landed. */
  #inFlight = 0
  #landing: PromiseWithResolvers<void> | undefined
  readonly #acks = new Acknowledgements()
  /** Why nothing more can be sent: a step could not be completed. */
  #failure: Failure | undefined
  /** Why no more events can be sent: one has no data. Steps continue. */
  #silenced: Failure | undefined

  constructor(ports: StepOutboxPorts) {
    this.#ports = ports
  }

  step(step: Step): void {
    if (this.#isFinishing) return
    const bytes = recordBytes(step)
    const isFull = this.#next.bytes + bytes > batchBytesMax
    // A held part belongs to this step and stays in its batch.
    if (isFull && this.#next.held.length === 0) this.#flush(null)
    this.#next.bytes += bytes
    this.#next.steps.push(step)
    this.#schedule()
  }

  event(event: StepEvent | LateEvent): void {
    if (this.#isFinishing) return
    this.#next.events.push(event)
    this.#schedule()
  }

  hold(done: Promise<void>): void {
    // Awaited when the batch is sent. A rejection before must not count as unhandled.
    done.catch(() => {})
    const { steps, events, held } = this.#next
    held.push({ done, steps: steps.length, events: events.length })
  }

  acknowledged(): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('the execution is over'))
    if (this.#failure) return Promise.reject(this.#failure.reason)
    const done = this.#acks.wait(this.#next.steps.length > 0)
    if (this.#acks.isWanted) this.#schedule()
    return done
  }

  /** True once `finish` was called. */
  get isFinishing(): boolean {
    return this.#isFinishing
  }

  /** The batch with this ack id and all before it are in the log. */
  confirm(ackId: number): void {
    this.#acks.confirm(ackId)
  }

  /** The batch sent as `awaited` has landed, and so have all before it. */
  landed(): void {
    this.#landing?.resolve()
  }

  /**
   * Sends the rest together with the outcome; a second call changes nothing. Rejects if a step
   * could not be completed, or an event of a run that did not fail anyway. Then everything before
   * it was sent, but no outcome.
   */
  finish(outcome: ExecutionOutcome): Promise<void> {
    return this.#finished ??= this.#finish(outcome)
  }

  async #finish(outcome: ExecutionOutcome): Promise<void> {
    this.#isFinishing = true
    this.#flush(outcome)
    await this.#waiting
    if (this.#silenced && outcome.status !== 'error') throw this.#silenced.reason
  }

  /**
   * Sends all waiting batches at once, because the run was stopped and readers may be slow. Drops
   * events that the log does not store.
   */
  hurry(): void {
    this.#hurried = true
    this.#landing?.resolve()
  }

  /** Sends nothing more, and rejects everything that waits to be confirmed. */
  close(): void {
    this.#closed = true
    this.#landing?.resolve()
    this.#acks.refuse(new Error('the execution is over'))
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
    const { steps, held, events: given } = this.#next
    const events = this.#shown(given)
    if (steps.length === 0 && events.length === 0 && !this.#acks.isWanted && !outcome) return
    this.#next = emptyTurn()
    const ackId = this.#acks.numberOf({ steps })
    const fails = this.#silenced !== undefined && outcome?.status !== 'error'
    this.#depart({ steps, events, ackId, outcome: fails ? null : outcome }, held)
  }

  /** Up to the first that has no data. */
  #shown(given: Turn['events']): StepEvent[] {
    const events: StepEvent[] = []
    for (const event of this.#silenced ? [] : given) {
      try {
        const shown = typeof event === 'function' ? event() : event
        if (shown) events.push(shown)
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
    // The engine must get the error, as it may be waiting for the log.
    waiting.catch((reason: unknown) => this.#fail(reason))
    this.#waiting = waiting
  }

  /** Sends a part. If that exceeds what may be in flight, waits until it lands. */
  async #land(batch: WorkerBatch): Promise<void> {
    const length = lengthOf(batch)
    const isLast = batch.outcome !== null
    if (isLast || this.#hurried || this.#inFlight + length <= inFlightMax)
      return this.#send(batch, length)
    if (this.#closed) return
    this.#landing = Promise.withResolvers()
    this.#ports.send({ ...batch, awaited: true })
    await this.#landing.promise
    this.#inFlight = 0
  }

  #send(batch: WorkerBatch, length: number): void {
    if (this.#closed) return
    this.#inFlight += length
    this.#ports.send(this.#hurried ? durableOf(batch) : batch)
  }

  #fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#acks.refuse(reason)
  }
}

/** The batch without events that the log does not store. */
function durableOf({ texts: _, ...batch }: WorkerBatch): WorkerBatch {
  return { ...batch, events: batch.events.filter(({ durable }) => durable) }
}

/** The batch once its steps are complete. If a step cannot be completed, what comes before it. */
async function completed(batch: WorkerBatch,
  held: readonly Held[]): Promise<{ batch: WorkerBatch; failure?: Failure }> {
  const results = await Promise.allSettled(held.map(({ done }) => done))
  const broken = results.findIndex(({ status }) => status === 'rejected')
  const result = results[broken]
  if (result?.status !== 'rejected') return { batch }
  const { steps, events } = held[broken]!
  const { reason } = result
  const before = { steps: batch.steps.slice(0, steps), events: batch.events.slice(0, events) }
  return { batch: { ...before, ackId: 0, outcome: null }, failure: { reason } }
}
