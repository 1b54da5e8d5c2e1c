/** Crons: runs that are due on a schedule. */

import { Type } from 'typebox'

import { Count, JsonObject, Limit, Metadata, MetadataFilter, Nullable, Offset, OneOf, SomeOf, Text,
  Time, Uuid } from './json.ts'
import { operation } from './operation.ts'
import type { Body as BodyOf, Value } from './operation.ts'
import { CreationHeaders, multitaskStrategy, runContent } from './run-content.ts'
import { RunStatus } from './threads/run-parts.ts'

const { assistant_id, input, config, context, webhook, interrupt_before, interrupt_after,
  stream_mode, stream_subgraphs, stream_resumable, durability, checkpoint_during } = runContent

/** The fields of a run that may change later. */
const changing = { input, config, context, webhook, interrupt_before, interrupt_after, stream_mode,
  stream_subgraphs, stream_resumable, durability, checkpoint_during }

const Schedule = () =>
  Type.String({ description: 'Five fields of cron: minute, hour, day of the month, month, day of ' +
    'the week.' })

const times = {
  timezone: Type.Optional(Nullable(Type.String({ description: 'An IANA name; UTC if null.' }))),
  end_time: Type.Optional(
    Nullable(Type.String({ description: 'An ISO 8601 time, after which nothing is due.' })),
  ),
  enabled: Type.Optional(Nullable(Type.Boolean({ default: true }))),
  on_run_completed: Type.Optional(
    Nullable(
      OneOf(['delete', 'keep'], { default: 'delete',
        description: 'What becomes of the thread of each run. A named thread stays.' }),
    ),
  ),
  metadata: Type.Optional(Nullable(Metadata())),
}

/** The fields of a run that a cron keeps for its runs. */
export const payloadFields: readonly string[] = [...Object.keys(changing), 'multitask_strategy']

const Body = Type.Object({
  assistant_id,
  schedule: Schedule(),
  ...times,
  ...changing,
  multitask_strategy: multitaskStrategy,
}, {
  'x-not-offered': ['feedback_keys'],
  examples: [{ assistant_id: 'agent', schedule: '0 7 * * 1-5', timezone: 'Europe/Paris',
    input: { messages: [{ role: 'user', content: 'What is on today?' }] } }],
})

const filter = {
  assistant_id: Type.Optional(Nullable(Type.String({ minLength: 1 }))),
  thread_id: Type.Optional(Nullable(Uuid())),
  enabled: Type.Optional(Nullable(Type.Boolean())),
  metadata: Type.Optional(Nullable(MetadataFilter())),
}

/** Fields of a cron in answers. */
export const cronFields = ['cron_id', 'assistant_id', 'thread_id', 'on_run_completed', 'end_time',
  'schedule', 'timezone', 'created_at', 'updated_at', 'payload', 'user_id', 'next_run_date',
  'metadata', 'enabled'] as const

const Cron = Type.Object({
  cron_id: Uuid(),
  assistant_id: Uuid(),
  thread_id: Nullable(Uuid()),
  on_run_completed: OneOf(['delete', 'keep']),
  end_time: Nullable(Time()),
  schedule: Text(),
  timezone: Nullable(Text()),
  created_at: Time(),
  updated_at: Time(),
  payload: JsonObject({ description: 'The body of its runs.' }),
  user_id: Nullable(Text()),
  next_run_date: Nullable(Time()),
  metadata: JsonObject(),
  enabled: Type.Boolean(),
}, { $id: 'Cron', description: 'The cron.' })

const WholeCron = Type.Object({ ...Cron.properties, now: Type.Optional(Time()) })

const FoundCron = Type.Partial(WholeCron, { $id: 'FoundCron',
  description: 'All fields, or those that `select` names.' })

const DueTimes = Type.Object({ times: Type.Array(Time()) }, { $id: 'DueTimes',
  description: 'The soonest first. Fewer than asked for if the schedule ends.' })

const TriggeredRun = Type.Object({ run_id: Uuid(), thread_id: Uuid() }, { $id: 'TriggeredRun',
  description: 'The run, and its thread.' })

const LastRun = Type.Object({
  cron_id: Uuid(),
  at: Time(),
  run_id: Nullable(Uuid()),
  thread_id: Nullable(Uuid()),
  status: Nullable(RunStatus()),
  reason: Nullable(Text()),
}, { $id: 'CronLastRun', description: 'Its newest outcome. Without `run_id`, `reason` says why ' +
  'there is no run. `status` is null for a run that is gone, as those on threads of their own.' })

