/** Answers of people to questions: which runs had them, and what they say. */

import type { Run } from '../api/runs.ts'
import type { ThreadState } from '../api/states.ts'
import type { ChatMessage } from '../live/message-merge.ts'

/** A state at which a run stopped, and the run that went on from there, perhaps with an answer. */
export interface Answered {
  readonly checkpointId: string
  readonly runId: string
  /** The run that stopped. Runs between the two had answers that were not the last one. */
  readonly stoppedId: string | undefined
  /** Name of the caller who answered, where the server asks for it. */
  readonly who: string | undefined
}

/** Answers that are shown: the newest ones of the steps that were read. */
const answersMax = 10
const wordsMax = 500

/** Places on the line to a step at which another run went on without an input, oldest first. */
export function answeredOn(steps: readonly ThreadState[],
  from: string | undefined): readonly Answered[] {
  const known = new Map(steps.map((step) => [step.checkpoint_id, step]))
  const found: Answered[] = []
  for (let step = known.get(from); step !== undefined && found.length < answersMax;) {
    const before = known.get(step.parent_checkpoint_id)
    const { run_id: runId, source, langgraph_auth_user_id: who } = step.metadata ?? {}
    const stoppedId = before?.metadata?.run_id
    const goesOn = source === 'loop' && before !== undefined && stoppedId !== runId
    if (goesOn && runId !== undefined) {
      found.push({ checkpointId: before.checkpoint_id!, runId, stoppedId,
        who: typeof who === 'string' && who !== '' ? who : undefined })
    }
    step = before
  }
  return found.toReversed()
}

const decisions: Readonly<Record<string, string>> = { approve: 'Approved', accept: 'Approved',
  edit: 'Approved with changes', reject: 'Rejected', ignore: 'Rejected', respond: 'Answered',
  response: 'Answered' }

/** An answer in words: a text, decisions, a yes or no, or JSON. */
export function answerWords(resume: unknown): string {
  if (typeof resume === 'string') return resume.slice(0, wordsMax)
  const { decisions: several, type, message, args, decision, result } = Object(resume) as Record<
    string,
    unknown
  >
  if (decision === 'done') {
    return `It was done: ${typeof result === 'string' ? result : JSON.stringify(result ?? null)}`
      .slice(0, wordsMax)
  }
  if (Array.isArray(several)) return several.map(answerWords).join('; ').slice(0, wordsMax)
  const word = typeof type === 'string' && Object.hasOwn(decisions, type)
    ? decisions[type]
    : undefined
  if (word === undefined) return (JSON.stringify(resume) ?? '').slice(0, wordsMax)
  const more = typeof message === 'string' ? message : typeof args === 'string' ? args : ''
  return (more === '' ? word : `${word}: ${more}`).slice(0, wordsMax)
}

/** Answers that the runs of a place had, as messages, oldest first. `runs` are newest first. */
export function answersIn(runs: readonly Pick<Run, 'run_id' | 'kwargs'>[],
  { runId, stoppedId, who }: Answered): readonly ChatMessage[] {
  const from = runs.findIndex(({ run_id: id }) => id === runId)
  if (from < 0) return []
  const to = runs.findIndex(({ run_id: id }) => id === stoppedId)
  return runs.slice(from, to > from ? to : from + 1).toReversed().flatMap(
    ({ run_id: id, kwargs }) => {
      const { resume } = Object(kwargs?.command) as { readonly resume?: unknown }
      return resume === undefined || resume === null
        ? []
        : [{ type: 'answer', id: `answer ${id}`, content: answerWords(resume),
          ...who !== undefined && { name: who } }]
    },
  )
}
