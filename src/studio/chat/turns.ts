/** The rows of a chat under which the footers of its runs stand. Pure. */

import type { RunUsage } from '../api/platform/thread-usage.ts'
import type { ChatMessage } from '../live/message-merge.ts'

/** The runs that end at a row, by the key of the row. */
export type Turns = ReadonlyMap<string, RunUsage>

/**
 * A run ends at the last message that it wrote; at the row above, if that is the result of a tool,
 * which has none. Of two runs that end at one row the newer one is shown. The run `lastId` is left
 * out: its footer stands at the end of the chat.
 */
export function turnsOf(messages: readonly ChatMessage[], runs: readonly RunUsage[],
  lastId: string | undefined): Turns {
  const rows = new Map<string, string>()
  let row: string | undefined
  for (const { id, type, tool_call_id: call } of messages) {
    if (id === undefined || id === null) continue
    if (type !== 'tool' || call === undefined) row = id
    if (row !== undefined) rows.set(id, row)
  }
  const turns = new Map<string, RunUsage>()
  for (const run of runs) {
    if (run.run_id === lastId || run.ended_at === null) continue
    const place = rows.get(run.message_id ?? '')
    if (place !== undefined && !turns.has(place)) turns.set(place, run)
  }
  return turns
}
