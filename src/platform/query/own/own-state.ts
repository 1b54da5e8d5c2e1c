/** Reads the states that a run of this server went through. */

import type { SpanHead } from '../../spans/span.ts'
import type { Calls } from '../../calls/calls.ts'
import type { OwnRunTexts, QueryNeeds } from './own-run-calls.ts'

/** A task of a state, as the API has it. */
export interface OwnTask {
  readonly id: string
  readonly name: string
  readonly result?: unknown
  readonly error?: unknown
  readonly interrupts?: readonly unknown[]
}

/** A state of a thread, as the API has it. */
export interface OwnState {
  readonly values: unknown
  readonly tasks: readonly OwnTask[]
  readonly metadata: { readonly run_id?: string; readonly source?: string; readonly step?: number }
  readonly created_at: string
  readonly checkpoint_id: string
  readonly parent_checkpoint_id: string | null
}

/** States of a run, and characters of them, that are shown: those that come first in it are cut. */
const [statesMax, charactersMax] = [1_000, 8 * 1024 * 1024]
/** States that are asked for at once, if they are no longer than those before. */
const statesAtOnce = 64

/**
 * The states of a run, newest first. Behind them is the one that it began with, if an earlier run
 * left tasks in it.
 */
export async function statesOfRun(needs: Calls<QueryNeeds>,
  { tenant, thread, id }: Pick<SpanHead, 'tenant' | 'thread' | 'id'>,
  { finalCheckpoint }: Pick<OwnRunTexts, 'finalCheckpoint'>,
  signal?: AbortSignal): Promise<readonly OwnState[]> {
  if (thread === null || finalCheckpoint === '') return []
  const options = signal && { signal }
  const at = (checkpoint: string) => ({ tenant, thread, checkpoint })
  const newest = await needs.ownState(at(finalCheckpoint), options)
  const states: OwnState[] = []
  let [characters, longest] = [0, 1]
  let texts = newest === null ? [] : [newest]
  while (texts.length > 0) {
    for (const text of texts) {
      characters += text.length
      longest = Math.max(longest, text.length)
      if (characters > charactersMax) return states
      const state = JSON.parse(text) as OwnState
      if (state.metadata.run_id !== id) return await withFirst(states)
      states.push(state)
    }
    if (states.length >= statesMax) return states
    const fitting = Math.floor((charactersMax - characters) / longest)
    const limit = Math.min(statesAtOnce, Math.max(1, fitting))
    texts = [
      ...await needs.ownStatesBefore({ ...at(states.at(-1)!.checkpoint_id), limit }, options),
    ]
  }
  return await withFirst(states)

  async function withFirst(own: readonly OwnState[]): Promise<readonly OwnState[]> {
    const { metadata, parent_checkpoint_id: parent } = own.at(-1) ??
      { metadata: {}, parent_checkpoint_id: null }
    if (metadata.source !== 'loop' || parent === null) return own
    const first = await needs.ownState(at(parent), options)
    return first === null ? own : [...own, JSON.parse(first) as OwnState]
  }
}
