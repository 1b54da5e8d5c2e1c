/** The parameters of the methods, in the forms of both versions, and how they are checked. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { JsonObject, Nullable } from '../../api/index.ts'
import { isOneOf } from '../../json/index.ts'
import { checkerOf } from '../schema/validation.ts'
import { A2aError } from './a2a-error.ts'
import type { TaskDetail } from './task-view.ts'

/** Messages of a history that are sent at most, and if nothing is said. */
export const historyMax = 10

/** Parts of a message: each becomes a block that the graph keeps. */
const partsMax = 1_000

const scopes = ['context', 'task'] as const
/** The messages that a history has. */
export type HistoryScope = typeof scopes[number]

const maybe = {
  text: Type.Optional(Nullable(Type.String({ maxLength: 1_000 }))),
  object: Type.Optional(Nullable(JsonObject())),
  flag: Type.Optional(Nullable(Type.Boolean())),
  texts: Type.Optional(Nullable(Type.Array(Type.String(), { maxItems: 100 }))),
  length: Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }))),
  scope: Type.Optional(Nullable(Type.Enum([...scopes], { type: 'string' }))),
}

const Message = Type.Object({
  messageId: Type.String({ minLength: 1, maxLength: 1_000 }),
  contextId: maybe.text,
  taskId: maybe.text,
  role: Type.Enum(['user', 'ROLE_USER'], { type: 'string' }),
  parts: Type.Array(Type.Unknown(), { minItems: 1, maxItems: partsMax }),
  metadata: maybe.object,
  extensions: maybe.texts,
  referenceTaskIds: maybe.texts,
})

const Send = Type.Object({
  message: Message,
  configuration: Type.Optional(Nullable(Type.Object({
    acceptedOutputModes: maybe.texts,
    historyLength: maybe.length,
    historyScope: maybe.scope,
    returnImmediately: maybe.flag,
    // Of 0.3: the opposite.
    blocking: maybe.flag,
    taskPushNotificationConfig: maybe.object,
    pushNotificationConfig: maybe.object,
  }))),
  metadata: maybe.object,
  /** The context of the run, next to the fields of the protocol. */
  context: maybe.object,
})

const OfTask = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 1_000 }),
  historyLength: maybe.length,
  historyScope: maybe.scope,
  metadata: maybe.object,
})

const List = Type.Object({
  contextId: maybe.text,
  status: maybe.text,
  pageSize: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 100 }))),
  pageToken: maybe.text,
  historyLength: maybe.length,
  historyScope: maybe.scope,
  statusTimestampAfter: maybe.text,
  includeArtifacts: maybe.flag,
})

/** Parameters that send a message. */
export type SendParams = Static<typeof Send>
/** Parameters that name a task. */
export type TaskParams = Static<typeof OfTask>
/** Parameters of a list of tasks. */
export type ListParams = Static<typeof List>

/** Checks the parameters of a message. Throws `invalid`. */
export const sendParams = checkerOf(Send)
/** Checks parameters that name a task. Throws `invalid`. */
export const taskParams = checkerOf(OfTask)
/** Checks the parameters of a list. Throws `invalid`. */
export const listParams = checkerOf(List)

/** Detail in which a task is to be shown. Throws A2aError for a history that is too long. */
export function detailOf(
  { historyLength, historyScope }: {
    readonly historyLength?: number | null | undefined
    readonly historyScope?: HistoryScope | null | undefined
  },
  header: string | undefined,
): TaskDetail {
  const length = historyLength ?? historyMax
  if (length > historyMax) {
    throw badField('historyLength', `must be ${historyMax} at most`)
  }
  return { historyLength: length, historyScope: historyScope ?? scopeIn(header), artifacts: true }
}

/** The scope that a header names. Throws A2aError. */
function scopeIn(header: string | undefined): HistoryScope {
  if (header === undefined || header === '') return 'context'
  if (isOneOf(scopes, header)) return header
  throw badField('LangGraph-A2A-History-Scope', `must be ${scopes.join(' or ')}`)
}

/** The error for a parameter that is wrong. */
export function badField(field: string, message: string): A2aError {
  return new A2aError('invalid_params', `${field}: ${message}.`, { faults: [{ field, message }] })
}
