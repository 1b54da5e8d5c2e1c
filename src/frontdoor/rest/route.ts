/** What every route has: schemas that check its requests and describe it, and how it answers. */

import type {
  FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyTypeProvider, RawServerDefault,
} from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Static, TObject, TSchema } from 'typebox'

import type { JsonText } from '../../checkpoint/index.ts'
import type { Access } from '../caller.ts'
import type { Operations } from '../operations/index.ts'
import type { Pulse } from '../pulse.ts'
import { arrayText } from './render.ts'

/** Gives handlers the types of what their schemas let through. */
export interface Schemas extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  readonly serializer: unknown
}

export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse,
  FastifyBaseLogger, Schemas>

/** What routes are made over. */
export interface RouteParts extends Operations {
  readonly pulse: Pulse
}

interface RouteWords {
  readonly tag: 'Assistants' | 'Threads' | 'State' | 'Runs' | 'Stateless runs' | 'Server'
  readonly summary: string
  readonly params?: TObject
  readonly querystring?: TObject
  readonly body?: TObject
  /** The schema of a good answer by its name, a list of them with `[]`; 204 without any. */
  readonly answer?: string
}

/**
 * What the route does, and its schemas. That of the answer only describes: replies leave as is.
 * Clients that are generated from the description call it by its `operationId`, which stays.
 */
export function route<Words extends RouteWords>(access: Access, operationId: string, words: Words):
  { schema: Omit<Words, 'tag' | 'answer'>; config: { access: Access } } {
  const { tag, answer, ...checked } = words
  const good = answer === undefined ? { 204: { description: 'Done.', type: 'null' } }
    : { 200: goodAnswer(answer) }
  const failure = { description: 'What was wrong.', $ref: 'Error#' }
  const schema = { ...checked, operationId, tags: [tag], response: { ...good, '4xx': failure } }
  return { schema, config: { access } }
}

/** Of routes that answer with server-sent events. */
export const eventStream = 'text/event-stream'

function goodAnswer(answer: string): unknown {
  if (answer === eventStream) {
    const schema = { type: 'string', description: 'Server-sent events, `metadata` first.' }
    return { description: 'The events of the run.', content: { [eventStream]: { schema } } }
  }
  const one = { $ref: `${answer.replace('[]', '')}#` }
  if (!answer.endsWith('[]')) return { description: 'The answer.', ...one }
  return { description: 'The answer.', type: 'array', items: one }
}

export function sendJson(reply: FastifyReply, text: JsonText): FastifyReply {
  return reply.type('application/json').send(text)
}

interface Page<Row> {
  readonly rows: readonly Row[]
  readonly json: (row: Row) => JsonText
  /** How many there are in all. */
  readonly total: number
  readonly offset: number
}

/** A page and, in its headers, where it stands. */
export function sendPage<Row>(reply: FastifyReply, { rows, json, total, offset }: Page<Row>):
  FastifyReply {
  const next = offset + rows.length
  void reply.header('x-pagination-total', total)
  if (rows.length > 0 && next < total) void reply.header('x-pagination-next', next)
  return sendJson(reply, arrayText(rows, json))
}
