/** Common code of routes: the parts that they get, and pages of rows as their answers. */

import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyTypeProvider,
  RawServerDefault } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Static, TSchema } from 'typebox'

import type { JsonText } from '../../checkpoint/index.ts'
import type { Quotas, ReadQuota } from '../../limits/index.ts'
import type { AllowedOperations } from '../authorise/index.ts'
import type { MakeFeedbackLinks } from '../operations/index.ts'
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
export interface RouteParts extends AllowedOperations {
  readonly ticker: ConnectionTicker
  readonly quotas: Pick<Quotas, 'stream'>
  /** The memory that reads share. */
  readonly reads: ReadQuota
  /** Makes links for feedback on runs; by default, nobody asks for feedback. */
  readonly feedbackLinks?: MakeFeedbackLinks | undefined
  /** False if streams of runs have no event `end`. */
  readonly streamEnd?: boolean | undefined
}

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
