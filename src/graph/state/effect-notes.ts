/** The effects of the tasks of one checkpoint, as the log knows them. */

import type { EffectNote, Writes } from '../../../proto/gen/storage/v1/log.ts'

/**
 * done     it happened
 * do       it is to be done now, once
 * fail     the task fails
 * unclear  the answer was none of these
 */
export type Decision = 'done' | 'do' | 'fail' | 'unclear'

/** Knowledge of an effect, from its notes in their order. */
export interface KnownEffect {
  /** The first intent: its key stays. */
  readonly intent?: { readonly key: string; readonly hash: string; readonly atMs: number }
  /** True if it may have been done, and nobody knows. */
  readonly isOpen: boolean
  readonly receipt?: { readonly hash: string; readonly resultJson: string; readonly isCut: boolean }
  /** The last decision, and the run that brought it. */
  readonly decided?: { readonly decision: Decision; readonly runId: string }
}

/** An effect of a task: its rule, and its number among the effects of that rule. */
export interface EffectOfTask {
  readonly taskId: string
  readonly rule: string
  readonly ordinal: number
}

/** The tasks of a checkpoint, apart from their writes. */
export interface TaskRecords {
  readonly effects: EffectNotes
  /** Tasks that failed. */
  readonly thrown: readonly string[]
  /** Number of answers that a task has had to questions of its node. */
  answered(taskId: string): number
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
  readonly #known = new Map<string, KnownEffect>()

  /** Takes the notes among what tasks wrote, oldest first. */
  static of(stored: readonly Writes[]): EffectNotes | undefined {
    let notes: EffectNotes | undefined
    for (const { taskId, effect } of stored) {
      if (effect !== undefined) (notes ??= new EffectNotes()).add(taskId, effect)
    }
    return notes
  }

  at({ taskId, rule, ordinal }: EffectOfTask): KnownEffect {
    return this.#known.get(keyOf(taskId, rule, ordinal)) ?? unknown
  }

  add(taskId: string, note: EffectNote): void {
    const key = keyOf(taskId, note.rule, note.ordinal)
    this.#known.set(key, after(this.#known.get(key) ?? unknown, note))
  }
}

/**
 * The knowledge after a note. Of an effect with an intent, the first receipt stays. Rule:
 * [first_receipt].
 */
export function after(known: KnownEffect, { note, atMs }: EffectNote): KnownEffect {
  switch (note?.$case) {
    case 'intended': {
      const { key, hash } = note.value
      return { ...known, intent: known.intent ?? { key, hash, atMs }, isOpen: true }
    }
    case 'settled': {
      const receipt = known.intent !== undefined && known.receipt || note.value
      return { ...known, receipt, isOpen: false }
    }
    case 'decided': {
      const { decision, runId } = note.value
      // One that was done is open until its receipt is there.
      const isOpen = known.isOpen && (decision === 'unclear' || decision === 'done')
      return { ...known, isOpen, decided: { decision: decision as Decision, runId } }
    }
    case undefined:
      return known
  }
}

function keyOf(taskId: string, rule: string, ordinal: number): string {
  return `${taskId}\n${ordinal}\n${rule}`
}
