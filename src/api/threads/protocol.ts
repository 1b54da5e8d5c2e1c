/** Protocol v2 of a thread: commands, and the events of all its runs. */

import { Type } from 'typebox'

import { Json, Nullable, OneOf, Text, wholeMax } from '../json.ts'
import { operation } from '../operation.ts'
import type { Body } from '../operation.ts'
import { CreationHeaders } from '../run-content.ts'
import { ofThread } from './thread-parts.ts'

/** Schema of a namespace as its segments, from the root on; `[]` is the root. */
export const EventNamespace = () => Type.Array(Type.String({ maxLength: 1_000 }), { maxItems: 100 })

const CommandAnswer = Type.Object({
  type: OneOf(['success', 'error']),
  id: Nullable(Type.Integer({ description: 'That of the command.' })),
  result: Type.Optional(Json({ description: 'Of a success.' })),
  error: Type.Optional(Type.String({ description: 'A code of protocol v2.' })),
  message: Type.Optional(Text()),
  meta: Type.Object({ thread_id: Text(), applied_through_seq: Type.Optional(
    Type.Integer({ description: 'Events up to it came before.' }),
  ) }),
}, { $id: 'CommandAnswer', description: 'The answer to the command, also if it was refused.' })

export const sendCommand = operation('POST', '/threads/:thread_id/commands', {
  asks: { nothing: 'Each command asks for itself.' },
  ...ofThread,
  access: 'read',
  summary: 'Send a command of protocol v2',
  headers: CreationHeaders,
  // Its other members are checked by the command.
  body: Type.Object({
    id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER,
      description: 'Chosen by the client; the answer has the same.' }),
    method: Type.Optional(Json({ description: 'run.start, input.respond, state.get, ' +
      'state.listCheckpoints, state.fork or agent.getTree.' })),
    params: Type.Optional(Json()),
  }, {
    examples: [{ id: 1, method: 'run.start',
      params: { assistant_id: 'agent',
        input: { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] } } }],
  }),
  answer: CommandAnswer,
})

export const streamThreadEvents = operation('POST', '/threads/:thread_id/stream/events', {
  asks: 'threads:read',
  ...ofThread,
  access: 'read',
  summary: 'Stream the events of a thread, of all its runs, by protocol v2',
  headers: Type.Object({
    'last-event-id': Type.Optional(Type.String({
      description:
        'The id of the last event seen: only later ones are sent, and those after `since`.',
    })),
  }),
  body: Type.Object({
    channels: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1,
      maxItems: 100,
      description:
        'values, updates, messages, tools, lifecycle, input, checkpoints, tasks, custom, ' +
        'or custom:<name>.' }),
    namespaces: Type.Optional(
      Nullable(
        Type.Array(EventNamespace(), { maxItems: 1_000,
          description: 'Only events of these namespaces and of those below; all if missing.' }),
      ),
    ),
    depth: Type.Optional(
      Nullable(
        Type.Integer({ minimum: 0, maximum: wholeMax,
          description: 'How many levels below a namespace.' }),
      ),
    ),
    since: Type.Optional(
      Nullable(
        Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER,
          description: 'Only events with a greater seq; all that are kept if missing.' }),
      ),
    ),
  }, {
    examples: [{ channels: ['values', 'messages', 'lifecycle', 'input'], namespaces: [[]],
      depth: 1 }],
  }),
  events: 'Server-sent events: `event` is the method, `data` one event as JSON. Never ends.',
})

export const openThreadSocket = operation('GET', '/threads/:thread_id/stream/events', {
  asks: { nothing: 'Each frame asks for itself.' },
  ...ofThread,
  access: 'read',
  summary: 'Open a WebSocket for commands and events of protocol v2',
  status: 101,
  silent: { 101: 'The WebSocket is open.' },
})

/** The events of a thread that a client asks for. */
export type EventFilter = Body<typeof streamThreadEvents>
