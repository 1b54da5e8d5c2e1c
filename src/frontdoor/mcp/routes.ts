/**
 * The Model Context Protocol over streamable HTTP: assistants as tools.
 *
 * The server of the official library is not used. It keeps sessions, streams and their events in
 * the memory of one process, where here any member answers, and it sends its answers past what
 * bounds all others: limits, quotas, slow readers. Six methods are left, which call the same
 * operations as every other wire.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { callTools, endToolSession, streamTools } from '../../api/index.ts'
import { isOneOf } from '../../json/index.ts'
import { leftSignal, sendJson } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import { holdStream } from '../rest/run-reply.ts'
import { answerText } from './call.ts'
import type { McpParts } from './call.ts'
import { callTool } from './call-tool.ts'
import { streamSession, subscribe } from './listening.ts'
import type { ListeningParts } from './listening.ts'
import { errorText, idIn, readMessage } from './message.ts'
import type { Request, RequestId } from './message.ts'
import { methodsOf } from './methods.ts'
import { abilitiesOf, agreedRevision, eraOf, modernAbilities, revisions } from './revision.ts'
import type { Era } from './revision.ts'
import { asRpcError, isOfHttp, RpcError } from './rpc-error.ts'
import { newSessionId, sessionOf } from './session.ts'
import type { Session } from './session.ts'
import { endSession, resumeStream, takeMessage } from './session-messages.ts'
import { ToolNotices } from './tool-notices.ts'
import { listTools } from './tools.ts'

/** Time for which a client may use a list of tools without another look. */
const listedMs = 5_000
/** The same of what the server says of itself. */
const discoveredMs = 3_600_000

const capabilities = { tools: { listChanged: true } }
const instructions = 'Each tool is an assistant: its arguments are the input of a graph, and its ' +
  'result is the state at the end of a run.'

/** Adds the routes. Call after the REST routes, whose body reader they use. */
export function mcpRoutes(app: App, options: McpParts): void {
  const parts = { ...options, notices: new ToolNotices(options.assistants, options.env) }
  serve(app, callTools, async (request, reply) => {
    try {
      requireAccepted(request, ['application/json', 'text/event-stream'])
      return await answer(parts, request, reply)
    } catch (error) {
      return refuse(reply, error, idIn(request.body))
    }
  })
  serve(app, streamTools, async (request, reply) => {
    try {
      return await stream(parts, request, reply)
    } catch (error) {
      return refuse(reply, error, undefined)
    }
  })
  serve(app, endToolSession, async (request, reply) => {
    try {
      const session = sessionIn(request)
      if (session === undefined) throw new RpcError('refused', noSession, { status: 400 })
      await endSession(parts, request, session)
    } catch (error) {
      return refuse(reply, error, undefined)
    }
  })
}

const noSession = 'This needs the header Mcp-Session-Id.'

async function answer(parts: ListeningParts, request: FastifyRequest,
  reply: FastifyReply): Promise<FastifyReply> {
  const message = readMessage(request.body)
  const era = eraOf(message, headersOf(request))
  const session = era === 'former' ? sessionIn(request) : undefined
  if (message.kind !== 'request') {
    await takeMessage(parts, request, message, session)
    return reply.code(202).send()
  }
  return era === 'modern'
    ? answerModern(parts, reply, message)
    : answerFormer(parts, reply, message, session)
}

async function answerModern(parts: ListeningParts, reply: FastifyReply,
  request: Request): Promise<FastifyReply> {
  const era = 'modern'
  const { method } = request
  if (!isOneOf(methodsOf.modern, method)) throw unknownMethod(request, 404)
  switch (method) {
    case 'server/discover':
      return send(parts, reply, request, era, { supportedVersions: revisions, capabilities,
        instructions, ttlMs: discoveredMs, cacheScope: 'public' })
    case 'tools/list':
      return send(parts, reply, request, era, { ...await toolsOf(parts, reply, request),
        ttlMs: listedMs, cacheScope: 'private' })
    case 'tools/call':
      return callTool(parts, reply, request, { era, session: undefined,
        ...modernAbilities(request.params) })
    case 'subscriptions/listen':
      return subscribe(parts, reply, request)
  }
}

