/** The effects of the tasks of one checkpoint, as the log knows them. */

import type { EffectNote, Writes } from '../../../proto/gen/storage/v1/log.ts'
import { isCallPattern } from '../call-pattern.ts'

/**
 * done     it happened
 * do       it is to be done now, once
 * fail     the task fails
 * unclear  the answer was none of these
 */
export type Decision = 'done' | 'do' | 'fail' | 'unclear'

/** Knowledge of an effect, from its notes in their order. */
export interface KnownEffect {
  /** The first intent: its key stays. `once` is missing in notes of older versions. */
  readonly intent?: { readonly key: string; readonly hash: string; readonly atMs: number;
    readonly once?: string | undefined }
  /** Number of intents. Missing for none. */
  readonly starts?: number
  /** True if it may have been done, and nobody knows. */
  readonly isOpen: boolean
  readonly receipt?: { readonly hash: string; readonly resultJson: string; readonly isCut: boolean }
  /** The last decision, its run, and the hash of the input and the key that it is about. */
  readonly decided?: { readonly decision: Decision; readonly runId: string;
    readonly hash?: string | undefined; readonly key?: string | undefined }
  /** True if all runs that did it were rolled back. */
  readonly isRemoved?: boolean
  /** True after a decision of such a run that it was done: the receipt of that is left out. */
  readonly isSaid?: boolean
}

/** An effect of a task: its rule, and its number among the effects of that rule. */
export interface EffectOfTask {
  readonly taskId: string
  readonly rule: string
  readonly ordinal: number
}

/** An effect of a task, and its state. */
export interface TaskEffect extends EffectOfTask {
  readonly known: KnownEffect
}

/** The tasks of a checkpoint, apart from their writes. */
export interface TaskRecords {
  readonly effects: EffectNotes
  /** Tasks that failed. */
  readonly thrown: readonly string[]
  /** Number of answers that a task has had to questions of its node. */
  answered(taskId: string): number
  /** The value of the last interrupt of a task. Missing if interrupts are not known. */
  asked?(taskId: string): unknown
  /** Patterns of the HTTP calls that tasks without a result have started as effects. */
  readonly openCalls?: readonly string[]
}

/** The one who does the effects of an execution, as its saver sees it. */
export interface EffectBases {
  /** The checkpoint is known: read from the log, or on its way there. */
  based(ns: string, checkpointId: string, records: TaskRecords): void
  /** The checkpoint was made here. After one of the root, the tasks before it are over. */
  put(ns: string, checkpointId: string, records: TaskRecords): void
}

const unknown: KnownEffect = { isOpen: false }

/** The effects of the tasks of one checkpoint. */
export class EffectNotes {
  /** By task, in the order of their first notes. */
  readonly #tasks = new Map<string, Map<string, TaskEffect>>()

  /** Takes the notes among what tasks wrote, oldest first. */
  static of(stored: readonly Writes[]): EffectNotes | undefined {
    let notes: EffectNotes | undefined
    for (const { taskId, effect } of stored) {
      if (effect !== undefined) (notes ??= new EffectNotes()).add(taskId, effect)
    }
    return notes
  }

  at({ taskId, rule, ordinal }: EffectOfTask): KnownEffect {
    return this.#tasks.get(taskId)?.get(keyOf(rule, ordinal))?.known ?? unknown
  }

  /** The effects of a task, in the order of their first notes. */
  of(taskId: string): readonly TaskEffect[] {
    return [...this.#tasks.get(taskId)?.values() ?? []]
  }

  /** True if the tasks have no effects. */
  get isEmpty(): boolean {
    return this.#tasks.size === 0
  }

  /** Patterns of the HTTP calls that tasks have started as effects, without these tasks. */
  callsWithout(done: ReadonlySet<string>): string[] {
    const effects = [...this.#tasks.values()].flatMap((each) => [...each.values()])
    return effects.flatMap(({ taskId, rule, known }) =>
      known.intent !== undefined && !done.has(taskId) && isCallPattern(rule) ? [rule] : []
    )
  }

  add(taskId: string, note: EffectNote): void {
    const { rule, ordinal } = note
    const effects = this.#tasks.get(taskId) ?? new Map<string, TaskEffect>()
    this.#tasks.set(taskId, effects)
    const key = keyOf(rule, ordinal)
    const before = effects.get(key)?.known ?? unknown
    const known = note.removed ? afterRemoved(before, note) : after(before, note)
    effects.set(key, { taskId, rule, ordinal, known })
  }
}

/**
 * The knowledge after a note. Of an effect with an intent, the first receipt stays. Rule:
 * [first_receipt].
 */
export function after(known: KnownEffect, { note, atMs }: EffectNote): KnownEffect {
  switch (note?.$case) {
    case 'intended': {
      const { key, hash, once } = note.value
      return { ...known, intent: known.intent ?? { key, hash, atMs, once }, isOpen: true,
        isRemoved: false, starts: (known.starts ?? 0) + 1 }
    }
    case 'settled': {
      const receipt = known.intent !== undefined && known.receipt || note.value
      return { ...known, receipt, isOpen: false }
    }
    case 'decided': {
      const { decision, runId, hash, key } = note.value
      // An effect that was done is open until its receipt is there. The last decision counts.
      const isOpen = known.receipt === undefined && (decision === 'unclear' || decision === 'done')
      return { ...known, isOpen, decided: { decision: decision as Decision, runId, hash, key } }
    }
    case undefined:
      return known
  }
}

/**
 * The knowledge after a note of a run that was rolled back. Intents and receipts of an effect with
 * `once` stay, because it happened outside. Removed are kept results of other effects, decisions of
 * persons, and the receipt that follows from a decision.
 */
function afterRemoved(known: KnownEffect, removed: EffectNote): KnownEffect {
  const { note } = removed
  switch (note?.$case) {
    case 'intended': {
      const isRemoved = known.intent === undefined || known.isRemoved === true
      return { ...after(known, removed), isRemoved, isSaid: false }
    }
    case 'settled':
      return known.intent === undefined || known.isSaid === true
        ? { ...known, isSaid: false }
        : after(known, removed)
    case 'decided':
      return { ...known, isSaid: note.value.decision === 'done' }
    case undefined:
      return known
  }
}

function keyOf(rule: string, ordinal: number): string {
  return `${ordinal}\n${rule}`
}
