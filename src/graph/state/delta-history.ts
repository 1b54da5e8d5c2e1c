/** The history of a DeltaChannel: its last snapshot, and the writes since. */

import type { CheckpointPendingWrite, DeltaChannelHistory } from '@langchain/langgraph-checkpoint'

import type { ChannelValues } from './state-delta.ts'

/** An older checkpoint of the same line. */
export interface Ancestor {
  readonly values: ChannelValues
  readonly writes: readonly CheckpointPendingWrite[]
}

/**
 * Makes the history of channels. `ancestors` come newest first, and are read no further than
 * needed.
 */
export async function deltaHistory(channels: readonly string[],
  ancestors: AsyncIterable<Ancestor>): Promise<Record<string, DeltaChannelHistory>> {
  const histories: Record<string, DeltaChannelHistory> = {}
  for (const channel of channels) histories[channel] = { writes: [] }
  const open = new Set(channels)
  if (open.size > 0) {
    for await (const { values, writes } of ancestors) {
      for (const channel of open) {
        const history = histories[channel]!
        history.writes.unshift(...writesOn(channel, writes))
        if (!(channel in values)) continue
        history.seed = values[channel]
        open.delete(channel)
      }
      if (open.size === 0) break
    }
  }
  return histories
}

/** The writes on a channel in their stored order, which is the order of replay. */
export function writesOn(channel: string,
  writes: readonly CheckpointPendingWrite[]): CheckpointPendingWrite[] {
  return writes.filter(([, name]) => name === channel)
}
