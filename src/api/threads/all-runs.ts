/** Runs of all threads: a search, and the cancellation of many. */

import { Type } from 'typebox'

import { Nullable, OneOf, SomeOf, Text, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Body, Value } from '../operation.ts'
import { CancelAction, Run, runFields, RunStatus } from './run-parts.ts'
import { ThreadConditions } from './thread-parts.ts'

const WholeRun = Type.Object({ ...Run.properties, graph_id: Text() })

const RunOfTenant = Type.Partial(WholeRun, {
  $id: 'RunOfTenant',
  description: 'All fields but kwargs, or those that `select` names.',
})

const CancelledRuns = Type.Object({
  count: Type.Integer({ description: 'Runs that would be cancelled.' }),
  dry_run: Type.Literal(true),
}, { $id: 'CancelledRuns', description: 'What a dry run found.' })

const Time = (which: string) =>
  Type.Optional(
    Nullable(
      Type.String({ maxLength: 64,
        description: `An ISO 8601 time. Only runs that were created ${which}.` }),
    ),
  )

export const searchRuns = operation('POST', '/runs/search', {
  asks: 'threads:search',
  access: 'read',
  summary: 'Search the runs of all threads, newest first',
  body: Type.Object({
    status: Type.Optional(Nullable(RunStatus())),
    graph_id: Type.Optional(Nullable(Type.String({ maxLength: 500 }))),
    assistant_id: Type.Optional(Nullable(Uuid())),
    thread_id: Type.Optional(Nullable(Uuid())),
    created_after: Time('later'),
    created_before: Time('earlier'),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
    cursor: Type.Optional(
      Nullable(
        Type.String({ maxLength: 500,
          description:
            'The `X-Pagination-Cursor` of the page before. A page may be short, or empty, ' +
            'while there is one.' }),
      ),
    ),
    select: Type.Optional(Nullable(SomeOf([...runFields, 'graph_id']))),
  }, { examples: [{ status: 'error', limit: 20 }] }),
  answer: Type.Array(RunOfTenant),
  whole: Type.Array(WholeRun),
  returns: ['x-pagination-cursor'],
})

export const cancelRuns = operation('POST', '/runs/cancel', {
  asks: 'threads:update',
  access: 'change',
  summary: 'Cancel some runs of a thread, all runs with a status, or those of many threads',
  query: Type.Object({ action: Type.Optional(CancelAction()) }),
  body: Type.Object({
    thread_id: Type.Optional(Nullable(Uuid())),
    run_ids: Type.Optional(Nullable(Type.Array(Uuid(), { minItems: 1, maxItems: 1_000 }))),
    status: Type.Optional(Nullable(OneOf(['pending', 'running', 'all'], {
      description: 'All runs with this status, instead of `thread_id` and `run_ids`.',
    }))),
    filter: Type.Optional(Nullable(ThreadConditions)),
    dry_run: Type.Optional(Nullable(
      Type.Boolean({ description: 'Only count what would be cancelled; with status or filter.' }),
    )),
  }, { examples: [{ status: 'pending' }] }),
  answer: CancelledRuns,
  silent: { 204: 'They are cancelled.' },
})

/** Conditions and page of a search for runs. */
export type SearchRuns = Body<typeof searchRuns>
/** The runs that are cancelled. */
export type CancelRuns = Body<typeof cancelRuns>
/** A run as a search finds it, or what `select` names of it. */
export type RunOfTenant = Value<typeof RunOfTenant>
