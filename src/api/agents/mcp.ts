/** The Model Context Protocol: agents find assistants as tools, and call them. */

import { Type } from 'typebox'

import { Json, Text } from '../json.ts'
import { operation } from '../operation.ts'

const headers = Type.Object({
  'mcp-protocol-version': Type.Optional(Type.String({
    description: 'The revision of the protocol, as `2026-07-28`.',
  })),
  'mcp-session-id': Type.Optional(Type.String({
    description: 'The session, as `initialize` answered it; revisions up to 2025-11-25.',
  })),
  'mcp-method': Type.Optional(Type.String({
    description: 'The method of the message; from revision 2026-07-28 on.',
  })),
  'mcp-name': Type.Optional(Type.String({
    description: 'The tool that is called; from revision 2026-07-28 on.',
  })),
})

const ToolMessage = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Optional(Type.Union([Text(), Type.Number()], { description: 'That of the request.' })),
  result: Type.Optional(Json({ description: 'Of a request that was carried out.' })),
  error: Type.Optional(Json({ description: '{code, message, data} of one that was not.' })),
}, { $id: 'ToolMessage', description: 'The answer, as JSON-RPC has it. Calls that report ' +
  'progress or may ask are answered with server-sent events.' })

export const callTools = operation('POST', '/mcp', {
  asks: { nothing: 'Each message asks for itself.' },
  access: 'read',
  summary: 'Send a message of the Model Context Protocol',
  headers,
  // JSON-RPC has errors of its own for what is wrong in a message.
  raw: true,
  body: Json({ description: 'A request, a notification or an answer of JSON-RPC 2.0.',
    examples: [{ jsonrpc: '2.0', id: 1, method: 'ping' }] }),
  answer: ToolMessage,
  silent: { 202: 'The notification or the answer was taken.' },
})

export const streamTools = operation('GET', '/mcp', {
  asks: ['assistants:search', 'threads:read'],
  access: 'read',
  summary: 'Stream what changes about the tools of a session, or what is left of a call',
  headers: Type.Object({
    ...headers.properties,
    'last-event-id': Type.Optional(Type.String({
      description: 'The last event that was seen of a call: its answer comes on this stream.',
    })),
  }),
  events: 'Server-sent events, each with a message of JSON-RPC.',
})

export const endToolSession = operation('DELETE', '/mcp', {
  asks: 'threads:delete',
  access: 'change',
  summary: 'End a session of the Model Context Protocol, with its calls that wait',
  headers,
})
