/** Stateless runs, each with a hidden thread of the same id, and batches of runs. */

import { Type } from 'typebox'

import { Nullable, OneOf, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Body, Value } from '../operation.ts'
import { CreationHeaders, runContent } from '../run-content.ts'
import { aboutBody, joining, Run, runEvents, RunResult, StreamQuery,
  threadRunContent } from './run-parts.ts'

const content = {
  ...runContent,
  on_completion: Type.Optional(Nullable(OneOf(['delete', 'keep', 'complete', 'continue'], {
    default: 'delete',
    description: 'Whether its hidden thread is deleted or kept; the other ' +
      'two words mean the default.',
  }))),
}

const creation = {
  access: 'change',
  headers: CreationHeaders,
  body: Type.Object(content, aboutBody),
  returns: ['content-location', 'x-heddle-warning'],
} as const

export const createStatelessRun = operation('POST', '/runs', {
  asks: 'threads:create_run',
  ...creation,
  summary: 'Create a stateless run in the background',
  answer: Run,
})

export const streamStatelessRun = operation('POST', '/runs/stream', {
  asks: 'threads:create_run',
  ...creation,
  summary: 'Create a stateless run and stream its events',
  query: StreamQuery,
  events: runEvents,
  returns: [...creation.returns, 'location'],
})

export const waitStatelessRun = operation('POST', '/runs/wait', {
  asks: 'threads:create_run',
  ...creation,
  summary: 'Create a stateless run and wait for its result',
  answer: RunResult,
})

const BatchRun = Type.Object({
  ...threadRunContent,
  ...content,
  thread_id: Type.Optional(Nullable(Uuid())),
}, { ...aboutBody, description: 'Fields may be spelled inCamelCase too.' })

// Each is on the thread that it names, or else a stateless one.
export const createRuns = operation('POST', '/runs/batch', {
  asks: 'threads:create_run',
  access: 'change',
  summary: 'Create several runs in the background, on threads or without',
  headers: CreationHeaders,
  body: Type.Array(BatchRun, { minItems: 1, maxItems: 1_000,
    examples: [[{ assistant_id: 'agent',
      input: { messages: [{ role: 'user', content: 'Hello' }] } }]] }),
  answer: Type.Array(Run),
})

export const joinStatelessRunStream = operation('GET', '/runs/:run_id/stream', {
  asks: 'threads:read',
  ...joining,
  params: Type.Object({ run_id: Uuid() }),
  access: 'read',
  summary: 'Stream the events of a stateless run, from where a client left off',
  returns: ['content-location', 'location'],
})

/** A run as a client makes it without a thread. */
export type CreateStatelessRun = Body<typeof createStatelessRun>
/** A run of a batch: on the thread that it names, or else a stateless one. */
export type BatchRun = Value<typeof BatchRun>
