/** The questions of an execution about its effects, and the resume values of its run. */

import type { RunRequest } from '../execution.ts'
import { commandIn, namesInterrupts } from '../project/run-input.ts'
import type { TaskEffect, TaskRecords } from '../state/effect-notes.ts'
import { inTask } from './asked-effect.ts'
import type { AskedEffect } from './asked-effect.ts'
import { effectError } from './effect-errors.ts'
import { questionId } from './effect-position.ts'
import type { AskedAbout } from './effect-position.ts'
import { effectQuestion, questionIn } from './effect-question.ts'
import type { QuestionCause, QuestionName } from './effect-question.ts'
import type { TaskQuestions } from './task-questions.ts'

/** A task with effects that a person decides about. */
export interface AskingTask {
  readonly ns: string
  readonly taskId: string
  readonly records: TaskRecords
}

/**
 * none   the run has no resume value
 * one    its value names no question: it decides about one effect
 * tasks  it has a value for each task whose question it names
 */
type AnswerScope = 'none' | 'one' | 'tasks'

/** The resume value of a run, as a decision. */
export interface RunAnswer {
  readonly scope: AnswerScope
  /** True if an earlier attempt of the run has decided by it. */
  readonly isUsed: boolean
}

/** Returns the decision that a run brings. */
export function answerIn(
  { command, decided = false }: Pick<RunRequest, 'command' | 'decided'>,
): RunAnswer {
  const { resume } = command === null ? {} : commandIn(command)
  const scope = resume == null ? 'none' : namesInterrupts(resume) ? 'tasks' : 'one'
  return { scope, isUsed: decided }
}

/** Ports of the questions of an execution. */
export interface EffectAnswersOptions {
  readonly runId: string
  readonly answer: RunAnswer
  readonly questions: TaskQuestions
  readonly nowMs: () => number
}

/** A resume value that is unused so far. Without a name, any effect of the task may use it. */
interface HeldAnswer {
  readonly question: Partial<QuestionName>
  readonly value: unknown
}

/**
 * The resume values of an execution's run. A value decides about one effect, and only in the run
 * that brought it: a value that an earlier run left unused decides about none. Rule: [ask_once].
 */
export class EffectAnswers {
  readonly #options: EffectAnswersOptions
  /** By task. */
  readonly #held = new Map<string, HeldAnswer>()
  /** True if the run has decided by the one value that it brought. */
  #isUsed: boolean

  constructor(options: EffectAnswersOptions) {
    this.#options = options
    this.#isUsed = options.answer.isUsed
  }

  /**
   * Takes the resume value of the task if it is about an effect, so that the code of the node does
   * not get it for an interrupt of its own. Call once for each attempt. Returns the value with its
   * effect if that effect has no receipt, and holds any other value.
   */
  take(asked: AskedEffect, task: AskingTask):
    | { readonly effect: TaskEffect; readonly value: unknown }
    | undefined {
    const { taskId, records } = task
    const effects = records.effects.of(taskId)
    // The task may have raised another interrupt since.
    const isUsed = effects.some(({ known }) => this.#isDecided(known))
    const question: Partial<QuestionName> | undefined = records.asked
      ? questionIn(records.asked(taskId))
      : {}
    if (question === undefined && !isUsed) return undefined
    const answer = this.#removed(asked, task)
    if (answer === undefined || question === undefined || isUsed) return undefined
    const { value } = answer
    const effect = effects.find(({ rule, ordinal, known: { intent, starts } }) =>
      intent && question.id === questionId(task, { rule, ordinal, hash: intent.hash, starts })
    )
    const isSaid = effect !== undefined && this.#isSaid(effect.known)
    if (!isSaid && !this.#mayDecide) return undefined
    if (effect === undefined) this.#held.set(taskId, { question, value })
    else if (effect.known.receipt === undefined) {
      this.#isUsed = true
      return { effect, value }
    }
    return undefined
  }

  /** Removes and returns the held resume value about an effect. */
  held(task: AskingTask, about: AskedAbout): { readonly value: unknown } | undefined {
    const held = this.#held.get(task.taskId)
    const { id, effect = about.rule } = held?.question ?? {}
    const isAbout = id === undefined ? effect === about.rule : id === questionId(task, about)
    if (held === undefined || !isAbout || !this.#mayDecide) return undefined
    this.#held.delete(task.taskId)
    this.#isUsed = true
    return held
  }

  /** Throws the engine's interrupt with the question, or an error if the engine has none. */
  ask(asked: AskedEffect, task: AskingTask, { about, known: { intent }, shown, cause }: {
    readonly about: AskedAbout
    readonly known: TaskEffect['known']
    /** The input, in the form that questions show. */
    readonly shown: unknown
    readonly cause: QuestionCause
  }): never {
    const { questions, nowMs } = this.#options
    const id = questionId(task, about)
    const question = effectQuestion(about.rule, shown, intent?.atMs ?? nowMs(), { id, cause })
    inTask(asked, () => questions.ask(question))
    throw effectError('unknown', asked.name)
  }

  get #mayDecide(): boolean {
    const { scope } = this.#options.answer
    return scope === 'tasks' || (scope === 'one' && !this.#isUsed)
  }

  /** Removes the resume value from the task, and from all tasks around it. */
  #removed(asked: AskedEffect, { taskId, records }: AskingTask):
    | { readonly value: unknown }
    | undefined {
    const { questions } = this.#options
    const answer = inTask(asked, () => questions.takeAnswer(records.answered(taskId)))
    if (answer) asked.task?.withinEachAround(() => questions.dropAnswer())
    return answer
  }

  /** True if the decision is of this run: a run that continues has its resume value again. */
  #isDecided(known: TaskEffect['known']): boolean {
    return known.decided?.runId === this.#options.runId && !this.#isSaid(known)
  }

  /**
   * True if the run has decided that the effect was done, and the log lacks its result: the value
   * is needed again.
   */
  #isSaid({ decided, isOpen }: TaskEffect['known']): boolean {
    return decided?.runId === this.#options.runId && decided.decision === 'done' && isOpen
  }
}
