/** The wait at the head of a thread by the records of its log, whatever its row has. */

import type { ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../../src/checkpoint/index.ts'
import { interruptedTasks, waitingInterrupts } from '../../../src/graph/index.ts'
import { listOf, objectIn, textAt } from '../../../src/json/index.ts'

export type Writes = Extract<RecordOf, { $case: 'writes' }>['value']

/** A checkpoint, and the writes on it. */
export interface Head {
  readonly id: string
  readonly writes: readonly Writes[]
}

/** A rollback drops what its run wrote: the head is again what the run found. */
export function headOf(records: readonly RecordOf[]): Head {
  let head: Head = { id: '', writes: [] }
  const found = new Map<string, Head>()
  for (const { $case, value } of records) {
    if ($case === 'runStarted' && !found.has(value.runId)) found.set(value.runId, head)
    if ($case === 'checkpoint' && value.ns === '') head = { id: value.id, writes: [] }
    if ($case === 'writes' && value.checkpointId === head.id) {
      head = { ...head, writes: [...head.writes, value] }
    }
    if ($case === 'headMoved') {
      head = value.droppedRunIds.flatMap((runId) => found.get(runId) ?? [])[0] ?? head
    }
  }
  return head
}

/** The tasks that may raise an interrupt: one with a result does not run again. */
export function undoneOf({ writes }: Head): readonly string[] {
  const hasResult = (task: string) =>
    writes.some((each) => each.taskId === task && each.writes.some(({ index }) => index >= 0))
  return ['task 0', 'task 1', 'task 2'].filter((task) => task === 'task 2' || !hasResult(task))
}

/** The ids of the interrupts that wait at a head. */
export function openIn({ writes }: Head): string[] {
  return waitingInterrupts(writes).flatMap(({ id }) => id ?? [])
}

/** The same as the outcome of an execution has them, by task. Empty if there are none. */
export function interruptsIn({ writes }: Head): string {
  const byTask = [...interruptedTasks(writes)].map((task) =>
    [task, waitingInterrupts(writes.filter(({ taskId }) => taskId === task))] as const
  )
  return byTask.length === 0 ? '' : JSON.stringify(Object.fromEntries(byTask))
}

/** The ids of the interrupts that a row has. */
export function idsOf(row: Pick<ThreadRow, 'interruptsJson'> | undefined): string[] {
  return Object.values(objectIn(row?.interruptsJson ?? '{}')).flatMap(listOf)
    .flatMap((question) => textAt(question, 'id') ?? [])
}

/** The fields of a row that a rollback restores. */
export function restOf({ resting, errorJson, interruptsJson, waitingAt }: ThreadRow): string {
  return JSON.stringify([resting, errorJson, interruptsJson, waitingAt ?? null])
}
