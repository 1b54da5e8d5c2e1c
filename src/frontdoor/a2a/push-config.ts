/** Push notification configs in the forms of both versions. Their secrets are not shown. Pure. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import type { PushConfig } from '../../../proto/gen/storage/v1/push.ts'
import { Nullable } from '../../api/index.ts'
import { checkerOf } from '../schema/validation.ts'
import type { Dialect } from './methods.ts'
import { badField } from './params.ts'

const text = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })))
const id = Type.String({ minLength: 1, maxLength: 1_000 })

const idMax = 100
const urlMax = 2_048

const common = { id: text(idMax), url: Type.String({ minLength: 1, maxLength: urlMax }),
  token: text(1_000) }

const New = Type.Object({ ...common, authentication: Type.Optional(
  Nullable(Type.Object({ scheme: text(50), credentials: text(4_000) })),
) })

const Old = Type.Object({ ...common, authentication: Type.Optional(Nullable(Type.Object({
  schemes: Type.Optional(Nullable(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 10 }))),
  credentials: text(4_000),
}))) })

const NewSet = Type.Object({ ...New.properties, taskId: id })
const OldSet = Type.Object({ taskId: id, pushNotificationConfig: Old })
const NewNamed = Type.Object({ taskId: id, id })
const NewList = Type.Object({ taskId: id })
const OldNamed = Type.Object({ id, pushNotificationConfigId: id })
const OldGet = Type.Object({ id, pushNotificationConfigId: text(1_000) })

const check = { '1.0': checkerOf(New), '0.3': checkerOf(Old) }
const newSet = checkerOf(NewSet)
const oldSet = checkerOf(OldSet)
const newNamed = checkerOf(NewNamed)
const newList = checkerOf(NewList)
const oldNamed = checkerOf(OldNamed)
const oldGet = checkerOf(OldGet)

/** A config that a client sends, before its task is known. */
export type SentConfig = Omit<PushConfig, 'taskId'>

/** The config that comes with a message. Throws A2aError, and `invalid`. */
export function configIn(config: object, dialect: Dialect): SentConfig {
  return dialect === '1.0'
    ? sent(check['1.0'](config), '1.0')
    : sentOld(check['0.3'](config))
}

/** The task and the config that a method sets. Throws A2aError, and `invalid`. */
export function setIn(params: object,
  dialect: Dialect): { readonly taskId: string; readonly config: SentConfig } {
  if (dialect === '1.0') {
    const { taskId, ...config } = newSet(params)
    return { taskId, config: sent(config, '1.0') }
  }
  const { taskId, pushNotificationConfig } = oldSet(params)
  return { taskId, config: sentOld(pushNotificationConfig) }
}

/** Names a config of a task. In 0.3, `get` may leave out which. */
export interface ConfigName {
  readonly taskId: string
  readonly id?: string | undefined
}

/** The config that a method names. Throws `invalid`. */
export function namedIn(params: object, dialect: Dialect, action: 'get' | 'delete'): ConfigName {
  if (dialect === '1.0') return newNamed(params)
  const { id: taskId, pushNotificationConfigId: named } = action === 'get'
    ? oldGet(params)
    : oldNamed(params)
  return { taskId, id: named ?? undefined }
}

/** The task whose configs are listed. Throws `invalid`. */
export function listedIn(params: object, dialect: Dialect): string {
  return dialect === '1.0' ? newList(params).taskId : oldGet(params).id
}

/** A config as its client sees it, without token and credentials. */
export function configJson({ taskId, id, url, scheme }: PushConfig, dialect: Dialect): object {
  if (dialect === '1.0') {
    return { taskId, id, url, ...scheme !== '' && { authentication: { scheme } } }
  }
  return { taskId,
    pushNotificationConfig: { id, url,
      ...scheme !== '' && { authentication: { schemes: [scheme] } } } }
}

function sentOld({ authentication, ...rest }: Static<typeof Old>): SentConfig {
  const [scheme] = authentication?.schemes ?? []
  return sent({ ...rest,
    ...authentication && { authentication: { scheme, credentials: authentication.credentials } } },
    '0.3')
}

/** The tokens of a header. Credentials may have any character that a header takes. */
const schemeForm = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
const headerForm = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

function sent({ id, url, token, authentication }: Static<typeof New>,
  dialect: Dialect): SentConfig {
  const { scheme, credentials } = authentication ?? {}
  requireForm('token', token, headerForm)
  requireForm('authentication.scheme', scheme, schemeForm)
  requireForm('authentication.credentials', credentials, headerForm)
  if (!scheme !== !credentials) {
    const [missing, why] = scheme
      ? ['credentials', 'are required: they are sent with the scheme, and nothing else is signed']
      : ['scheme', 'is required with credentials']
    throw badField(`authentication.${missing}`, why)
  }
  return { id: id ?? '', url, token: token ?? '', scheme: scheme ?? '',
    credentials: credentials ?? '', dialect }
}

function requireForm(field: string, value: string | null | undefined, form: RegExp): void {
  if (value && !form.test(value)) throw badField(field, 'has characters that no header takes')
}
