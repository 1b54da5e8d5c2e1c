/** The interrupts on a checkpoint that still wait for an answer. */

import type { Write, Writes } from '../../../proto/gen/storage/v1/log.ts'
import { leavesTaskOpen } from './state-reader.ts'

/** An interrupt as the engine stores it. Early engines give it no id. */
export interface WaitingInterrupt {
  readonly id?: string
}

/** Those of tasks without a result. The newest of a task replaces the ones before. */
export function waitingInterrupts(stored: readonly Writes[]): WaitingInterrupt[] {
  const byTask = new Map<string, readonly WaitingInterrupt[]>()
  const done = new Set<string>()
  for (const { taskId, writes } of stored) {
    for (const write of writes) {
      if (write.channel === '__interrupt__') byTask.set(taskId, interruptsIn(write))
      else if (!leavesTaskOpen.has(write.channel)) done.add(taskId)
    }
  }
  return [...byTask].flatMap(([task, interrupts]) => done.has(task) ? [] : interrupts)
}

/** The tasks whose interrupts wait. */
export function interruptedTasks(stored: readonly Writes[]): readonly string[] {
  const withSome = (isWanted: (write: Write) => boolean) =>
    new Set(stored.flatMap(({ taskId, writes }) => writes.some(isWanted) ? [taskId] : []))
  const done = withSome(({ channel }) => !leavesTaskOpen.has(channel))
  return [...withSome(({ channel }) => channel === '__interrupt__')].filter((id) => !done.has(id))
}

function interruptsIn({ value }: Write): WaitingInterrupt[] {
  const interrupts = JSON.parse(value?.json || 'null') as WaitingInterrupt | null
  return [interrupts].flat().filter((each) => each !== null)
}
