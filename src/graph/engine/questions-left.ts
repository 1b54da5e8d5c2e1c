/** The questions of a thread whose nodes do not exist any more. */

import type { ExecutionOutcome } from '../execution.ts'
import type { HeddleSaver } from '../state/saver.ts'
import { doneTasks } from '../state/state-reader.ts'
import type { ValueCodec } from '../state/value-codec.ts'

/** The interrupts of tasks that the engine does not find. They stay. */
export async function questionsLeft(codec: Pick<ValueCodec, 'text'>, saver: HeddleSaver,
  thread_id: string): Promise<Pick<ExecutionOutcome, 'waiting' | 'interrupts' | 'askers'>> {
  const tuple = await saver.getTuple({ configurable: { thread_id } })
  const done = doneTasks(tuple)
  const interrupts: Record<string, unknown[]> = {}
  for (const [task, channel, value] of tuple?.pendingWrites ?? []) {
    if (channel === '__interrupt__' && !done.has(task)) interrupts[task] = [value].flat()
  }
  const askers = saver.askers.of(Object.values(interrupts))
  return { waiting: true, interrupts: codec.text(interrupts), ...askers }
}
