/**
 * Questions of a task to a person that are not its node's own. The engine numbers the questions of
 * a node, and gives the answers by number: those about effects must not be among them.
 */

import { memberOf } from '../../json/index.ts'

/** The questions and answers of the task whose code runs. */
export interface TaskQuestions {
  /**
   * Takes the answer that the run brought, if there is one that nobody had. `answered` is the
   * number of answers that the task's node has had in earlier runs.
   */
  takeAnswer(answered: number): { readonly value: unknown } | undefined
  /** Drops the resume value that names no question. Call for tasks around the task that took it. */
  dropAnswer(): void
  /** Throws the engine's interrupt with the question. Returns if the engine has none. */
  ask(question: unknown): void
}

interface Engine {
  readonly interrupt?: (question: unknown) => unknown
  readonly getConfig?: () => unknown
}

/** The engine's notes on the questions of a task. */
interface Scratchpad {
  interruptCounter: number
  /** Answers that the node gets by number. */
  resume: unknown[]
  /** The answer that names no question. */
  nullResume?: unknown
  consumeNullResume?(): unknown
}

/** The questions of tasks of this copy of the engine. */
export function taskQuestions({ interrupt, getConfig }: Engine): TaskQuestions {
  const scratchpad = () =>
    memberOf(memberOf(getConfig?.(), 'configurable'), '__pregel_scratchpad') as
      | Scratchpad
      | undefined
  return {
    takeAnswer: (answered) => {
      const pad = scratchpad()
      if (pad === undefined) return undefined
      const value = pad.nullResume
      if (value !== undefined) {
        pad.consumeNullResume?.()
        delete pad.nullResume
        return { value }
      }
      return pad.resume.length > answered ? { value: pad.resume.pop() } : undefined
    },
    dropAnswer: () => {
      const pad = scratchpad()
      if (pad?.nullResume === undefined) return
      pad.consumeNullResume?.()
      delete pad.nullResume
    },
    ask: (question) => {
      const pad = scratchpad()
      if (pad === undefined || interrupt === undefined) return
      const { interruptCounter, resume, nullResume } = pad
      // A resume value that is left is for an interrupt of the node.
      Object.assign(pad, { interruptCounter: -1, resume: [], nullResume: undefined })
      try {
        interrupt(question)
      } finally {
        Object.assign(pad, { interruptCounter, resume, nullResume })
      }
    },
  }
}
