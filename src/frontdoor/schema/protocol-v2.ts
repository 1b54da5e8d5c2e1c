/** The schemas of protocol v2: the envelope of a command, the params of each, and filters. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { Command } from '../../api/index.ts'
import { Json, JsonObject, Nullable, wholeMax } from './json.ts'

/** A namespace as its segments, from the root on; `[]` is the root. */
const Namespace = () => Type.Array(Type.String({ maxLength: 1_000 }), { maxItems: 100 })

const filter = {
  channels: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 100,
    description:
      'values, updates, messages, tools, lifecycle, input, checkpoints, tasks, custom, ' +
      'or custom:<name>.' }),
  namespaces: Type.Optional(
    Nullable(
      Type.Array(Namespace(), { maxItems: 1_000,
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
}

/** Headers of requests that stream the events of a thread. */
export const EventHeaders = Type.Object({
  'last-event-id': Type.Optional(Type.String({
    description:
      'The id of the last event seen: only later ones are sent, and those after `since`.',
  })),
})

/** Body of requests that stream the events of a thread, and params of a subscription. */
export const EventFilter = Type.Object(filter, {
  examples: [{ channels: ['values', 'messages', 'lifecycle', 'input'], namespaces: [[]],
    depth: 1 }],
})
/** A checked filter of events. */
export type EventFilter = Static<typeof EventFilter>

/** Body of a request with a command. Its other members are checked by the command. */
export const ProtocolCommand = Type.Object({
  id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER,
    description: 'Chosen by the client; the answer has the same.' }),
  method: Type.Optional(Json({ description: 'run.start, input.respond, state.get, ' +
    'state.listCheckpoints, state.fork or agent.getTree.' })),
  params: Type.Optional(Json()),
}, {
  examples: [{ id: 1, method: 'run.start',
    params: { assistant_id: 'agent',
      input: { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] } } }],
})

const Answer = {
  namespace: Type.Optional(Namespace()),
  interrupt_id: Type.String({ minLength: 1, maxLength: 200 }),
  response: Type.Optional(Json()),
}

const beside = {
  update: Command().properties.update,
  goto: Command().properties.goto,
  config: Type.Optional(Nullable(JsonObject())),
  metadata: Type.Optional(Nullable(JsonObject())),
}

/** Params of `input.respond` with one answer. */
export const RespondOne = Type.Object({ ...Answer, ...beside })

/** Params of `input.respond` with the answers to several interrupts. */
export const RespondMany = Type.Object({
  responses: Type.Array(Type.Object(Answer), { minItems: 1, maxItems: 1_000 }),
  ...beside,
})

/** Params of `state.get`: a namespace, and at most 99 keys. */
export const StateGet = Type.Object({
  namespace: Type.Optional(Nullable(Namespace())),
  keys: Type.Optional(Nullable(Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
    maxItems: 99,
  }))),
})

/** Params of `state.listCheckpoints`: at most 1,000 of a namespace, before a checkpoint. */
export const ListCheckpoints = Type.Object({
  namespace: Type.Optional(Nullable(Namespace())),
  limit: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1_000 }))),
  before: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
})

/** Params of `state.fork`: a checkpoint, and the run that begins there. */
export const ForkState = Type.Object({
  checkpoint_id: Type.String({ minLength: 1, maxLength: 200 }),
  input: Type.Optional(Json()),
  config: Type.Optional(Nullable(JsonObject())),
  metadata: Type.Optional(Nullable(JsonObject())),
})

/** Params of `agent.getTree`: the run whose graphs are shown; the newest by default. */
export const GetTree = Type.Object({
  run_id: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
})

/** Params of `subscription.unsubscribe`: the id of the subscription that ends. */
export const Unsubscribe = Type.Object({ subscription_id: Type.String({ maxLength: 200 }) })
