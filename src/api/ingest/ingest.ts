/** Operations on runs as tracers send them. Their bodies are read in the ingest thread. */

import { Type } from 'typebox'

import { JsonObject, Text } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'

const Faults = Type.Optional(Type.Array(Type.Object({ id: Text(), reason: Text() })))

const Ingested = Type.Object({
  message: Text(),
  // Operations that failed alone.
  rejected: Faults,
  // Parts of accepted operations that were too long and were cut.
  cut: Faults,
}, { $id: 'Ingested', description: 'The operations are kept, but for those that it names.' })

const taken = { access: 'change', raw: true, answer: Ingested, status: 202 } as const

export const ingestParts = operation('POST', '/api/v1/runs/multipart', {
  ...taken,
  summary: 'Create and change runs, in a multipart body',
})

export const ingestBatch = operation('POST', '/api/v1/runs/batch', {
  ...taken,
  summary: 'Create and change runs',
  body: Type.Object({ post: Type.Optional(Type.Array(JsonObject())),
    patch: Type.Optional(Type.Array(JsonObject())) }),
})

export const ingestRun = operation('POST', '/api/v1/runs', {
  ...taken,
  summary: 'Create a run',
  body: JsonObject(),
})

export const ingestRunChange = operation('PATCH', '/api/v1/runs/:id', {
  ...taken,
  summary: 'Change a run',
  body: JsonObject(),
})

/** The answer to operations on runs. */
export type Ingested = Value<typeof Ingested>
