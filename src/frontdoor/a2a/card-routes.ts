/** The routes of agent cards. Cards change seldom, so they may be kept for a while. */

import { createHash } from 'node:crypto'

import type { FastifyReply, FastifyRequest } from 'fastify'

import type { AssistantRow } from '../../../proto/gen/storage/v1/row.ts'
import { findAgentCard, getAgentCard } from '../../api/index.ts'
import { sendJson } from '../http/list-reply.ts'
import type { App, RouteParts } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import type { LoginOf } from '../login/index.ts'
import { calledOrigin, mountedPath } from '../mount/index.ts'
import type { FromProxy } from '../mount/index.ts'
import { invalid } from '../schema/validation.ts'
import { agentCard, cardOf, cardOfBoth, keySecurity } from './agent-card.ts'
import type { AgentCard, CardPlace } from './agent-card.ts'
import type { SignCard } from './card-signature.ts'

/** Options of cards. */
export interface CardOptions {
  /** Credentials of the server's own. */
  readonly auth: 'none' | 'keys'
  /** Finds the login of the project that a request calls; by default there is none. */
  readonly loginOf?: LoginOf
  /** Signs the cards; undefined if no key is named. */
  readonly sign?: SignCard | undefined
}

/** Operations that cards are made with. */
export interface CardParts extends Pick<RouteParts, 'assistants' | 'runs'> {
  /** True for a request from a proxy that says by which address it was called. */
  readonly isFromProxy?: FromProxy | undefined
}

/** Seconds for which a client need not ask again. */
const keptSeconds = 300

/** Adds the routes. */
export function cardRoutes(app: App, parts: CardParts, options: CardOptions): void {
  const { assistants } = parts
  const send = async (request: FastifyRequest, reply: FastifyReply, name: string) => {
    const row = await assistants.agent(request.caller, name)
    const auth = await securityOf(request, options)
    const card = cardFor(request, row, { ...parts, auth })
    return sendCard(request, reply, { card: shownCard(request, card, auth, options), auth })
  }
  serve(app, getAgentCard, (request, reply) => send(request, reply, request.params.assistant_id))
  serve(app, findAgentCard, async (request, reply) => {
    const { query: { assistant_id: name }, caller } = request
    return send(request, reply, name ?? first(await assistants.graphIds(caller)))
  })
}

/** The default agent: of the first graph that `langgraph.json` names. Throws `invalid` for none. */
function first(graphIds: readonly string[]): string {
  const [graphId] = graphIds
  if (graphId !== undefined) return graphId
  throw invalid([{ field: 'assistant_id', message: 'is required, because there is no graph' }])
}

/** Credentials for a request: those of the login of its project, or those of the server. */
export async function securityOf(request: FastifyRequest,
  { auth, loginOf }: Pick<CardOptions, 'auth' | 'loginOf'>): Promise<CardPlace['auth']> {
  const called = await loginOf?.(request)
  if (called !== undefined) return called.settings.openapi ?? 'undocumented'
  return auth === 'keys' ? keySecurity : 'open'
}

/** The card of an assistant for a request, in the form of 1.0. */
export function cardFor(request: FastifyRequest, row: AssistantRow,
  { auth, runs, isFromProxy }: Pick<CardPlace, 'auth'> & Pick<CardParts,
    'runs' | 'isFromProxy'>): AgentCard {
  const path = mountedPath(request, `/a2a/${row.assistantId}`)
  return agentCard(row, { url: calledOrigin(request, isFromProxy) + path, auth,
    pushNotifications: runs.webhooks.offers?.(request.caller.tenant) ?? true })
}

/**
 * In the form of the version that is asked for. Without one it is for clients of both, unless it is
 * signed: only what 1.0 has can be.
 */
function shownCard(request: FastifyRequest, card: AgentCard, auth: CardPlace['auth'],
  options: Pick<CardOptions, 'sign'>): AgentCard {
  const version = String(request.headers['a2a-version'] ?? '')
  if (version.startsWith('0.3')) return cardOf(card, '0.3', auth)
  if (options.sign !== undefined) return options.sign(card)
  return version.startsWith('1.') ? card : cardOfBoth(card, auth)
}

function sendCard({ headers }: FastifyRequest, reply: FastifyReply,
  { card, auth }: { readonly card: AgentCard; readonly auth: CardPlace['auth'] }
): ReturnType<typeof sendJson> | FastifyReply {
  const text = JSON.stringify(card)
  // The signature of an EC key is another one each time.
  const { signatures: _, ...signed } = card
  const etag = `"${createHash('sha256').update(JSON.stringify(signed)).digest('base64url')}"`
  void reply.header('etag', etag).header('vary', 'a2a-version')
    .header('cache-control', `${auth === 'open' ? 'public' : 'private'}, max-age=${keptSeconds}`)
  const known = String(headers['if-none-match'] ?? '').split(',').map((each) => each.trim())
  if (known.includes(etag) || known.includes(`W/${etag}`)) return reply.code(304).send()
  return sendJson(reply, text)
}
