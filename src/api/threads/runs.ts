/** Runs: executions of a graph on a thread. */

import { Type } from 'typebox'

import { Limit, Offset, OneOf, SomeOf, Text, Time, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Body, Query, Value } from '../operation.ts'
import { CreationHeaders } from '../run-content.ts'
import { aboutBody, CancelAction, joining, Run, runEvents, runFields, RunResult, RunStatus,
  StreamQuery, threadRunContent } from './run-parts.ts'
import { ofThread } from './thread-parts.ts'

const FoundRun = Type.Partial(Run, { $id: 'FoundRun',
  description: 'All fields, or those that `select` names.' })

const RunLogs = Type.Object({
  lines: Type.Array(Type.Object({
    seq: Type.Integer({ description: 'Counts the lines of the run.' }),
    time: Time(),
    level: OneOf(['debug', 'info', 'warn', 'error']),
    text: Text(),
    node: Type.Optional(Text()),
    attempt: Type.Integer(),
  })),
  dropped: Type.Integer({ description: 'Lines that were written and are not kept any more.' }),
  truncated: Type.Boolean({ description: 'Whether more lines are kept than these.' }),
  kept: OneOf(['memory'], { description: 'Where: they are gone when the server restarts, and ' +
    'when the thread moves to another member.' }),
}, { $id: 'RunLogs', description: 'The lines, oldest first.' })

const RunEffects = Type.Object({
  effects: Type.Array(Type.Object({
    name: Type.String({ description: 'The name, or the pattern of HTTP calls, of its rule.' }),
    ordinal: Type.Integer({ description: 'Counts those of one name in their task.' }),
    strength: OneOf(['once', 'keep'], {
      description: 'keep also where only an earlier run of its step has noted its begin.',
    }),
    status: OneOf(['done', 'unknown', 'failed'], {
      description: 'unknown: it was begun, and has not ended yet, or nobody knows how.',
    }),
    key: Type.Union([Text(), Type.Null()], { description: 'Its Idempotency-Key.' }),
    begun_at: Type.Union([Time(), Type.Null()]),
    settled_at: Type.Union([Time(), Type.Null()]),
    decision: Type.Union([OneOf(['done', 'do', 'fail', 'unclear']), Type.Null()], {
      description: 'What a person said.',
    }),
    decided_at: Type.Union([Time(), Type.Null()]),
    checkpoint_ns: Text(),
    checkpoint_id: Type.String({ description: 'The checkpoint that its task was made from.' }),
    task_id: Text(),
  })),
  truncated: Type.Boolean({ description: 'Whether there may be more than these.' }),
}, { $id: 'RunEffects', description: 'Work of a run that happens once, oldest first.' })

const creation = {
  ...ofThread,
  access: 'change',
  headers: CreationHeaders,
  body: Type.Object(threadRunContent, aboutBody),
  returns: ['content-location', 'x-heddle-warning'],
} as const

const one = { params: Type.Object({ ...ofThread.params.properties, run_id: Uuid() }) }

export const createRun = operation('POST', '/threads/:thread_id/runs', {
  asks: 'threads:create_run',
  ...creation,
  summary: 'Create a run in the background',
  answer: Run,
})

export const streamRun = operation('POST', '/threads/:thread_id/runs/stream', {
  asks: 'threads:create_run',
  ...creation,
  summary: 'Create a run and stream its events',
  query: StreamQuery,
  events: runEvents,
  returns: [...creation.returns, 'location'],
})

export const waitRun = operation('POST', '/threads/:thread_id/runs/wait', {
  asks: 'threads:create_run',
  ...creation,
  summary: 'Create a run and wait for its result',
  answer: RunResult,
})

export const joinRun = operation('GET', '/threads/:thread_id/runs/:run_id/join', {
  asks: 'threads:read',
  ...one,
  access: 'read',
  summary: 'Wait for the result of a run',
  query: Type.Object({ cancel_on_disconnect: Type.Optional(Type.Boolean()) }),
  answer: RunResult,
  returns: ['content-location'],
})

export const joinRunStream = operation('GET', '/threads/:thread_id/runs/:run_id/stream', {
  asks: 'threads:read',
  ...one,
  ...joining,
  access: 'read',
  summary: 'Stream the events of a run, from where a client left off',
  returns: ['content-location', 'location'],
})

export const listRuns = operation('GET', '/threads/:thread_id/runs', {
  asks: ['threads:search', 'threads:read'],
  ...ofThread,
  access: 'read',
  summary: 'List the runs of a thread, newest first',
  query: Type.Object({
    limit: Type.Optional(Limit()),
    offset: Type.Optional(Offset()),
    status: Type.Optional(RunStatus()),
    select: Type.Optional(SomeOf(runFields)),
  }),
  answer: Type.Array(FoundRun),
  whole: Type.Array(Run),
})

export const getRun = operation('GET', '/threads/:thread_id/runs/:run_id', {
  asks: 'threads:read',
  ...one,
  access: 'read',
  summary: 'Get a run',
  answer: Run,
})

export const getRunLogs = operation('GET', '/threads/:thread_id/runs/:run_id/logs', {
  asks: 'threads:read',
  ...one,
  access: 'read',
  summary: 'Get the last lines that the code of a run wrote to its console',
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
    after: Type.Optional(
      Type.Integer({ minimum: 0,
        description: 'Only lines after this `seq`, from there on; by default the last ones.' }),
    ),
  }),
  answer: RunLogs,
})

export const getRunEffects = operation('GET', '/threads/:thread_id/runs/:run_id/effects', {
  asks: 'threads:read',
  ...one,
  access: 'read',
  summary: 'Get the effects of a run that happen once',
  answer: RunEffects,
})

export const deleteRun = operation('DELETE', '/threads/:thread_id/runs/:run_id', {
  asks: 'threads:delete',
  ...one,
  access: 'change',
  summary: 'Delete a run; a run in progress is interrupted first',
})

// `wait` only changes the status of the answer.
export const cancelRun = operation('POST', '/threads/:thread_id/runs/:run_id/cancel', {
  asks: 'threads:update',
  ...one,
  access: 'change',
  summary: 'Cancel a run',
  query: Type.Object({
    wait: Type.Optional(Type.Boolean({ default: false })),
    action: Type.Optional(CancelAction()),
    reason: Type.Optional(OneOf(['taken'], {
      description: 'Another run has taken in the input; only with the action `interrupt`.',
    })),
  }),
  status: 202,
  silent: { 202: 'It is cancelled.', 204: 'The same, if `wait` is set.' },
})

/** A run as a client makes it on a thread. */
export type CreateRun = Body<typeof createRun>
/** Conditions and page of a list of runs. */
export type ListRuns = Query<typeof listRuns>
/** The kind of a cancellation, and its reason. */
export type CancelRun = Query<typeof cancelRun>
/** The lines of a log that are read. */
export type ReadRunLogs = Query<typeof getRunLogs>
/** The last lines of a run. */
export type RunLogs = Value<typeof RunLogs>
/** The effects of a run. */
export type RunEffects = Value<typeof RunEffects>
