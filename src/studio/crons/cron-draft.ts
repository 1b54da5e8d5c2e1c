/** Content of the editor of a cron, and the request that it makes. Pure. */

import type { CreateCron, PatchCron } from '../../api/index.ts'
import { localText } from '../parts/times/moment.ts'
import type { WholeCron } from './cron-calls.ts'

/** The fields of the editor. */
export interface CronDraft {
  /** The id of an assistant; empty before one is chosen. */
  readonly assistant: string
  /** The id of a thread; empty if each run gets one. */
  readonly thread: string
  readonly schedule: string
  /** IANA name; empty for UTC. */
  readonly timezone: string
  /** Local time of the reader, as fields of dates have it; empty for no end. */
  readonly ends: string
  readonly onRunCompleted: 'delete' | 'keep'
  /** JSON; empty for none. */
  readonly input: string
}

/** Input with which a new cron begins: that of a conversation. */
const firstInput = { messages: [{ role: 'user', content: '' }] }

/** A new cron, in the reader's zone. */
export const emptyDraft = (zone: string): CronDraft => ({ assistant: '', thread: '',
  schedule: '0 7 * * 1-5', timezone: zone === 'UTC' ? '' : zone, ends: '', onRunCompleted: 'keep',
  input: JSON.stringify(firstInput, null, 2) })

/** The draft of a cron that is there. */
export const draftOf = (cron: WholeCron): CronDraft => ({
  assistant: cron.assistant_id,
  thread: cron.thread_id ?? '',
  schedule: cron.schedule,
  timezone: cron.timezone ?? '',
  ends: cron.end_time === null ? '' : localText(Date.parse(cron.end_time)),
  onRunCompleted: cron.on_run_completed,
  input: cron.payload['input'] === undefined
    ? ''
    : JSON.stringify(cron.payload['input'], null, 2),
})

/** The request for a new cron. Throws an error that names the fault for people. */
export function creationOf(draft: CronDraft): CreateCron {
  const { assistant, thread, schedule, timezone, ends, onRunCompleted } = draft
  if (assistant === '') throw new Error('Choose an assistant.')
  const input = inputIn(draft)
  return { assistant_id: assistant, schedule, timezone: timezone === '' ? null : timezone,
    ...input !== undefined && { input }, ...ends !== '' && { end_time: isoOf(ends) },
    ...thread === '' && { on_run_completed: onRunCompleted } } as CreateCron
}

/** Only fields that differ from the cron as it was. Throws as `creationOf` does. */
export function changeOf(draft: CronDraft, cron: WholeCron): PatchCron {
  const before = draftOf(cron)
  const differs = (name: keyof CronDraft) => draft[name] !== before[name]
  return {
    ...differs('schedule') && { schedule: draft.schedule },
    ...differs('timezone') && { timezone: draft.timezone === '' ? null : draft.timezone },
    ...differs('ends') && { end_time: draft.ends === '' ? null : isoOf(draft.ends) },
    ...differs('onRunCompleted') && { on_run_completed: draft.onRunCompleted },
    ...differs('input') && { input: inputIn(draft) ?? null },
  } as PatchCron
}

function inputIn({ input }: CronDraft): unknown {
  if (input.trim() === '') return undefined
  try {
    return JSON.parse(input)
  } catch (error) {
    throw new Error(`The input is no JSON: ${(error as Error).message}`, { cause: error })
  }
}

const isoOf = (local: string): string => new Date(local).toISOString()
