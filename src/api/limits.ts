/** Limits and quotas: what a caller has left, and who is refused. */

import { Type } from 'typebox'

import { Nullable, Text, Time } from './json.ts'
import { operation } from './operation.ts'
import type { Value } from './operation.ts'

const Whole = (description: string) => Type.Integer({ description })

const Row = Type.Object({
  id: Text(),
  words: Type.String({ description: 'What is counted.' }),
  category: Text(),
  pattern: Type.String({ description: 'The requests, as the specification writes them.' }),
  limit: Whole('Requests in a window.'),
  window_s: Type.Number(),
  remaining: Whole('Requests that are left now.'),
  reset_s: Whole('Seconds until there is more; 0 if nothing is used.'),
  refused: Whole('Refusals since the servers started, as far as they remember.'),
})

const LimitUse = Type.Object({
  rows: Type.Array(Row, { description: 'The limits of the caller.' }),
  quotas: Type.Array(Type.Object({
    name: Text(),
    words: Text(),
    limit: Nullable(Type.Integer({ description: 'Null for none.' })),
    used: Type.Integer(),
  }), { description: 'The quotas of the tenant.' }),
  enabled: Type.Boolean({ description: 'Whether requests are charged to limits.' }),
}, { $id: 'LimitUse', description: 'What the caller may do, and how much of it is used.' })

const RefusedCallers = Type.Object({
  callers: Type.Array(Type.Object({
    key_id: Type.Optional(Text()),
    user: Type.Optional(Text()),
    address: Type.Optional(Text()),
    row: Type.String({ description: 'The id of the limit.' }),
    refused: Type.Integer(),
    last: Time(),
  })),
}, { $id: 'RefusedCallers', description: 'Callers that limits refused, the last ones first.' })

export const getLimits = operation('GET', '/limits', {
  access: 'self',
  summary: 'Get the limits of the caller, and how much of them is used',
  query: Type.Object({
    key: Type.Optional(
      Type.String({ maxLength: 64,
        description: 'The id of another API key of the tenant; only for admins.' }),
    ),
  }),
  answer: LimitUse,
})

export const listRefusedCallers = operation('GET', '/limits/refused', {
  access: 'admin',
  summary: 'List the callers of the tenant that limits refused',
  answer: RefusedCallers,
})

/** A limit, and how much of it is left. */
export type LimitRow = Value<typeof Row>
/** Limits of a caller, with their use. */
export type LimitReport = Value<typeof LimitUse>
/** Callers that limits refused. */
export type RefusedCallers = Value<typeof RefusedCallers>
