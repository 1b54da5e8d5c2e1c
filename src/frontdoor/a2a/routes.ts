/** The route of A2A: JSON-RPC calls of agents, over the operations that REST calls. */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

import type { Env } from '../../../cluster/index.ts'
import { callAgent } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { detailsOf } from '../http/exchange.ts'
import type { LongJson } from '../../json/index.ts'
import { whileValid } from '../http/credential-check.ts'
import { answerLate } from '../http/late-answer.ts'
import { leftSignal, sendJson } from '../http/list-reply.ts'
import type { App, RouteParts } from '../http/route.ts'
import { textOf } from '../../raw-json.ts'
import { resultText } from '../json-rpc.ts'
import { serve } from '../http/serve.ts'
import { nameOf } from '../operations/index.ts'
import { holdStream, lastEventId, runCallerOf } from '../rest/run-reply.ts'
import { A2aError, a2aErrorOf, statusOf } from './a2a-error.ts'
import { cancelTask } from './cancel-task.ts'
import { cardOf } from './agent-card.ts'
import { cardFor, cardRoutes, securityOf } from './card-routes.ts'
import type { CardOptions, CardParts } from './card-routes.ts'
import type { AgentContext } from './context.ts'
import type { ToolNames } from './graph-messages.ts'
import { listTasks, pageJson } from './list-tasks.ts'
import { isStreaming } from './methods.ts'
import { badField, detailOf, listParams, sendParams, taskParams } from './params.ts'
import { configWith, pushMethod } from './push-methods.ts'
import { callIn, dialectIn, errorText, idIn } from './rpc.ts'
import type { RpcCall } from './rpc.ts'
import { send } from './send.ts'
import type { Sending, Sent } from './send.ts'
import { findTask, standingOf } from './task-runs.ts'
import { streamTask } from './task-stream.ts'
import { taskView } from './task-view.ts'
import type { TaskDetail } from './task-view.ts'
import { isTerminal, taskJson } from './task.ts'
import type { Task } from './task.ts'

/** Settings of A2A. */
export interface AgentOptions extends CardOptions {
  /** Tools whose results other agents may see; `*` for all. */
  readonly tools: ToolNames
}

/** Parts that the routes need besides those that all routes share. */
export interface AgentParts extends RouteParts, CardParts {
  readonly env: Env
  readonly json: LongJson
  readonly agents: AgentOptions
}

/** Adds the routes. Call after the REST routes, whose body readers they use. */
export function agentRoutes(app: App, parts: AgentParts): void {
  cardRoutes(app, parts, parts.agents)
  serve(app, callAgent, async (request, reply) => {
    try {
      return await answer(parts, request, reply, request.params.assistant_id)
    } catch (error) {
      if (reply.sent || reply.raw.headersSent) throw error
      return sendError(parts, reply, request.body, error)
    }
  }, {
    // A body that is no JSON is answered as JSON-RPC has it.
    errorHandler: (error, request, reply) => {
      const isUnread = error instanceof HeddleError && error.code === 'malformed'
      if (isUnread) return void sendError(parts, reply, undefined, error)
      request.server.errorHandler(error as FastifyError, request, reply)
    },
  })
}

function sendError({ env }: Pick<AgentParts, 'env'>, reply: FastifyReply, body: unknown,
  caught: unknown): ReturnType<typeof sendJson> {
  const error = a2aErrorOf(caught)
  const { code, retry, details } = HeddleError.from(error.cause ?? new HeddleError('invalid'))
  if (code === 'internal') {
    env.log.error('A call of an agent failed for a reason that nobody foresaw.', { error: caught,
      ...detailsOf(reply.request) })
  }
  if (retry !== 'no') void reply.header('retry-after', String(details.retryAfterSeconds ?? 1))
  const text = errorText(idIn(body), error, dialectIn(body))
  const status = statusOf(error)
  // Clients that read events refuse any other answer, and would not see the reason.
  return status === 200 && readsOnlyEvents(reply.request)
    ? reply.type('text/event-stream; charset=utf-8').send(`data: ${text}\n\n`)
    : sendJson(reply.code(status), text)
}

