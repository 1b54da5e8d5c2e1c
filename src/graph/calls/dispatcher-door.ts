/** The door of `fetch` and of each copy of undici: the dispatch that all its agents share. */

import type { Call, CallClient } from './call.ts'
import type { CallDecision } from './call-gate.ts'
import { callScope } from './call-scope.ts'
import { DispatchedCall } from './dispatched-call.ts'
import { clientBehind, handlerLike, isHandler } from './handler-form.ts'
import { RequestBody } from './request-body.ts'
import { callHeaders, changedPairs, headerPairs } from './request-headers.ts'

/** The part of the base class of undici's agents that is replaced. */
export interface DispatcherBase {
  dispatch(options: unknown, handler: unknown): unknown
}

/** Parts that all doors of a thread share. */
export interface DoorParts {
  /** A number for the next call. */
  nextId(): number
  /** True for a URL whose calls are not the graph's own. */
  leavesOut(url: string): boolean
}

/** The options of a dispatch that are read here. */
interface DispatchOptions {
  readonly origin?: string | URL
  readonly path?: string
  readonly query?: Readonly<Record<string, string>>
  readonly method?: string
  readonly headers?: unknown
  readonly body?: unknown
  readonly upgrade?: unknown
}

/**
 * Replaces the dispatch of one copy of undici. An agent dispatches to a pool, and that to a client,
 * also later: only the first one counts. Returns a function that undoes it.
 */
export function openDispatcherDoor(base: DispatcherBase, client: CallClient,
  parts: DoorParts): () => void {
  const plain = base.dispatch
  /** Options of dispatches inside of one that counted. */
  const inner = new WeakSet<object>()
  let depth = 0
  base.dispatch = function(this: object, options: unknown, handler: unknown): unknown {
    const scope = depth === 0 ? callScope() : undefined
    if (scope === undefined || !isOutermost(options) || !isHandler(handler)) {
      if (depth > 0 && isObjectLike(options)) inner.add(options)
      return plain.call(this, options, handler)
    }
    const url = urlOf(this, options)
    if (url === undefined || parts.leavesOut(url)) return send(this, options, handler)
    const body = new RequestBody(options.body)
    const pairs = headerPairs(options.headers)
    const call: Call = { id: parts.nextId(), client, method: options.method ?? 'GET', url,
      headers: callHeaders(pairs), body, site: scope.site }
    const decided = decide(() => scope.gate.decide(call))
    if (isPlainPass(decided) && !body.isOpened) return send(this, options, handler)
    const dispatched = new DispatchedCall(clientBehind(handler),
      (events, { headers = {}, watcher }) => {
        const sent = watcher?.sent && ((chunk: Uint8Array) => watcher.sent!(chunk))
        const outgoing = body.outgoing(sent)
        const type = body.contentType
        const changed = changedPairs(pairs, { ...type !== undefined && { 'content-type': type },
          ...headers })
        send(this, { ...options, body: outgoing, headers: changed.flat() },
          handlerLike(handler, events))
      })
    void dispatched.take(decided)
    return true
  }
  return () => {
    base.dispatch = plain
  }

  function isOutermost(options: unknown): options is DispatchOptions {
    if (!isObjectLike(options) || inner.has(options)) return false
    const { method, upgrade } = options as DispatchOptions
    return method !== 'CONNECT' && !upgrade
  }

  /** Dispatches as before. What its agent dispatches in turn is a part of it. */
  function send(dispatcher: object, options: object, handler: unknown): unknown {
    const own = { ...options }
    inner.add(own)
    depth += 1
    try {
      return plain.call(dispatcher as DispatcherBase, own, handler)
    } finally {
      depth -= 1
    }
  }
}

/** The decision, or a failure in the place of an exception. */
function decide(
  ask: () => CallDecision | Promise<CallDecision>,
): CallDecision | Promise<CallDecision> {
  try {
    return ask()
  } catch (error) {
    return { kind: 'fail', error: error instanceof Error ? error : new Error(String(error)) }
  }
}

function isPlainPass(decided: CallDecision | Promise<CallDecision>): boolean {
  if (decided instanceof Promise || decided.kind !== 'pass') return false
  return decided.watcher === undefined && Object.keys(decided.headers ?? {}).length === 0
}

/** The absolute URL; undefined if it cannot be known. */
function urlOf(dispatcher: object, options: DispatchOptions): string | undefined {
  const { origin = originOf(dispatcher), path = '/', query } = options
  const base = origin instanceof URL ? origin.origin : origin
  const text = /^https?:\/\//.test(path) ? path : `${base ?? ''}${path}`
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const each of [value].flat()) url.searchParams.append(name, each)
  }
  url.hash = ''
  return url.href
}

/** The origin of a client or a pool, which has it under a symbol of its own copy. */
function originOf(dispatcher: object): string | undefined {
  const symbol = Object.getOwnPropertySymbols(dispatcher)
    .find(({ description }) => description === 'url')
  const url: unknown = symbol && (dispatcher as Record<symbol, unknown>)[symbol]
  return url instanceof URL ? url.origin : undefined
}

function isObjectLike(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
