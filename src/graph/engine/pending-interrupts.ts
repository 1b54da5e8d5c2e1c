/** The interrupts that an answer may be for, as a run sees them. */

import { textAt } from '../../json/index.ts'
import type { Fields } from '../project/run-input.ts'
import type { HeddleSaver } from '../state/saver.ts'
import { doneTasks } from '../state/state-reader.ts'

/**
 * Ids of the interrupts that an answer may be for. At the head, those of completed tasks are left
 * out.
 */
export async function pendingInterrupts(saver: HeddleSaver,
  configurable: Fields): Promise<string[]> {
  const tuple = await saver.getTuple({ configurable })
  const done = configurable.checkpoint_id === undefined ? doneTasks(tuple) : new Set<string>()
  return (tuple?.pendingWrites ?? []).flatMap(([task, channel, value]) =>
    channel === '__interrupt__' && !done.has(task) ? [value].flat() : []
  )
    .flatMap((interrupt) => textAt(interrupt, 'id') ?? [])
}
