/** Feedback on runs, the tokens with which anybody may give it, and the meaning of its scores. */

import { Type } from 'typebox'
import type { TObject } from 'typebox'

import { Json, JsonObject, Maybe, Nullable, Offset, Text, Time, Uuid } from './json.ts'
import { operation } from './operation.ts'
import type { Value } from './operation.ts'

const Score = () => Nullable(Type.Union([Type.Number(), Type.Boolean()]))
const Source = () =>
  Nullable(Type.Object({ type: Type.Optional(Text()) }, { additionalProperties: true }))

/** Schema of feedback. Clients keep more with it, and get it back. */
export const Feedback = Type.Object({
  id: Uuid(),
  key: Text(),
  run_id: Nullable(Uuid()),
  trace_id: Nullable(Uuid()),
  session_id: Nullable(Uuid()),
  created_at: Time(),
  modified_at: Time(),
  score: Score(),
  value: Json(),
  comment: Nullable(Text()),
  correction: Json(),
  feedback_source: Source(),
  feedback_group_id: Json(),
  comparative_experiment_id: Json(),
  start_time: Json(),
  extra: Json(),
}, { $id: 'Feedback', additionalProperties: true, description: 'Feedback on a run or a project.' })

const Given = Type.Object({
  id: Maybe(Uuid()),
  key: Type.String({ minLength: 1, maxLength: 180 }),
  run_id: Maybe(Uuid()),
  trace_id: Maybe(Uuid()),
  session_id: Maybe(Uuid()),
  score: Type.Optional(Score()),
  value: Type.Optional(Json()),
  comment: Maybe(Text()),
  correction: Type.Optional(Json()),
  feedback_source: Type.Optional(Source()),
  feedback_config: Maybe(JsonObject()),
}, { additionalProperties: true })

// Its members are checked where they are read.
const AnyObject = Type.Object({}, { additionalProperties: true }) as TObject & {
  readonly static: Record<string, unknown>
}

const Token = Type.Object({ id: Text(), url: Text(), expires_at: Time(), feedback_key: Text() }, {
  $id: 'FeedbackToken',
  description: 'A token; its text and its URL are shown once.',
})
const NewToken = Type.Object({ run_id: Uuid(), feedback_key: Text(180), expires_at: Maybe(Text()),
  expires_in: Maybe(JsonObject()), feedback_config: Maybe(JsonObject()) })

const Key = () => Type.String({ minLength: 1, maxLength: 180 })
const keys = () => Type.Array(Key(), { maxItems: 100, 'x-verbatim': true })
const ConfigBody = Type.Object({
  feedback_key: Key(),
  feedback_config: Maybe(JsonObject({ 'x-max-characters': 48 * 1024 })),
  is_lower_score_better: Maybe(Type.Boolean()),
})
const Config = Type.Object({
  feedback_key: Text(),
  feedback_config: JsonObject(),
  is_lower_score_better: Type.Boolean(),
  tenant_id: Uuid(),
  modified_at: Time(),
}, { $id: 'FeedbackConfig', description: 'The range or the categories of the scores of a key.' })

const Message = Type.Object({ message: Text() })
const texts = () => Type.Optional(Type.Array(Text(1_000), { maxItems: 100, 'x-verbatim': true }))
const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
  offset: Type.Optional(Offset()),
}

const give = {
  access: 'change',
  summary: 'Give feedback; with the same id it replaces itself',
  body: Given,
  raw: true,
  answer: Feedback,
} as const

export const createFeedback = operation('POST', '/api/v1/feedback', give)

export const createFeedbackNow = operation('POST', '/api/v1/feedback/eager', give)

export const listFeedback = operation('GET', '/api/v1/feedback', {
  access: 'read',
  summary: 'List feedback, the newest first',
  query: Type.Object({
    run: Type.Optional(Type.Array(Uuid(), { maxItems: 1_000 })),
    session: Type.Optional(Type.Array(Uuid(), { maxItems: 10 })),
    key: texts(),
    source: texts(),
    ...page,
  }),
  answer: Type.Array(Feedback),
})

export const getFeedback = operation('GET', '/api/v1/feedback/:id', {
  access: 'read',
  summary: 'Get feedback',
  answer: Feedback,
})

export const patchFeedback = operation('PATCH', '/api/v1/feedback/:id', {
  access: 'change',
  summary: 'Change the score, value, correction or comment of feedback: null stays',
  body: AnyObject,
  answer: Feedback,
})

export const deleteFeedback = operation('DELETE', '/api/v1/feedback/:id', {
  access: 'change',
  summary: 'Delete feedback',
  answer: Message,
})

export const createFeedbackTokens = operation('POST', '/api/v1/feedback/tokens', {
  access: 'change',
  summary: 'Make a token, or a list of tokens, with which anybody may give feedback',
  body: Type.Union([NewToken, Type.Array(NewToken, { maxItems: 100 })]),
  raw: true,
  answer: Type.Union([Token, Type.Array(Token)]),
})

export const listFeedbackTokens = operation('GET', '/api/v1/feedback/tokens', {
  access: 'read',
  summary: 'List the tokens of a run',
  query: Type.Object({ run_id: Uuid(), limit: Type.Optional(Type.Integer()),
    offset: Type.Optional(Offset()) }),
  answer: Type.Array(Token),
})

const byToken = {
  access: 'public',
  params: Type.Object({ token: Text(200) }),
  answer: Message,
} as const

export const giveFeedbackByLink = operation('GET', '/api/v1/feedback/tokens/:token', {
  ...byToken,
  summary: 'Give feedback with a token, in the query of its link',
  query: AnyObject,
})

export const giveFeedbackByToken = operation('POST', '/api/v1/feedback/tokens/:token', {
  ...byToken,
  summary: 'Give feedback with a token',
  body: AnyObject,
})

export const listFeedbackConfigs = operation('GET', '/api/v1/feedback-configs', {
  access: 'read',
  summary: 'List the configurations of keys',
  query: Type.Object({ key: Type.Optional(keys()), name_contains: Type.Optional(Text(180)),
    ...page }),
  answer: Type.Array(Config),
})

export const createFeedbackConfig = operation('POST', '/api/v1/feedback-configs', {
  access: 'change',
  summary: 'Create the configuration of a key',
  body: ConfigBody,
  answer: Config,
})

export const patchFeedbackConfig = operation('PATCH', '/api/v1/feedback-configs', {
  access: 'change',
  summary: 'Change the configuration of a key',
  body: ConfigBody,
  answer: Config,
})

export const deleteFeedbackConfigs = operation('DELETE', '/api/v1/feedback-configs', {
  access: 'change',
  summary: 'Delete the configurations of keys',
  query: Type.Object({ feedback_key: keys() }),
})

/** Feedback as a client reads it. */
export type Feedback = Value<typeof Feedback>
/** A token; its text and its URL are shown once. */
export type FeedbackToken = Value<typeof Token>
/** The configuration of a key as a client writes it. */
export type FeedbackConfigBody = Value<typeof ConfigBody>
/** The configuration of a key as a client reads it. */
export type FeedbackConfig = Value<typeof Config>
