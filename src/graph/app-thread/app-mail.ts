/** The messages of an app thread: to the thread that started it, and of a login to the server. */

import type { MessagePort } from 'node:worker_threads'

import type { AppPattern } from '../app/app-patterns.ts'
import type { ActionAnswer, AskedAction, AskedRequest, LoginAnswer } from '../app/project-app.ts'
import { isBag, isListOf, isNumber, isText, isTextList } from '../pool/mail-check.ts'
import type { CompiledProject } from '../project/project-compiler.ts'

/** Data with which an app thread starts. */
export interface AppThreadData {
  readonly name: string
  readonly project: CompiledProject
  /** Proof of the server, which the thread asks of everybody who calls its port. */
  readonly token: string
  readonly port: MessagePort
}

/** The place where the login and the app of a project answer, and all that is known of them. */
export interface AppPlace {
  /** The port of this machine. */
  readonly port: number
  readonly token: string
  /** Events of the login that have a handler; missing if there is no login. */
  readonly events?: readonly string[]
  /** The app; missing if there is none. */
  readonly app?: AppDescription
}

/** A loaded app, as far as the front door has to know it. */
export interface AppDescription {
  /** Null for an app that does not say which requests are its. */
  readonly patterns: readonly AppPattern[] | null
  /** True if it takes WebSockets. */
  readonly takesSockets: boolean
  /** Its OpenAPI document; missing if it has none. */
  readonly openApi?: unknown
}

/** A message to an app thread. */
export type ToAppThread =
  /** The URL at which the server answers clients; undefined if it does not. */
  | { readonly type: 'served'; readonly url: string | undefined }
  | { readonly type: 'ping' }

/** A message of an app thread. */
export type FromAppThread =
  | { readonly type: 'ready'; readonly place: Omit<AppPlace, 'token'> }
  /** It cannot serve the project, so that it ends. */
  | { readonly type: 'refused'; readonly reason: string;
    /** True for a fault of the machine, after which another thread may load the project. */
    readonly isTransient: boolean }
  | { readonly type: 'pong' }

/** A question to the login of a thread. */
export type LoginQuestion =
  | { readonly asking: number; readonly kind: 'authenticate'; readonly request: AskedRequest }
  | { readonly asking: number; readonly kind: 'on'; readonly asked: AskedAction }

/** The answer to the question of the same number. */
export interface LoginReply {
  readonly asking: number
  readonly answer: LoginAnswer | ActionAnswer
}

const patternsMax = 10_000

/** True if a value has the shape of a message, so that reading it cannot throw. */
export function isAppMail(mail: unknown): mail is FromAppThread {
  if (!isBag(mail)) return false
  switch (mail['type']) {
    case 'ready':
      return isBag(mail['place']) && isPlace({ ...mail['place'], token: '' })
    case 'refused':
      return isText(mail['reason']) && typeof mail['isTransient'] === 'boolean'
    case 'pong':
      return true
    default:
      return false
  }
}

/** True for a place where a login and an app answer. */
export function isPlace(value: unknown): value is AppPlace {
  if (!isBag(value)) return false
  const { port, token, events, app } = value
  return isNumber(port) && Number.isInteger(port) && port > 0 && port < 65_536 && isText(token)
    && (events === undefined || isTextList(events)) && (app === undefined || isDescription(app))
}

function isDescription(value: unknown): boolean {
  if (!isBag(value)) return false
  const { patterns, takesSockets } = value
  if (typeof takesSockets !== 'boolean') return false
  return patterns === null || isListOf(patterns, isPattern)
      && Array.isArray(patterns) && patterns.length <= patternsMax
}

function isPattern(pattern: Readonly<Record<string, unknown>>): boolean {
  const { method, path, isMiddleware, isAmbiguous = false } = pattern
  return isText(method) && isText(path) && typeof isMiddleware === 'boolean'
    && typeof isAmbiguous === 'boolean'
}

/** True for the answer of a login. */
export function isLoginReply(value: unknown): value is LoginReply {
  if (!isBag(value) || !isNumber(value['asking']) || !isBag(value['answer'])) return false
  const { kind, user, status, message, headers, value: left, filter } = value['answer']
  if (kind === 'user') return isUser(user)
  if (kind === 'allowed') {
    return (left === undefined || isBag(left)) && (filter === undefined || isBag(filter))
  }
  return kind === 'refused' && isNumber(status) && Number.isInteger(status) && status >= 400
    && status < 600 && isText(message) && Array.isArray(headers)
    && headers.every((each) => isTextList(each) && (each as unknown[]).length === 2)
}

function isUser(value: unknown): boolean {
  if (!isBag(value)) return false
  const { identity, permissions, is_authenticated: isKnown, display_name: name } = value
  return isText(identity) && identity !== '' && isTextList(permissions)
    && typeof isKnown === 'boolean' && isText(name)
}