const one = { params: Type.Object({ cron_id: Uuid() }) }

export const createCron = operation('POST', '/runs/crons', {
  asks: 'crons:create',
  access: 'change',
  summary: 'Create a cron whose runs have threads of their own',
  headers: CreationHeaders,
  body: Body,
  answer: Cron,
})

export const createThreadCron = operation('POST', '/threads/:thread_id/runs/crons', {
  asks: ['crons:create', 'threads:read'],
  access: 'change',
  summary: 'Create a cron whose runs are on a thread',
  params: Type.Object({ thread_id: Uuid() }),
  headers: CreationHeaders,
  body: Body,
  answer: Cron,
})

export const getCron = operation('GET', '/runs/crons/:cron_id', {
  asks: 'crons:read',
  ...one,
  access: 'read',
  summary: 'Get a cron',
  answer: Cron,
})

// What is absent stays; `end_time: null` clears it.
export const updateCron = operation('PATCH', '/runs/crons/:cron_id', {
  asks: 'crons:update',
  ...one,
  access: 'change',
  summary: 'Update a cron',
  body: Type.Object({
    schedule: Type.Optional(Nullable(Schedule())),
    ...times,
    ...changing,
  }, { examples: [{ enabled: false }] }),
  answer: Cron,
})

export const deleteCron = operation('DELETE', '/runs/crons/:cron_id', {
  asks: 'crons:delete',
  ...one,
  access: 'change',
  summary: 'Delete a cron; its runs stay',
})

export const searchCrons = operation('POST', '/runs/crons/search', {
  asks: 'crons:search',
  access: 'read',
  summary: 'Search crons',
  body: Type.Object({
    ...filter,
    limit: Type.Optional(Limit()),
    offset: Type.Optional(Offset()),
    sort_by: Type.Optional(
      Nullable(
        OneOf(['cron_id', 'assistant_id', 'thread_id', 'next_run_date', 'end_time', 'created_at',
          'updated_at']),
      ),
    ),
    sort_order: Type.Optional(Nullable(OneOf(['asc', 'desc']))),
    select: Type.Optional(Nullable(SomeOf([...cronFields, 'now']))),
  }, { examples: [{ limit: 10 }] }),
  answer: Type.Array(FoundCron),
  whole: Type.Array(WholeCron),
  returns: ['x-pagination-total', 'x-pagination-next'],
})

export const countCrons = operation('POST', '/runs/crons/count', {
  asks: 'crons:search',
  access: 'read',
  summary: 'Count crons',
  body: Type.Object(filter, { examples: [{ assistant_id: 'agent' }] }),
  answer: Count,
})

export const previewCron = operation('POST', '/runs/crons/preview', {
  asks: { nothing: 'It reads nothing that belongs to anybody.' },
  access: 'read',
  summary: 'List the next times of a schedule, or say what is wrong with it',
  body: Type.Object({
    schedule: Schedule(),
    timezone: times.timezone,
    end_time: times.end_time,
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 5 })),
  }, { examples: [{ schedule: '0 7 * * 1-5', timezone: 'Europe/Paris' }] }),
  answer: DueTimes,
})

export const triggerCron = operation('POST', '/runs/crons/:cron_id/trigger', {
  asks: 'crons:update',
  ...one,
  access: 'change',
  summary: 'Make a run of a cron now, beside those that are due',
  headers: CreationHeaders,
  answer: TriggeredRun,
})

export const lastCronRuns = operation('POST', '/runs/crons/last-runs', {
  asks: ['crons:read', 'threads:read'],
  access: 'read',
  summary: 'List the newest run of each of some crons',
  body: Type.Object({
    cron_ids: Type.Array(Uuid(), { maxItems: 100, description: 'Others are left out.' }),
  }, { examples: [{ cron_ids: [] }] }),
  answer: Type.Array(LastRun),
})

/** The newest run of a cron, or why its newest due time has none. */
export type CronLastRun = Value<typeof LastRun>
/** A cron as a client writes it. */
export type CreateCron = BodyOf<typeof createCron>
/** A change of a cron. */
export type PatchCron = BodyOf<typeof updateCron>
/** Conditions, order and page of a search for crons. */
export type SearchCrons = BodyOf<typeof searchCrons>
/** A schedule whose next times are asked for. */
export type PreviewCron = BodyOf<typeof previewCron>
/** Conditions on the crons that are counted. */
export type CountCrons = BodyOf<typeof countCrons>
