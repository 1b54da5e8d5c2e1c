/** The schemas of requests about crons. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { Limit, Metadata, MetadataFilter, Nullable, Offset, OneOf, SomeOf, Uuid } from './json.ts'
import { CreateRun } from './run.ts'

const { assistant_id, input, config, context, webhook, interrupt_before, interrupt_after,
  stream_mode, stream_subgraphs, stream_resumable, durability, checkpoint_during,
  multitask_strategy } = CreateRun.properties

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

/** Body of requests that create a cron. */
export const CreateCron = Type.Object({
  assistant_id,
  schedule: Schedule(),
  ...times,
  ...changing,
  multitask_strategy,
}, {
  'x-not-offered': ['feedback_keys'],
  examples: [{ assistant_id: 'agent', schedule: '0 7 * * 1-5', timezone: 'Europe/Paris',
    input: { messages: [{ role: 'user', content: 'What is on today?' }] } }],
})
/** A checked body of `CreateCron`. */
export type CreateCron = Static<typeof CreateCron>

/** Body of requests that change a cron. What is absent stays; `end_time: null` clears it. */
export const PatchCron = Type.Object({
  schedule: Type.Optional(Nullable(Schedule())),
  ...times,
  ...changing,
}, { examples: [{ enabled: false }] })
/** A checked body of `PatchCron`. */
export type PatchCron = Static<typeof PatchCron>

/** The fields of a run that a cron keeps for its runs. */
export const payloadFields: readonly string[] = [...Object.keys(changing), 'multitask_strategy']

const filter = {
  assistant_id: Type.Optional(Nullable(Type.String({ minLength: 1 }))),
  thread_id: Type.Optional(Nullable(Uuid())),
  enabled: Type.Optional(Nullable(Type.Boolean())),
  metadata: Type.Optional(Nullable(MetadataFilter())),
}

/** Body of requests that count crons. */
export const CountCrons = Type.Object(filter, { examples: [{ assistant_id: 'agent' }] })
/** A checked body of `CountCrons`. */
export type CountCrons = Static<typeof CountCrons>

/** Fields of a cron in answers. */
export const cronFields = ['cron_id', 'assistant_id', 'thread_id', 'on_run_completed', 'end_time',
  'schedule', 'timezone', 'created_at', 'updated_at', 'payload', 'user_id', 'next_run_date',
  'metadata', 'enabled'] as const

/** Body of requests that search crons. `select` may name the server's time too. */
export const SearchCrons = Type.Object({
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
}, { examples: [{ limit: 10 }] })
/** A checked body of `SearchCrons`. */
export type SearchCrons = Static<typeof SearchCrons>

/** Path of requests about one cron. */
export const CronPath = Type.Object({ cron_id: Uuid() })
