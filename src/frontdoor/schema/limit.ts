/** The schemas of requests and answers about limits. */

import { Type } from 'typebox'

import { Nullable } from './json.ts'

/** Query of requests for limits. */
export const ReadLimits = Type.Object({
  key: Type.Optional(
    Type.String({ maxLength: 64,
      description: 'The id of another API key of the tenant; only for admins.' }),
  ),
})

const Whole = (description: string) => Type.Integer({ description })

const LimitUse = Type.Object({
  rows: Type.Array(Type.Object({
    id: Type.String(),
    words: Type.String({ description: 'What is counted.' }),
    category: Type.String(),
    pattern: Type.String({ description: 'The requests, as the specification writes them.' }),
    limit: Whole('Requests in a window.'),
    window_s: Type.Number(),
    remaining: Whole('Requests that are left now.'),
    reset_s: Whole('Seconds until there is more; 0 if nothing is used.'),
    refused: Whole('Refusals since the servers started, as far as they remember.'),
  }), { description: 'The limits of the caller.' }),
  quotas: Type.Array(Type.Object({
    name: Type.String(),
    words: Type.String(),
    limit: Nullable(Type.Integer({ description: 'Null for none.' })),
    used: Type.Integer(),
  }), { description: 'The quotas of the tenant.' }),
  enabled: Type.Boolean({ description: 'Whether requests are charged to limits.' }),
}, { $id: 'LimitUse', description: 'What the caller may do, and how much of it is used.' })

const RefusedCallers = Type.Object({
  callers: Type.Array(Type.Object({
    key_id: Type.Optional(Type.String()),
    user: Type.Optional(Type.String()),
    address: Type.Optional(Type.String()),
    row: Type.String(),
    refused: Type.Integer(),
    last: Type.String({ format: 'date-time' }),
  })),
}, { $id: 'RefusedCallers', description: 'Callers that limits refused, the last ones first.' })

/** Schemas of answers about limits. They only document. */
export const limitAnswers = [LimitUse, RefusedCallers]
