/** The recorded outgoing calls of a run. */

import { Type } from 'typebox'

import { Nullable, OneOf, Text, Time, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'
import { ofThread } from './thread-parts.ts'

const Bytes = () => Type.Integer({ minimum: 0 })
const Milliseconds = () => Type.Number({ minimum: 0 })

const CallSite = Type.Object({
  step: Type.Integer({ description: 'The superstep, counted by the graph of the node.' }),
  nodes: Type.Array(Text(), { description: 'Names of the nodes from the root on.' }),
  attempt: Type.Integer({ description: 'The attempt of the node, from 1.' }),
})

const call = {
  no: Type.Integer({ description: 'Number of the call in its run, from 0.' }),
  site: Nullable(CallSite),
  ordinal: Type.Integer({ description: 'Calls that the same attempt of the node made before.' }),
  attempt: Type.Integer({ description: 'The attempt of the run.' }),
  client: OneOf(['fetch', 'undici', 'http']),
  method: Text(),
  url: Type.String({ description: 'Values of parameters that look like keys are masked.' }),
  started_at: Time(),
  head_ms: Nullable(Type.Number({ minimum: 0, description: 'Until the head of the answer came.' })),
  ms: Milliseconds(),
  status: Nullable(Type.Integer({ description: 'Null if no answer came.' })),
  end: OneOf(['done', 'refused', 'timed_out', 'reset', 'aborted', 'open']),
  failure: Nullable(Type.Object({ code: Text(), message: Text() })),
  request_bytes: Bytes(),
  answer_bytes: Bytes(),
  is_cut: Type.Boolean({ description: 'Whether a body was too large to be kept.' }),
}

const RecordedCallOfRun = Type.Object(call, { $id: 'RecordedCall' })

const RunCalls = Type.Object({
  is_recorded: Type.Boolean({
    description: 'False if the run was not recorded, made no call, or is not kept any more.',
  }),
  is_cut: Type.Boolean({ description: 'Whether calls or bodies are missing.' }),
  calls: Type.Array(RecordedCallOfRun, { description: 'In the order in which they began.' }),
}, { $id: 'RunCalls', description: 'The recorded outgoing calls of a run.' })

const CallBody = Type.Object({
  bytes: Bytes(),
  is_cut: Type.Boolean(),
  encoding: OneOf(['utf8', 'base64']),
  text: Type.String({ description: 'Secrets are stars. Empty if it is cut.' }),
  chunks: Type.Integer({ description: 'Parts in which it came.' }),
})

const CallBodies = Type.Object({
  ...call,
  headers: Type.Array(Type.Tuple([Text(), Text()]), {
    description: 'The headers of the answer that are kept. Those of the request never are.',
  }),
  request: CallBody,
  answer: CallBody,
}, { $id: 'RecordedCallBodies', description: 'One call with its two bodies.' })

const one = { ...ofThread.params.properties, run_id: Uuid() }

export const listRunCalls = operation('GET', '/threads/:thread_id/runs/:run_id/calls', {
  asks: 'threads:read',
  ...ofThread,
  params: Type.Object(one),
  access: 'read',
  summary: 'List the recorded outgoing calls of a run',
  answer: RunCalls,
})

export const getRunCall = operation('GET', '/threads/:thread_id/runs/:run_id/calls/:no', {
  asks: 'threads:read',
  ...ofThread,
  params: Type.Object({ ...one, no: Type.String({ pattern: '^\\d{1,6}$' }) }),
  access: 'read',
  summary: 'Get a recorded call of a run with its two bodies',
  answer: CallBodies,
})

/** The recorded calls of a run. */
export type RunCalls = Value<typeof RunCalls>
/** A recorded call without its bodies. */
export type RunCall = Value<typeof RecordedCallOfRun>
/** A recorded call with its bodies. */
export type RunCallBodies = Value<typeof CallBodies>
/** A body of a recorded call. */
export type RunCallBody = Value<typeof CallBody>
