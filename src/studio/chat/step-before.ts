/** The step before a message was there: who sends it in other words branches from there. */

import { historyPage, stateAt } from '../api/states.ts'
import type { ThreadState } from '../api/states.ts'
import type { ChatMessage } from '../live/message-merge.ts'

/**
 * The checkpoint below the run that was given the message. Inputs on the line to `from` are asked,
 * newest first, whether they have it. Throws if none is found.
 */
export async function stepBefore(threadId: string, steps: readonly ThreadState[],
  from: string | undefined, messageId: string): Promise<string> {
  const known = new Map(steps.map((step) => [step.checkpoint_id, step]))
  let oldest = steps.at(-1)?.checkpoint_id ?? undefined
  let at = from
  for (;;) {
    const step = known.get(at)
    if (step === undefined) {
      const older = oldest === undefined ? [] : await historyPage(threadId, oldest, 100)
      if (older.length === 0) throw new Error('The step before this message is not there any more.')
      for (const each of older) known.set(each.checkpoint_id, each)
      oldest = older.at(-1)?.checkpoint_id ?? undefined
      continue
    }
    const parent = step.parent_checkpoint_id ?? undefined
    // An input is in the state from the step behind it on.
    if (step.metadata?.source === 'input' && !await hasMessage(threadId, step, messageId)) {
      if (await hasMessage(threadId, nextOn(known, at!, from!), messageId)) return at!
    }
    if (parent === undefined) return at!
    at = parent
  }
}

/** The step above another one, on the line down from `from`. */
function nextOn(known: ReadonlyMap<string | null | undefined, ThreadState>, id: string,
  from: string): ThreadState | undefined {
  for (let step = known.get(from); step !== undefined;) {
    if (step.parent_checkpoint_id === id) return step
    step = known.get(step.parent_checkpoint_id)
  }
  return undefined
}

async function hasMessage(threadId: string, step: ThreadState | undefined,
  id: string): Promise<boolean> {
  if (step?.checkpoint_id == null) return false
  const { values } = await stateAt(threadId, step.checkpoint_id, ['values.messages[-50:]'])
  return (values?.['messages'] as ChatMessage[] | undefined)?.some((each) => each.id === id) ??
    false
}
