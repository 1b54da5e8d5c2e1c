/** Check of an answer against the interrupts that wait. Pure. */

import { createHash } from 'node:crypto'

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { isInterruptId } from '../../graph/index.ts'
import type { WaitingInterrupt } from '../../graph/index.ts'
import { isObject, listOf, objectIn, objectOf, textAt } from '../../json/index.ts'
import { RawJson } from '../../raw-json.ts'
import type { Refusal, RefusalReason } from '../model/refusal.ts'
import { hasQuestions } from '../model/rest.ts'
import { answerOf, forkIdOf, planOf } from '../model/run-request.ts'
import type { StartRun } from '../model/thread-client.ts'
import type { ThreadState } from '../model/thread-state.ts'
import { activeRuns } from '../model/waiting-message.ts'

/** Checks an answer as LangGraph.js does in strict mode. Undefined for one that fits. */
export function refusalOf(resume: unknown, waiting: readonly WaitingInterrupt[]):
  | Refusal
  | undefined {
  const pending = waiting.flatMap(({ id }) => id ?? []).sort()
  const refuse = (reason: RefusalReason, message: string, unknown: readonly string[] = []) =>
    ({ error: 'UnknownInterruptError', message, reason, interrupt_ids: unknown,
      pending_ids: pending }) as const
  if (!isMap(resume)) {
    return waiting.length > 1
      ? refuse('ambiguous', 'Several interrupts wait: name the one that the answer is for.')
      : undefined
  }
  if (Object.keys(resume).length === 0) {
    return refuse('empty_map', 'The answer names no interrupt.')
  }
  const unknown = unknownIds(resume, waiting)
  if (unknown.length === 0) return undefined
  return refuse('not_pending', `Unknown or already answered interrupt: ${unknown[0]}`, unknown)
}

/** Returns the ids in an answer that are of no interrupt that waits. Without ids, it has none. */
export function unknownIds(resume: unknown,
  waiting: readonly WaitingInterrupt[]): readonly string[] {
  return isMap(resume)
    ? Object.keys(resume).filter((named) => !waiting.some(({ id }) => id === named)).sort()
    : []
}

/** An empty object is a map of no answers. What is too long to look into is one answer. */
function isMap(resume: unknown): resume is object {
  return isObject(resume) && !(resume instanceof RawJson)
    && Object.keys(resume).every(isInterruptId)
}

/** True if no run is in progress or due. A due run may resume the interrupts that are open now. */
export function isAtRest(state: ThreadState, nowMs: number): boolean {
  return !activeRuns(state).some(({ started, notBeforeMs }) => started || notBeforeMs <= nowMs)
}

/** The run with its input as the answer, if it may be one and the thread asks. */
export function asAnswer(run: StartRun, state: ThreadState, nowMs: number): StartRun {
  const { kwargs, answersIfWaiting = false } = run
  const isAnswer = answersIfWaiting && kwargs.input != null && isAtRest(state, nowMs)
    && hasQuestions(state.row)
  if (!isAnswer) return run
  const { answersIfWaiting: _, ...rest } = run
  const command = { ...objectOf(kwargs.command), resume: kwargs.input }
  return { ...rest, kwargs: { ...kwargs, input: null, command } }
}

/**
 * The run with the interrupts that it resumes, if it starts later: another run may resume them
 * before, and a value without ids would then resume the next interrupt.
 */
export function withAnswered(run: StartRun, { row }: Pick<ThreadState, 'row'>): StartRun {
  const { afterMs, kwargs } = run
  const { resume } = objectOf(kwargs['command'])
  const forkId = forkIdOf(kwargs)
  if (afterMs === 0 || resume == null || (forkId ?? row.head?.id) !== row.head?.id) return run
  const answers = openQuestions(row).filter(({ id }) => !isMap(resume) || id in resume)
  return answers.length === 0
    ? run
    : { ...run, plan: { ...run.plan, answers: answers.map(({ print }) => print) } }
}

/** Returns the refusal of a run whose interrupts are not all open any more. */
export function lateRefusal(run: RunRow, { row }: Pick<ThreadState, 'row'>): Refusal | undefined {
  // Nearly all plans are of other runs, and need not be parsed for this.
  if (run.started || !run.planJson.includes('"answers"')) return undefined
  const open = openQuestions(row)
  const { answers = [] } = planOf(run)
  if (answers.every((print) => open.some((each) => each.print === print))) return undefined
  const resume = answerOf(run, row.head?.id)
  return { error: 'UnknownInterruptError', reason: 'not_pending',
    message: 'The interrupt that this run resumes is not open any more.',
    interrupt_ids: isMap(resume) ? Object.keys(resume).sort() : [],
    pending_ids: open.map(({ id }) => id).filter((id) => id !== '').sort() }
}

/** Open interrupts with a fingerprint: all interrupts of one task have the same id. */
function openQuestions(
  { interruptsJson }: ThreadState['row'],
): readonly { readonly id: string; readonly print: string }[] {
  return Object.values(objectIn(interruptsJson || '{}')).flatMap(listOf).map((question) => {
    const { value } = objectOf(question)
    const id = textAt(question, 'id') ?? ''
    const text = JSON.stringify([id, value])
    return { id, print: createHash('sha256').update(text).digest('base64url').slice(0, 22) }
  })
}
