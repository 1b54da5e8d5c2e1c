/** Check of an answer against the interrupts that wait. Pure. */

import { createHash } from 'node:crypto'

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { WaitingInterrupt } from '../../graph/index.ts'
import { objectOf, textAt } from '../../json/index.ts'
import type { Refusal, RefusalReason } from '../model/refusal.ts'
import { hasQuestions, questionsIn } from '../model/rest.ts'
import { answerOf, forkIdOf, idsIn, planOf } from '../model/run-request.ts'
import type { StartRun } from '../model/thread-client.ts'
import type { ThreadState } from '../model/thread-state.ts'
import { activeRuns } from '../model/waiting-message.ts'

/** Checks an answer as LangGraph.js does in strict mode. Undefined for one that fits. */
export function refusalOf(resume: unknown, waiting: readonly WaitingInterrupt[]):
  | Refusal
  | undefined {
  const named = idsIn(resume)
  if (named === undefined) {
    return waiting.length > 1
      ? refuse('ambiguous', 'Several interrupts wait: name the one that the answer is for.',
        waiting)
      : undefined
  }
  if (named.length === 0) return refuse('empty_map', 'The answer names no interrupt.', waiting)
  const unknown = unknownIds(resume, waiting)
  if (unknown.length === 0) return undefined
  const message = `Unknown or already answered interrupt: ${unknown[0]}`
  return refuse('not_pending', message, waiting, unknown)
}

function refuse(reason: RefusalReason, message: string, waiting: readonly WaitingInterrupt[],
  unknown: readonly string[] = []): Refusal {
  return { error: 'UnknownInterruptError', message, reason, interrupt_ids: unknown,
    pending_ids: waiting.flatMap(({ id }) => id || []).sort() }
}

/** Returns the ids in an answer that are of no interrupt that waits. Without ids, it has none. */
export function unknownIds(resume: unknown,
  waiting: readonly WaitingInterrupt[]): readonly string[] {
  return (idsIn(resume) ?? []).filter((named) => !waiting.some(({ id }) => id === named))
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
 * The run with the interrupts that it resumes, for a run that may start later: another run or an
 * edit may close them before, and a value without ids would then resume the next interrupt. While a
 * run executes that has closed them, they are those before that run.
 */
export function withAnswered(run: StartRun, { row }: Pick<ThreadState, 'row'>): StartRun {
  const { kwargs } = run
  const { resume } = objectOf(kwargs['command'])
  const forkId = forkIdOf(kwargs)
  const isElsewhere = (forkId ?? row.head?.id) !== row.head?.id
  if (resume == null || isElsewhere || run.plan.answers !== undefined) return run
  const asked = hasQuestions(row) ? row : row.restBefore ?? row
  const named = idsIn(resume)
  const answers = openQuestions(asked).filter(({ id }) => named?.includes(id) ?? true)
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
  return refuse('not_pending', 'The interrupt that this run resumes is not open any more.', open,
    idsIn(answerOf(run, row.head?.id)))
}

/** Open interrupts with a fingerprint: all interrupts of one task have the same id. */
function openQuestions(row: Pick<ThreadState['row'], 'interruptsJson'>) {
  return questionsIn(row).map((question) => ({ id: textAt(question, 'id') ?? '',
    print: printOf(question) })
  )
}

/** The fingerprint of an open interrupt, for a run that may resume no other. */
export function printOf(question: unknown): string {
  const text = JSON.stringify([textAt(question, 'id') ?? '', objectOf(question)['value']])
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
