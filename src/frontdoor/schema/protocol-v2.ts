/** The schemas of the params of each command of protocol v2. */

import { Type } from 'typebox'

import { Command, EventNamespace as Namespace, Json, JsonObject,
  Nullable } from '../../api/index.ts'

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

/** Params of `input.inject`: a message for the graph of the run that executes. */
export const InjectInput = Type.Object({
  namespace: Type.Optional(Nullable(Namespace())),
  message: Type.Object({
    role: Type.Union([Type.Literal('user'), Type.Literal('system')]),
    content: Type.String({ maxLength: 100_000 }),
    name: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
    id: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 200 }))),
  }),
})

/** Params of `subscription.unsubscribe`: the id of the subscription that ends. */
export const Unsubscribe = Type.Object({ subscription_id: Type.String({ maxLength: 200 }) })
