/** The position of an effect, its key, and the hash of its input. Pure. */

import { createHash } from 'node:crypto'

import { sortedMembers } from '../../json/index.ts'
import type { EffectOfTask } from '../state/effect-notes.ts'

/** Place of an effect in a thread. */
export interface EffectPosition extends EffectOfTask {
  /** The checkpoint that the task was made from. */
  readonly ns: string
  readonly checkpointId: string
}

/** The thread whose task it is. */
export interface EffectThread {
  readonly tenant: string
  readonly threadId: string
}

/**
 * Key of an effect: the same after a crash and on another member, another one for each position and
 * each thread. It is no secret, as it grants nothing. Ids of tasks come from random checkpoint ids,
 * so that a fork has other ones. Rule: [fork_key].
 */
export function effectKey({ tenant, threadId }: EffectThread,
  { ns, taskId, rule, ordinal }: EffectPosition): string {
  return `hdl_${digest(JSON.stringify([tenant, threadId, ns, taskId, rule, ordinal]))}`
}

/** An effect that a person decides about. Without an ordinal it has no place yet. */
export interface AskedAbout {
  readonly rule: string
  readonly ordinal?: number
  readonly hash: string
  /** Number of its intents so far. */
  readonly starts?: number | undefined
}

/**
 * Id of the question about an effect, also in a copy of the thread. It depends on the input and on
 * the number of intents: a decision applies to the effect that the person saw, and not to a start
 * after that.
 */
export function questionId({ ns, taskId }: Pick<EffectPosition, 'ns' | 'taskId'>,
  { rule, ordinal, hash, starts = 0 }: AskedAbout): string {
  return digest(JSON.stringify([ns, taskId, rule, ordinal ?? null, hash, starts]))
}

/** Hash of an input, whatever the order of its keys. Throws for what JSON cannot say. */
export function inputHash(input: unknown): string {
  return digest(JSON.stringify(input, sortedMembers) ?? 'null')
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
