/** Share of a batch for followers of its whole thread: a record, and events beside it. Pure. */

import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import { checkpointMark, isThreadEvent } from '../../graph/index.ts'
import type { StepEvent } from '../../graph/index.ts'
import { nameOfMade } from '../model/thread-event-head.ts'

/** The events of a batch, by whom they are for. */
export interface SplitEvents {
  readonly ofRun: readonly StepEvent[]
  /** Events of the thread that have their data. */
  readonly ofThread: readonly StepEvent[]
}

/** An event of the thread that is not kept: `fromEnd` places before the end of its record's. */
export interface PassingEvent {
  readonly name: string
  readonly json: JsonText
  readonly fromEnd: number
}

/** A checkpoint mark stands for two events. */
const markSlots = 2

/** Events of the thread that lack their data are in neither list: they come later. */
export function splitEvents(events: readonly StepEvent[]): SplitEvents {
  const ofRun: StepEvent[] = []
  const ofThread: StepEvent[] = []
  for (const event of events) {
    if (!isThreadEvent(event.name)) ofRun.push(event)
    else if (!lacksData(event)) ofThread.push(event)
  }
  return { ofRun, ofThread }
}

/** True for an event of the thread whose data follows in a later batch. */
export function isLateForThread(event: StepEvent): boolean {
  return isThreadEvent(event.name) && lacksData(event)
}

function lacksData({ json, valuesOf }: StepEvent): boolean {
  return json === '' && valuesOf === ''
}

/** The record that keeps places for the events of a thread, and the data of those to be kept. */
export function threadEventsRecord(events: readonly StepEvent[], runId: string,
  atMs: number): { readonly record: RecordOf; readonly passing: readonly PassingEvent[] } {
  let threadSlots = 0
  const kept: { index: number; name: string; json: JsonText; valuesOf: string }[] = []
  const passing: { name: string; json: JsonText; index: number }[] = []
  for (const { name, json, valuesOf } of events) {
    const index = threadSlots
    if (name === checkpointMark) kept.push({ index, name, json, valuesOf })
    else passing.push({ name: nameOfMade(name, runId, atMs), json, index })
    threadSlots += name === checkpointMark ? markSlots : 1
  }
  return {
    record: { $case: 'emitted', value: { runId, events: kept, atMs, threadSlots } },
    passing: passing.map(({ name, json, index }) => ({ name, json, fromEnd: threadSlots - index })),
  }
}