function readsOnlyEvents({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.includes('text/event-stream') && !/application\/json|\*\/\*/.test(accept)
}

async function answer(parts: AgentParts, request: FastifyRequest, reply: FastifyReply,
  name: string): Promise<FastifyReply> {
  const version = request.headers['a2a-version']
  const call = callIn(request.body, typeof version === 'string' ? version : undefined)
  const context = await contextOf(parts, request, reply, name)
  const say = (result: unknown) => sendJson(reply, resultText(call.id, textOf(result)))
  const header = headerOf(request)
  switch (call.action) {
    case 'send':
    case 'stream':
      return sendMessage(parts, { context, call, reply, header })
    case 'get': {
      const params = taskParams(call.params)
      const task = await taskView(context, await findTask(context, params.id),
        detailOf(params, header))
      return say(taskJson(task, call.dialect))
    }
    case 'list': {
      const page = await listTasks(context, listParams(call.params))
      return say(pageJson(page, (task) => taskJson(task, call.dialect)))
    }
    case 'cancel': {
      const params = taskParams(call.params)
      const task = await taskView(context, await cancelTask(context, params.id),
        detailOf(params, header))
      return say(taskJson(task, call.dialect))
    }
    case 'subscribe':
      return subscribe(parts, { context, call, reply, header })
    case 'push-set':
      return say(await pushMethod(context, 'set', call))
    case 'push-get':
      return say(await pushMethod(context, 'get', call))
    case 'push-list':
      return say(await pushMethod(context, 'list', call))
    case 'push-delete':
      return say(await pushMethod(context, 'delete', call))
    case 'card': {
      const auth = await securityOf(request, parts.agents)
      // It is for callers who say who they are.
      if (auth === 'open') throw noExtendedCard()
      const card = cardFor(request, context.assistant, { ...parts, auth })
      return say(cardOf(card, call.dialect, auth))
    }
  }
}

async function contextOf({ runs, threads, assistants, json, agents }: AgentParts,
  request: FastifyRequest, reply: FastifyReply, name: string): Promise<AgentContext> {
  const { caller } = request
  const assistant = await assistants.agent(caller, name)
  return { runs, threads, json, caller, assistant, runCaller: runCallerOf(request),
    tools: agents.tools, left: leftSignal(reply) }
}

interface Called {
  readonly context: AgentContext
  readonly call: RpcCall
  readonly reply: FastifyReply
  readonly header: string | undefined
}

async function sendMessage(parts: AgentParts, called: Called): Promise<FastifyReply> {
  const { context, call, reply, header } = called
  const params = sendParams(call.params)
  const { configuration } = params
  const push = configWith(context, configuration?.taskPushNotificationConfig ??
    configuration?.pushNotificationConfig, call.dialect)
  await requireMessages(parts, context)
  if (isStreaming(call.action)) {
    if (configuration?.historyScope != null) throw noScope()
    holdStream(parts, reply)
    return streamSent(parts, called, await send(context, { params, manner: 'follows', push }))
  }
  const detail = detailOf(configuration ?? {}, header)
  const leaves = configuration?.returnImmediately ?? configuration?.blocking === false
  if (leaves) {
    const { first, row } = await send(context, { params, manner: 'leaves', push })
    const runs = { first, newest: row, ...await standingOf(context, row) }
    const task = await taskView(context, runs, detail)
    return sendJson(reply, taskText(call, task))
  }
  holdStream(parts, reply)
  return answerWithTask(parts, called, { params, push }, detail)
}

/** Answers when the task has ended, or asks. A client that leaves may ask for it later. */
async function answerWithTask({ ticker }: AgentParts, { context, call, reply }: Called,
  sending: Pick<Sending, 'params' | 'push'>, detail: TaskDetail): Promise<FastifyReply> {
  const { runs, caller } = context
  const { first, row, result } = await send(context, { ...sending, manner: 'waits' })
  const run = nameOf(row)
  reply.request.about = run
  await answerLate({
    reply,
    ticker,
    runId: run.runId,
    headers: {},
    answer: async (left) => {
      try {
        const ask = result ?? ((cancelled) => runs.join(caller, run, cancelled))
        const values = await whileValid({ caller, ticker, left, ask })
        const newest = await runs.get(caller, run)
        const ended = { first: first.runId === row.runId ? newest : first, newest,
          ...await standingOf(context, newest) }
        return taskText(call, await taskView(context, ended, detail, values))
      } catch (error) {
        if (left.aborted || HeddleError.from(error).retry !== 'no') throw error
        return errorText(call.id, error, call.dialect)
      }
    },
    settled: () => runs.get(caller, run),
    abandoned: () => {},
  })
  return reply
}

function taskText({ id, dialect }: RpcCall, task: Task): string {
  const json = taskJson(task, dialect)
  return resultText(id, textOf(dialect === '0.3' ? json : { task: json }))
}

async function streamSent(parts: AgentParts, { context, call, reply }: Called,
  { first, row }: Sent): Promise<FastifyReply> {
  const runs = { first, newest: row, ...await standingOf(context, row) }
  return streamTask(parts, { context, reply, runs, id: call.id, dialect: call.dialect, made: true,
    nowMs: () => parts.env.nowMs() })
}

async function subscribe(parts: AgentParts, { context, call, reply }: Called): Promise<
  FastifyReply
> {
  const params = taskParams(call.params)
  if (params.historyScope != null) throw noScope()
  const runs = await findTask(context, params.id)
  const after = lastEventId(reply.request) ?? undefined
  const isOver = isTerminal({ status: { state: runs.state, atMs: 0 } })
  // Whoever has seen a part of it gets the rest.
  if (isOver && call.dialect === '1.0' && after === undefined) {
    throw new A2aError('unsupported_operation',
      `Unsupported operation: the task is ${runs.state} ` +
        'and has no more events; GetTask has all of it.', { about: { taskId: runs.first.runId } })
  }
  holdStream(parts, reply)
  return streamTask(parts, { context, reply, runs, id: call.id, dialect: call.dialect, made: false,
    after, nowMs: () => parts.env.nowMs() })
}

/** Throws A2aError for a graph that takes no messages: nothing that agents send would reach it. */
async function requireMessages({ assistants }: AgentParts,
  { caller, assistant }: AgentContext): Promise<void> {
  const graph = await assistants.describe(caller, assistant.graphId)
  const { channels, stateChannels } = graph ?? {}
  const names = channels ?? (Array.isArray(stateChannels) ? stateChannels : undefined)
  if (names === undefined || names.includes('messages')) return
  throw new A2aError('unsupported_operation', `The graph ${assistant.graphId} has no messages in ` +
    'its input, and messages are all that agents send: call it by the API of runs, or give its ' +
    'state a list "messages".', { about: { graphId: assistant.graphId } })
}

function headerOf({ headers }: FastifyRequest): string | undefined {
  const scope = headers['langgraph-a2a-history-scope']
  return typeof scope === 'string' ? scope : undefined
}

function noExtendedCard(): A2aError {
  return new A2aError('unsupported_operation', 'Unsupported operation: this server asks nobody ' +
    'who calls, so the agent card has all there is.')
}

function noScope(): A2aError {
  return badField('historyScope', 'does not go with a stream, which has no history')
}
