/** The messages that a chat shows: of a state, with what a run says beside. */

import type { LiveRun } from '../live/live-run.ts'
import type { ChatMessage } from '../live/message-merge.ts'

/** Answers to questions, and the message that they stand after; null at the beginning. */
export interface PlacedAnswers {
  readonly after: string | null
  readonly messages: readonly ChatMessage[]
}

/** The messages with the answers between them. One whose place is not read yet is left out. */
export function withAnswers(known: readonly ChatMessage[],
  answers: readonly PlacedAnswers[]): readonly ChatMessage[] {
  if (answers.length === 0) return known
  const placed = (id: unknown) =>
    answers.flatMap(({ after, messages }) => after === id ? messages : [])
  return [...placed(null), ...known.flatMap((each) => [each, ...placed(each.id ?? '')])]
}

/** One row of a chat. */
export interface ChatRow {
  readonly key: string
  readonly message: ChatMessage
  /** It is being written now. */
  readonly isLive: boolean
}

/** Rows of a chat, without the results of tools, which stand at their calls. */
export function rowsOf(known: readonly ChatMessage[],
  live: LiveRun['messages'] | undefined): readonly ChatRow[] {
  const ids = new Set(known.map(({ id }) => id))
  const rows = known.map((message, at): ChatRow => ({ key: message.id ?? `at ${at}`, message,
    isLive: false })
  )
  for (const [id, message] of live ?? []) {
    if (!ids.has(id)) rows.push({ key: id, message, isLive: true })
  }
  return rows.filter(({ message }) => message.type !== 'tool' || message.tool_call_id === undefined)
}

/** Results of tools by the call that they answer. */
export function resultsOf(known: readonly ChatMessage[],
  live: LiveRun['messages'] | undefined): ReadonlyMap<string, ChatMessage> {
  const results = new Map<string, ChatMessage>()
  for (const message of [...known, ...live?.values() ?? []]) {
    if (message.tool_call_id !== undefined) results.set(message.tool_call_id, message)
  }
  return results
}