async function answerFormer(parts: ListeningParts, reply: FastifyReply, request: Request,
  session: Session | undefined): Promise<FastifyReply> {
  const era = 'former'
  const { method } = request
  if (!isOneOf(methodsOf.former, method)) throw unknownMethod(request, 200)
  switch (method) {
    case 'initialize': {
      const { protocolVersion: asked, capabilities: abilities } = request.params
      if (typeof asked !== 'string') {
        throw new RpcError('invalidParams', 'The params must have a protocolVersion.')
      }
      void reply.header('mcp-session-id', newSessionId(abilitiesOf(abilities), parts.env))
      return send(parts, reply, request, era, { protocolVersion: agreedRevision(asked),
        capabilities, serverInfo: { name: 'heddle', title: 'Heddle', version: parts.version },
        instructions })
    }
    case 'ping':
      return send(parts, reply, request, era, {})
    case 'tools/list':
      return send(parts, reply, request, era, await toolsOf(parts, reply, request))
    case 'tools/call':
      return callTool(parts, reply, request, { era, session,
        answersQuestions: session?.answersQuestions ?? false })
  }
}

/** A page of tools. Whoever listens gets a notice when types that it lacks have been read. */
async function toolsOf({ assistants, notices }: ListeningParts, reply: FastifyReply,
  { params }: Request): Promise<object> {
  const { caller } = reply.request
  const { loading, ...page } = await listTools(assistants, caller, params['cursor'],
    leftSignal(reply))
  if (loading === undefined) return page
  void notices.noticeTypes(caller, loading)
  return { ...page, _meta: { 'heddle/typesLoading': true } }
}

async function send({ version }: McpParts, reply: FastifyReply, { id }: Request, era: Era,
  result: object): Promise<FastifyReply> {
  return sendJson(reply, answerText({ id, era }, version, result))
}

/** A stream of a session: of a call that lost its own, or of what changes. */
async function stream(parts: ListeningParts, request: FastifyRequest,
  reply: FastifyReply): Promise<FastifyReply> {
  requireAccepted(request, ['text/event-stream'])
  const session = sessionIn(request)
  if (session === undefined) {
    void reply.header('allow', 'POST')
    throw new RpcError('refused',
      'Without a session there is nothing to stream: send messages by ' +
        'POST.', { status: 405 })
  }
  const { 'last-event-id': last } = request.headers
  if (typeof last !== 'string' || last === '') return streamSession(parts, reply, session.id)
  holdStream(parts, reply)
  return resumeStream(parts, reply, last, session)
}

/** The session that a request names; undefined if it names none. Throws RpcError for no session. */
function sessionIn({ headers }: FastifyRequest): Session | undefined {
  const { 'mcp-session-id': id } = headers
  if (id === undefined) return undefined
  const session = sessionOf(String(id))
  if (session !== undefined) return session
  throw new RpcError('refused', 'There is no such session: begin one with initialize.', {
    status: 404,
  })
}

function headersOf({ headers }: FastifyRequest) {
  const text = (name: string) => {
    const value = headers[name]
    return value === undefined ? undefined : String(value).trim()
  }
  return { version: text('mcp-protocol-version'), method: text('mcp-method'),
    name: text('mcp-name') }
}

/** Throws RpcError if the client takes an answer in none of these types, or not in all of them. */
function requireAccepted({ headers: { accept } }: FastifyRequest, types: readonly string[]): void {
  const accepted = (accept ?? '*/*').toLowerCase().split(',').map((each) =>
    each.split(';')[0]!.trim()
  )
  const takes = (type: string) =>
    [type, '*/*', `${type.split('/')[0]}/*`].some((each) => accepted.includes(each))
  if (types.every(takes)) return
  throw new RpcError('refused', `The header Accept must have ${types.join(' and ')}.`, {
    status: 406,
  })
}

function unknownMethod({ method }: Request, status: number): RpcError {
  return new RpcError('unknownMethod', `There is no method ${method.slice(0, 200)}.`, { status })
}

/** Answers an error by its status if HTTP has one for it, and else as JSON-RPC does. */
function refuse(reply: FastifyReply, error: unknown, id: RequestId | undefined): FastifyReply {
  if (isOfHttp(error)) throw error
  const refusal = asRpcError(error)
  return reply.code(refusal.status).type('application/json').send(errorText(id, refusal))
}
