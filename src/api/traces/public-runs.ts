/** Requests of anybody who has the link of a trace or a conversation. */

import { Type } from 'typebox'

import { Feedback } from '../feedback.ts'
import { Offset, Text, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import { RunPage, RunPageV2, TracedRun, TracedRunV2 } from './run-json.ts'
import { RunsQuery, RunsQueryV2 } from './run-questions.ts'

const token = { token: Text(100) }
const ByToken = Type.Object(token)
const RunByToken = Type.Object({ ...token, id: Text() })

export const queryPublicRuns = operation('POST', '/api/v1/public/:token/runs/query', {
  access: 'public',
  summary: 'Find runs of what a link names',
  params: ByToken,
  body: RunsQuery,
  answer: RunPage,
})

export const listPublicRuns = operation('GET', '/api/v1/public/:token/runs', {
  access: 'public',
  summary: 'List the runs of what a link names',
  params: ByToken,
  query: Type.Object({ share_token: Type.Optional(Text()),
    id: Type.Optional(Type.Array(Uuid(), { maxItems: 1_000 })) }),
  answer: Type.Array(TracedRun),
})

export const getPublicRoot = operation('GET', '/api/v1/public/:token/run', {
  access: 'public',
  summary: 'Get the root of what a link names',
  params: ByToken,
  answer: TracedRun,
})

export const getPublicRun = operation('GET', '/api/v1/public/:token/run/:id', {
  access: 'public',
  summary: 'Get a run of what a link names',
  params: RunByToken,
  answer: TracedRun,
})

export const listPublicFeedback = operation('GET', '/api/v1/public/:token/feedbacks', {
  access: 'public',
  summary: 'List the feedback on what a link names',
  params: ByToken,
  query: Type.Object({
    run: Type.Optional(Type.Array(Uuid(), { maxItems: 100 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
    offset: Type.Optional(Offset()),
  }),
  answer: Type.Array(Feedback),
})

export const queryPublicRunsV2 = operation('POST', '/api/v2/public/:token/runs/query', {
  access: 'public',
  summary: 'Find runs of what a link names',
  params: ByToken,
  body: RunsQueryV2,
  answer: RunPageV2,
})

export const getPublicRunV2 = operation('GET', '/api/v2/public/:token/run/:id', {
  access: 'public',
  summary: 'Get a run of what a link names',
  params: RunByToken,
  query: Type.Object({ start_time: Type.Optional(Text()),
    selects: Type.Optional(Type.Array(Text(), { maxItems: 200 })) }),
  answer: TracedRunV2,
})
