/** Answers to requests that failed. */

import { Type } from 'typebox'

import { errorCodes } from '../errors.ts'
import { Uuid } from './json.ts'

/** Member of answers that names what the server depends on. */
export const dependencies = Type.Optional(
  Type.Record(Type.String(), Type.Object({ ok: Type.Boolean(), ms: Type.Integer() }), {
    description: 'What the server depends on, if `check_db` is set.',
  }),
)

/** Schema of the answer to a request that failed. It documents, and changes no answer. */
export const Failure = Type.Object({
  detail: Type.String({ description: 'A sentence for people.' }),
  message: Type.String({ description: 'The same sentence.' }),
  code: Type.String({ description: `What went wrong, for programs: ${errorCodes.join(', ')}.` }),
  errors: Type.Optional(Type.Array(
    Type.Object({ field: Type.String(), message: Type.String() }),
    { description: 'Every field that is wrong.' },
  )),
  admitted: Type.Optional(Type.Array(Type.Object({ run_id: Uuid(), thread_id: Uuid() }), {
    description: 'What was done, if only a part was.',
  })),
  url: Type.Optional(Type.String({ description: 'The URL of the region that knows the key.' })),
  dependencies,
  error: Type.Optional(Type.String({ description: '`Too Many Requests`, for a limit.' })),
  limit: Type.Optional(Type.Object(
    { row: Type.String(), count: Type.Integer(), intervalSeconds: Type.Number() },
    { description: 'The limit that was reached.' },
  )),
}, { $id: 'Error', description: 'What is wrong, and what to do about it.', examples: [{
  detail: 'assistant_id: is required.',
  message: 'assistant_id: is required.',
  code: 'invalid',
  errors: [{ field: 'assistant_id', message: 'is required' }],
}] })
