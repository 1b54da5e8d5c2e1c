/** Decisions of a thread: their input, and their result. Pure. */

import type { CheckpointPlace, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import type { DeploymentView } from '../../graph/index.ts'
import type { Urgency } from '../log/log-writer.ts'
import type { Effect, Reply } from '../model/effect.ts'
import { apply } from '../model/thread-state.ts'
import type { RecordPosition, ThreadState } from '../model/thread-state.ts'

/** The execution under way, as decisions see it. */
export interface CurrentExecution {
  readonly kind: 'run'
  /** The run as it was when the execution began. */
  readonly run: RunRow
  /** True if it was handed to a worker. */
  readonly begun: boolean
  /** The revision that it stops for, or that its run has stopped for before. */
  readonly stopsFor?: string | undefined
  /** True if it was asked to stop for that revision. */
  readonly isStopping?: boolean
  /** True if it was asked to stop for messages. */
  readonly takesMessages?: boolean
}

/** The edit of the state under way, as decisions see it. While there is one, no run starts. */
export interface CurrentEdit {
  readonly kind: 'edit'
  /** The run that takes messages, and the messages. Empty for the edit of a client. */
  readonly owners: readonly string[]
}

/** The suspect that waits in the quarantine, or is on trial. */
export interface QuarantinePlace {
  readonly runId: string
  /** True if the suspect may start. */
  readonly isOn: boolean
}

/** All that a decision may depend on beside its command and the time. */
export interface Situation {
  /** The thread as its log says. */
  readonly state: ThreadState
  /** The row in which the records of the decision will stand. */
  readonly position: RecordPosition
  /** It ends with its run, or with any of its owners. */
  readonly work: CurrentExecution | CurrentEdit | undefined
  readonly suspect: QuarantinePlace | undefined
  /** The thread moves to another owner, which continues its runs: none starts here. */
  readonly isResting: boolean
  /** The run that cannot take messages; undefined for none. */
  readonly refusesMessages?: string | undefined
  /** The deployment whose thread it is; missing for the server's own project. */
  readonly deployment?: DeploymentView | undefined
}

/** Result of a command: the records to write, the effects to carry out, and the reply. */
export interface Decision {
  readonly records: readonly RecordOf[]
  /** Replace the places of checkpoints in the same row. */
  readonly places: readonly CheckpointPlace[]
  readonly urgency: Urgency
  readonly effects: readonly Effect[]
  readonly reply: Reply
}

/** A decision in the making: each record changes the state that the next step decides on. */
export class Draft {
  readonly nowMs: number
  /** The part of the situation that records do not change. */
  readonly at: Omit<Situation, 'state' | 'work' | 'suspect'>
  #state: ThreadState
  #work: Situation['work']
  #suspect: QuarantinePlace | undefined
  readonly #records: RecordOf[] = []
  readonly #places: CheckpointPlace[] = []
  readonly #effects: Effect[] = []
  #urgency: Urgency = 'soon'

  constructor(at: Situation, nowMs: number) {
    this.at = at
    this.nowMs = nowMs
    this.#state = at.state
    this.#work = at.work
    this.#suspect = at.suspect
  }

  /** The thread with the records so far. */
  get state(): ThreadState {
    return this.#state
  }
  /** Time for a record: not before those of earlier ones, whatever the clock says. */
  get atMs(): number {
    const { updatedAtMs, stateUpdatedAtMs } = this.#state.row
    return Math.max(this.nowMs, updatedAtMs, stateUpdatedAtMs)
  }
  /** The number of the row that the records go into. */
  get seq(): number {
    return this.at.position.seq
  }
  get execution(): CurrentExecution | undefined {
    return this.#work?.kind === 'run' ? this.#work : undefined
  }
  get suspect(): QuarantinePlace | undefined {
    return this.#suspect
  }
  /** No run may start. */
  get isHeld(): boolean {
    return this.#work?.kind === 'edit' || this.at.isResting
  }

  /** Undefined for a run that has ended or does not exist. */
  unfinished(runId: string): RunRow | undefined {
    return this.#state.runs.find((run) => run.runId === runId)
  }

  /** Adds records. With `now`, a caller waits for the decision. */
  write(records: readonly RecordOf[], urgency: Urgency = 'now'): void {
    if (records.length === 0) return
    for (const record of records) {
      const { runs } = this.#state
      this.#state = apply(this.#state, record, this.at.position)
      this.#records.push(record)
      if (this.#state.runs !== runs) this.#endOwned()
    }
    if (urgency === 'now') this.#urgency = 'now'
  }

  /** The checkpoints that these places replace are found no more. */
  replacePlaces(places: readonly CheckpointPlace[]): void {
    for (const place of places) this.#places.push(place)
  }

  effect(effect: Effect): void {
    this.#effects.push(effect)
  }

  /** Nothing more is expected of the work; `abort` ends it as well. */
  drop(kind: 'abort' | 'close'): void {
    if (this.#work) this.effect({ kind })
    this.#work = undefined
  }

  /** Work ends with the run that owns it, whatever ended the run. Rule: [owned_work]. */
  #endOwned(): void {
    const work = this.#work
    const owners = work?.kind === 'run' ? [work.run.runId] : work?.owners ?? []
    if (owners.some((runId) => !this.unfinished(runId))) this.drop('abort')
  }

  leaveQuarantine(): void {
    if (this.#suspect) this.effect({ kind: 'leaveQuarantine' })
    this.#suspect = undefined
  }

  /** The decision, with what its caller gets. */
  decided(reply: Reply = { kind: 'nothing' }): Decision {
    return { records: this.#records, places: this.#places, urgency: this.#urgency,
      effects: this.#effects, reply }
  }
}
