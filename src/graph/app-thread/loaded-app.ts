/** The app of a project in its thread: a Hono app, or anything else with `fetch`. */

import { isObject, listOf, memberOf, textAt } from '../../json/index.ts'
import type { AppPattern } from '../app/app-patterns.ts'

/** A request as the app gets it, with what the front door says of it. */
export interface AppCall {
  readonly request: Request
  /** The other end of the client's connection, as code finds it behind `c.env`. */
  readonly incoming: object
  /** The caller; undefined if nobody was identified. */
  readonly user: unknown
  /** Gives the request to the routes of the server; undefined for one that cannot come back. */
  readonly passOn:
    | ((request: Request, body: ArrayBuffer | undefined) => Promise<Response>)
    | undefined
}

/** A loaded app. */
export interface LoadedApp {
  /** Null if it does not say which requests are its. */
  readonly patterns: readonly AppPattern[] | null
  handle(call: AppCall): Promise<Response>
}

type Fetch = (request: Request, bindings: object) => unknown

/** Parts of Hono that are used. The project's own copy has them, of whatever version. */
interface Hono {
  readonly routes: readonly unknown[]
  readonly fetch: Fetch
  readonly getPath?: unknown
  readonly constructor: new(options?: object) => Hono
  use(path: string, middleware: (context: Context, next: () => Promise<void>) => unknown): unknown
  route(path: string, app: object): unknown
  notFound(handler: (context: Context) => unknown): unknown
}

interface Context {
  readonly env: unknown
  readonly req: { readonly raw: Request; arrayBuffer(): Promise<ArrayBuffer> }
  set(name: string, value: unknown): void
  notFound(): unknown
}

/** The app behind an export. Throws an error with the reason if it is none. */
export function appOver(exported: unknown): LoadedApp {
  if (isHono(exported)) return overHono(exported)
  const answer = typeof exported === 'function' ? exported as Fetch : fetchOf(exported)
  if (answer === undefined) throw new Error('it is no Hono app, and has no fetch(request)')
  return { patterns: null,
    handle: async ({ request, incoming }) => responseOf(await answer(request, { incoming })) }
}

/**
 * Puts the app below one of our own, as the official server does: the caller is in `c.var.auth`,
 * and what no route of the app answers goes on to the routes of the server.
 */
function overHono(app: Hono): LoadedApp {
  const calls = new WeakMap<object, AppCall>()
  const callOf = ({ env }: Context) => calls.get(env as object)
  const outer = new app.constructor({ getPath: app.getPath })
  outer.use('*', async (context, next) => {
    const user = callOf(context)?.user
    if (isObject(user)) {
      context.set('auth', { user, scopes: listOf(memberOf(user, 'permissions')) })
    }
    await next()
  })
  outer.route('/', app)
  outer.notFound(async (context) => {
    const passOn = callOf(context)?.passOn
    if (passOn === undefined) return new Response('404 Not Found', { status: 404 })
    const { raw } = context.req
    // What middleware has read is kept by the context.
    return passOn(raw, raw.bodyUsed ? await context.req.arrayBuffer() : undefined)
  })
  return { patterns: app.routes.flatMap(patternOf), handle: async (call) => {
    const bindings = { incoming: call.incoming }
    calls.set(bindings, call)
    return responseOf(await outer.fetch(call.request, bindings))
  } }
}

function patternOf(route: unknown): AppPattern[] {
  const [method, path] = [textAt(route, 'method'), textAt(route, 'path')]
  if (method === undefined || path === undefined) return []
  const isMiddleware = takesNext(memberOf(route, 'handler'))
  return [{ method, path, isMiddleware, isAmbiguous: !isMiddleware && method === 'ALL' }]
}

/**
 * True for a handler that declares a second parameter, `next`. Functions such as `(...args) => …`
 * declare no parameters, and may call `next` all the same.
 */
function takesNext(handler: unknown): boolean {
  // A route of an app below another one is wrapped. Source: Hono, helper/dev.
  const inner = memberOf(handler, '__COMPOSED_HANDLER')
  if (inner !== undefined) return takesNext(inner)
  return typeof handler === 'function' && handler.length > 1
}

function responseOf(answer: unknown): Response {
  if (answer instanceof Response) return answer
  // Other copies of the class look the same.
  if (typeof memberOf(answer, 'status') === 'number' && isObject(memberOf(answer, 'headers'))) {
    return answer as Response
  }
  throw new TypeError('The app answered no Response.')
}

function isHono(value: unknown): value is Hono {
  return Array.isArray(memberOf(value, 'routes'))
    && ['fetch', 'use', 'route', 'notFound'].every((name) =>
      typeof memberOf(value, name) === 'function'
    )
}

function fetchOf(value: unknown): Fetch | undefined {
  const found = memberOf(value, 'fetch')
  return typeof found === 'function' ? found.bind(value) as Fetch : undefined
}
