/** Common code of routes: schemas that check and document their requests, and how they answer. */

import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyTypeProvider,
  RawServerDefault } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Static, TObject, TSchema } from 'typebox'

import type { Access, AnswerHeader } from '../../api/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { Quotas, ReadQuota } from '../../limits/index.ts'
import type { MakeFeedbackLinks, Operations } from '../operations/index.ts'
import type { ListSchema } from '../schema/list-checker.ts'
import type { ConnectionTicker } from './connections/connection-ticker.ts'
import { sendRows } from './list-reply.ts'

/** Gives handlers the types of their checked requests. */
export interface Schemas extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  readonly serializer: unknown
}

/** The Fastify instance of the front door, whose handlers get checked types. */
export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse,
  FastifyBaseLogger, Schemas>

/** Parts that the front door passes to every route, over REST and over the typed API. */
export interface RouteParts extends Omit<Operations, 'fireCron'> {
  readonly ticker: ConnectionTicker
  readonly quotas: Pick<Quotas, 'stream'>
  /** The memory that reads share. */
  readonly reads: ReadQuota
  /** Makes links for feedback on runs; by default, nobody asks for feedback. */
  readonly feedbackLinks?: MakeFeedbackLinks | undefined
  /** False if streams of runs have no event `end`. */
  readonly streamEnd?: boolean | undefined
}

interface RouteWords {
  readonly tag: 'Threads' | 'State' | 'Runs' | 'Stateless runs' | 'Deployments' | 'Server'
  readonly summary: string
  readonly params?: TObject
  readonly querystring?: TObject
  /** Request headers that only some routes read. */
  readonly headers?: TObject
  readonly body?: TObject | ListSchema
  /** Schema name of a good answer, with `[]` for a list. Without it the answer is a 204. */
  readonly answer?: string
  /** Description of the events of an answer, if they are not those of a run. */
  readonly events?: string
  /** Headers that only some good answers have. */
  readonly returns?: readonly AnswerHeader[]
  /** Good answers without a body, and what each status means. */
  readonly silent?: Readonly<Record<number, string>>
}

const answerHeaders: Readonly<
  Record<AnswerHeader | 'x-request-id' | 'retry-after', string>
> = {
  'content-location': 'The path of the run.',
  location: 'Where to resume the stream after a broken connection, with `Last-Event-ID`.',
  'x-heddle-warning': 'What the run does not do, although it starts: breakpoints at unknown nodes.',
  'x-pagination-total': 'How many results there are in all.',
  'x-pagination-next': 'The offset of the next page, if there is one.',
  'x-pagination-cursor': 'What `cursor` takes for the next page, if there is one.',
  'x-request-id': 'The id of the request in logs: the one that it was sent with, or a new one.',
  'retry-after': 'How many seconds to wait before a retry, if a retry may help.',
}

type Documenting = 'tag' | 'answer' | 'events' | 'returns' | 'silent'

/**
 * Declares the access and the schemas of a route. Schemas of headers and answers only document. An
 * `operationId` must never change: it is the name of the call in generated clients.
 */
export function route<Words extends RouteWords>(access: Access, operationId: string,
  words: Words): { schema: Omit<Words, Documenting>; config: { access: Access } } {
  const { tag, answer, events, returns = [], silent, ...checked } = words
  const headers = headersNamed(...returns, 'x-request-id')
  const silents = Object.entries(silent ?? (answer === undefined ? { 204: 'Done.' } : {}))
    .map(([status, description]) => [status, { description, type: 'null', headers }] as const)
  const good = answer === undefined ? {} : { 200: { ...goodAnswer(answer, events), headers } }
  const response = { ...good, ...Object.fromEntries(silents), default: failureAnswer }
  const open = access === 'public' && { security: [] }
  return { schema: { ...checked, operationId, tags: [tag], response, ...open }, config: { access } }
}

/** The `answer` of routes that stream server-sent events. */
export const eventStream = 'text/event-stream'

const runEvents = 'Server-sent events: `event` is the stream mode, `data` one line of JSON, `id` ' +
  'what `Last-Event-ID` takes. `metadata` comes first; `error` is {error, message}. A clean end ' +
  'means that the run is over.'

/** Documents a good answer: a record, a list of them for `…[]`, or a stream of events. */
export function goodAnswer(answer: string, events = runEvents): object {
  if (answer === eventStream) {
    const schema = { type: 'string', description: events }
    return { description: 'The events.', content: { [eventStream]: { schema } } }
  }
  const one = { $ref: `${answer.replace('[]', '')}#` }
  return answer.endsWith('[]') ? { description: 'A list.', type: 'array', items: one } : one
}

/** Documents the headers of answers that have these names. */
export function headersNamed(...names: readonly (keyof typeof answerHeaders)[]): object {
  return Object.fromEntries(
    names.map((name) => [name, { type: 'string', description: answerHeaders[name] }]),
  )
}

/** Documents the answer to a request that failed. */
export const failureAnswer = { $ref: 'Error#',
  headers: headersNamed('x-request-id', 'retry-after') }

interface Page<Row> {
  readonly rows: readonly Row[]
  readonly json: (row: Row) => JsonText
  /** Rows in all pages. */
  readonly total: number
  readonly offset: number
  /** Place where the next page begins, for those that go by places; missing if there is none. */
  readonly cursor?: string | undefined
}

/** Sends a page. Its headers have the total and the offset of the next page. */
export function sendPage<Row>(reply: FastifyReply,
  { rows, json, total, offset, cursor }: Page<Row>): Promise<FastifyReply> {
  const next = offset + rows.length
  void reply.header('x-pagination-total', total)
  if (cursor !== undefined) void reply.header('x-pagination-cursor', cursor)
  if (rows.length > 0 && next < total) void reply.header('x-pagination-next', next)
  return sendRows(reply, rows, json)
}
