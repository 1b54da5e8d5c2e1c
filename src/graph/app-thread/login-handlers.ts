/** The handlers of a login, asked in this thread: `Auth` of the official client. */

import { isObject, memberOf } from '../../json/index.ts'
import type { ActionAnswer, AppUser, AskedAction, AskedRequest, LoginAnswer, ProjectLogin,
  Refused } from '../app/project-app.ts'
import { messageOf } from '../project/thrown.ts'

/** The place where `Auth` keeps its handlers. Source: SDK, auth. */
const cache = '~handlerCache'

/** Characters of a user, of a filter and of a changed value, as JSON. */
const jsonMax = 1_048_576
const messageMax = 4_096
const headersMax = 32

type Handler = (asked: unknown) => unknown

/** Receives the reason of an answer that is our `500`: nobody else may read it. */
export type NoteFault = (reason: string, error?: unknown) => void

/** The login over an `Auth` object. Throws an error with the reason if it is none. */
export function loginOver(auth: unknown, noteFault: NoteFault): ProjectLogin {
  const handlers = memberOf(auth, cache)
  if (!isObject(handlers)) throw new Error('it is no Auth of @langchain/langgraph-sdk/auth')
  const authenticate = memberOf(handlers, 'authenticate')
  if (!isHandler(authenticate)) throw new Error('it has no handler: call its authenticate(…)')
  const callbacks = memberOf(handlers, 'callbacks') ?? {}
  const found = Object.entries(callbacks)
    .filter((entry): entry is [string, Handler] => isHandler(entry[1]))
  const on = new Map(found)
  return {
    events: [...on.keys()],
    authenticate: (request) =>
      answered(noteFault, async () => userOf(await authenticate(webRequest(request)))),
    on: (asked) => answered(noteFault, async () => await decision(on, asked)),
  }
}

/** Events by which a handler is chosen: the first one that has one. */
function eventsOf({ resource, action }: Pick<AskedAction, 'resource' | 'action'>): string[] {
  return [`${resource}:${action}`, resource, `*:${action}`, '*']
}

async function decision(on: ReadonlyMap<string, Handler>,
  asked: AskedAction): Promise<ActionAnswer> {
  const handler = eventsOf(asked).map((event) => on.get(event)).find((each) => each !== undefined)
  if (handler === undefined) return { kind: 'allowed' }
  const { resource, action, user } = asked
  const value = structuredClone(asked.value)
  const result = await handler({ event: `${resource}:${action}`, resource, action, value,
    permissions: user.permissions, user })
  if (result === false) return refusal(403, 'Forbidden')
  const left = plain(value, 'the value that it left')
  if (result === undefined || result === null || result === true) {
    return { kind: 'allowed', value: left }
  }
  const filter = plain(result, 'its filter')
  // A filter without them would let more pass.
  if (hasGaps(result)) throw new Nonsense('its filter has what is no JSON')
  return { kind: 'allowed', value: left, filter }
}

function webRequest({ method, url, headers }: AskedRequest): Request {
  const sent = new Headers()
  for (const [name, value] of headers) sent.append(name, value)
  return new Request(url, { method, headers: sent })
}

function userOf(result: unknown): LoginAnswer {
  const made = typeof result === 'string' ? { identity: result } : result
  const identity = memberOf(made, 'identity')
  if (typeof identity !== 'string' || identity === '') {
    throw new Nonsense('authenticate returned no user with an identity')
  }
  const fields = plain(made, 'the user')
  const { permissions, is_authenticated: isKnown, display_name: name } = fields
  const user: AppUser = { ...fields, identity, permissions: Array.isArray(permissions)
    ? permissions.filter((each): each is string => typeof each === 'string')
    : [], is_authenticated: typeof isKnown === 'boolean' ? isKnown : true,
    display_name: typeof name === 'string' ? name : identity }
  return { kind: 'user', user }
}

/** An answer that cannot be used. */
class Nonsense extends Error {}

/** The object as JSON has it. */
function plain(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isObject(value) || Array.isArray(value)) throw new Nonsense(`${what} is no object`)
  const json = jsonOrNone(value)
  if (json === undefined) throw new Nonsense(`${what} cannot be JSON`)
  if (json.length > jsonMax) throw new Nonsense(`${what} has more than ${jsonMax} characters`)
  return JSON.parse(json) as Readonly<Record<string, unknown>>
}

function jsonOrNone(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** True if JSON would drop or change a part. Call with what can be JSON. */
function hasGaps(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  if (value === null || typeof value !== 'object') {
    return typeof value !== 'string' && typeof value !== 'boolean' && value !== null
  }
  return !(Array.isArray(value) || isPlain(value)) || Object.values(value).some(hasGaps)
}

/** True for an object as JSON has it. Of a Map, a Set or an instance, JSON may leave nothing. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

async function answered<Answer>(noteFault: NoteFault,
  ask: () => Promise<Answer>): Promise<Answer | Refused> {
  try {
    return await ask()
  } catch (error) {
    const status = memberOf(error, 'status')
    if (isHttpException(error) && isRefusal(status)) {
      return refusal(status, messageOf(error), headersOf(memberOf(error, 'headers')))
    }
    if (error instanceof Nonsense) noteFault(`A handler of the login is wrong: ${error.message}.`)
    else noteFault('A handler of the login threw.', error)
    return refusal(500, 'Internal Server Error')
  }
}

/**
 * True for the HTTPException of the official client. It is known by the name of its class, because
 * errors of other services have a status as well, and are nothing for callers.
 */
function isHttpException(error: unknown): error is Error {
  for (let made: unknown = error; isObject(made); made = Object.getPrototypeOf(made)) {
    if (memberOf(memberOf(made, 'constructor'), 'name') === 'HTTPException') return true
  }
  return false
}

function isRefusal(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599
}

function refusal(status: number, message: string, headers: Refused['headers'] = []): Refused {
  return { kind: 'refused', status, message: message.slice(0, messageMax), headers }
}

function headersOf(given: unknown): Refused['headers'] {
  try {
    return [...new Headers(given as ConstructorParameters<typeof Headers>[0])].slice(0, headersMax)
  } catch {
    return []
  }
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function'
}
