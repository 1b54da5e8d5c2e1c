/** The effects of a run and how each of them stands, as the records of its log say. Pure. */

import type { Writes } from '../../../proto/gen/storage/v1/log.ts'
import type { RecordOf } from '../../checkpoint/index.ts'

/** An effect of a task. Times are missing for what another run of the task has written. */
export interface EffectStatus {
  /** The rule of langgraph.json: a name, or a pattern of HTTP calls. */
  readonly rule: string
  readonly ordinal: number
  readonly ns: string
  /** The checkpoint that its task was made from. */
  readonly checkpointId: string
  readonly taskId: string
  /** Missing for an answer that is only kept. */
  readonly key?: string
  readonly begunMs?: number
  readonly settledMs?: number
  readonly decision?: string
  readonly decidedMs?: number
}

/** The effects of a run in their order; `isCut` if there may be more. */
export interface RunEffects {
  readonly effects: readonly EffectStatus[]
  readonly isCut: boolean
}

/** Effects of a run that are named. */
export const effectsMax = 1_000

/** Takes the records of a log in order. */
export class EffectFold {
  readonly #runId: string
  readonly #effects = new Map<string, EffectStatus>()
  /** Runs of a thread write one after another: notes are those of the run that was named last. */
  #isOwn: boolean
  #isCut: boolean

  /** `isBegun`: the run began before the first record that is taken. */
  constructor(runId: string, isBegun: boolean) {
    this.#runId = runId
    this.#isOwn = isBegun
    this.#isCut = isBegun
  }

  get answer(): RunEffects {
    return { effects: [...this.#effects.values()], isCut: this.#isCut }
  }

  take(records: readonly RecordOf[]): void {
    for (const { $case, value } of records) {
      if ($case === 'runStarted') this.#isOwn = value.runId === this.#runId
      if ($case === 'writes' && this.#isOwn && value.effect !== undefined) this.#note(value)
    }
  }

  #note({ ns, checkpointId, taskId, effect }: Writes): void {
    const { rule, ordinal, atMs, note } = effect!
    const place = JSON.stringify([taskId, rule, ordinal])
    const known = this.#effects.get(place)
    if (known === undefined && this.#effects.size >= effectsMax) {
      this.#isCut = true
      return
    }
    const status = known ?? { rule, ordinal, ns, checkpointId, taskId }
    this.#effects.set(place, { ...status, ...noted(status, note, atMs) })
  }
}

function noted({ key, begunMs, settledMs }: EffectStatus,
  note: NonNullable<Writes['effect']>['note'], atMs: number): Partial<EffectStatus> {
  switch (note?.$case) {
    case 'intended':
      return { key: key ?? note.value.key, begunMs: begunMs ?? atMs }
    case 'settled':
      return { settledMs: settledMs ?? atMs }
    case 'decided':
      return { decision: note.value.decision, decidedMs: atMs }
    case undefined:
      return {}
  }
}
