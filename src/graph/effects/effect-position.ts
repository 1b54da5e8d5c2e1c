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

/**
 * Id of the question about an effect. It depends on the input, so that a decision applies only to
 * the effect that the person saw. Without an ordinal, the effect has no place yet.
 */
export function questionId({ tenant, threadId }: EffectThread,
  { ns, taskId, rule, ordinal }: Omit<EffectPosition, 'ordinal' | 'checkpointId'> & {
    readonly ordinal?: number
  }, hash: string): string {
  return digest(JSON.stringify([tenant, threadId, ns, taskId, rule, ordinal ?? null, hash]))
}

/** Hash of an input, whatever the order of its keys. Throws for what JSON cannot say. */
export function inputHash(input: unknown): string {
  return digest(JSON.stringify(input, sortedMembers) ?? 'null')
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
