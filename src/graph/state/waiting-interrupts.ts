/** The interrupts on a checkpoint that still wait for an answer. */

import type { Write, Writes } from '../../../proto/gen/storage/v1/log.ts'
import { isObject, valueIn } from '../../json/index.ts'
import { leavesTaskOpen } from './pending-writes.ts'

const interruptChannel = '__interrupt__'

/** An interrupt as the engine stores it. Early engines give it no id. */
export interface WaitingInterrupt {
  readonly id?: string
}

/** True if a task raised an interrupt with these writes. */
export function raisesInterrupt({ writes }: Writes): boolean {
  return writes.some(({ channel }) => channel === interruptChannel)
}

/** The open interrupts of a task after these writes. Undefined if the writes change none. */
export function interruptsAfter({ writes }: Writes): readonly WaitingInterrupt[] | undefined {
  // A result ends the interrupts of its task, whatever else is written with it.
  if (writes.some(({ channel }) => !leavesTaskOpen.has(channel))) return []
  const newest = writes.findLast(({ channel }) => channel === interruptChannel)
  return newest && interruptsIn(newest)
}

/** Those of tasks without a result. The newest of a task replaces the ones before. */
export function waitingInterrupts(stored: readonly Writes[]): WaitingInterrupt[] {
  const open = interruptedTasks(stored)
  const byTask = new Map<string, readonly WaitingInterrupt[]>()
  for (const each of stored) {
    const interrupts = open.has(each.taskId) ? interruptsAfter(each) : undefined
    if (interrupts) byTask.set(each.taskId, interrupts)
  }
  return [...byTask.values()].flat()
}

/** The tasks whose interrupts wait. */
export function interruptedTasks(stored: readonly Writes[]): ReadonlySet<string> {
  const withSome = (isWanted: (write: Write) => boolean) =>
    new Set(stored.flatMap(({ taskId, writes }) => writes.some(isWanted) ? [taskId] : []))
  const done = withSome(({ channel }) => !leavesTaskOpen.has(channel))
  const asked = withSome(({ channel }) => channel === interruptChannel)
  return new Set([...asked].filter((task) => !done.has(task)))
}

function interruptsIn({ value }: Write): WaitingInterrupt[] {
  return [valueIn(value?.json || 'null')].flat().filter(isInterrupt)
}

function isInterrupt(value: unknown): value is WaitingInterrupt {
  return isObject(value)
}
