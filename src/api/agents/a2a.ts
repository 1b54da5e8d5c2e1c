/** A2A: other agents call an assistant, and read what it can do. */

import { Type } from 'typebox'

import { Json, JsonObject, Nullable } from '../json.ts'
import { operation } from '../operation.ts'

/** Versions of A2A that are spoken. */
export const a2aVersions = ['1.0', '0.3'] as const

const VersionHeader = Type.Object({
  'a2a-version': Type.Optional(Type.String({ description: `${a2aVersions.join(' or ')}.` })),
})

const Id = Nullable(Type.Union([Type.String(), Type.Number()]))

const A2aAnswer = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Id,
  result: Type.Optional(Json()),
  error: Type.Optional(
    Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Json()) }),
  ),
}, { $id: 'A2aAnswer', description: 'The JSON-RPC answer, also if the request was refused; of a ' +
  'streaming method, server-sent events whose `data` are such answers.' })

const AgentCard = JsonObject({ $id: 'AgentCard', description: 'The agent card of the assistant.' })

const unchanged = { 304: 'The card with this ETag is the current one.' } as const

export const callAgent = operation('POST', '/a2a/:assistant_id', {
  access: 'read',
  asks: { nothing: 'Each method asks for itself.' },
  summary: 'Call an assistant as an agent, by JSON-RPC of A2A 1.0 or 0.3',
  headers: Type.Object({
    ...VersionHeader.properties,
    'last-event-id': Type.Optional(Type.String({
      description: 'Of SubscribeToTask: the id of the last event seen; only later ones are sent.',
    })),
    'langgraph-a2a-history-scope': Type.Optional(Type.String({
      description: '`context` or `task`: the messages that `history` has.',
    })),
  }),
  // It is read as JSON-RPC, whose errors are answers of it.
  raw: true,
  body: Type.Object({
    jsonrpc: Type.Literal('2.0'),
    id: Id,
    method: Type.String({ description: 'SendMessage, SendStreamingMessage, GetTask, ListTasks, ' +
      'CancelTask, SubscribeToTask, GetExtendedAgentCard and those of push notifications, or the ' +
      'names of 0.3, as message/send.' }),
    params: Type.Optional(JsonObject()),
  }, { examples: [{ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: {
    messageId: '5b2f8a0e-7a6d-4b61-9d57-0a1f2f6c8e11',
    role: 'ROLE_USER',
    parts: [{ text: 'What is the weather in Oslo?' }],
  } } }] }),
  answer: A2aAnswer,
})

export const getAgentCard = operation('GET', '/a2a/:assistant_id/.well-known/agent-card.json', {
  access: 'read',
  asks: 'assistants:read',
  summary: 'Get the agent card of an assistant',
  headers: VersionHeader,
  answer: AgentCard,
  silent: unchanged,
})

export const findAgentCard = operation('GET', '/.well-known/agent-card.json', {
  access: 'read',
  asks: 'assistants:read',
  summary: 'Get the agent card of an assistant that the query names, or of the first graph',
  query: Type.Object({
    assistant_id: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  }),
  headers: VersionHeader,
  answer: AgentCard,
  silent: unchanged,
})
