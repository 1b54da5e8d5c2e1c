/** The patterns of an app: which requests may be its. Pure. */

import { linearPattern } from '../../settings/index.ts'

/** A path that an app answers, in the form of Hono. */
export interface AppPattern {
  /** An HTTP method; `ALL` for any. */
  readonly method: string
  readonly path: string
  /** True for middleware, which may leave the answer to what comes after it. */
  readonly isMiddleware: boolean
  /**
   * True for a handler of all methods that declares no second parameter. Hono registers handlers
   * of `use` and `all` in the same way, so the handler may be a route or middleware.
   */
  readonly isAmbiguous?: boolean
}

/** For a pattern that cannot be compiled: the app decides alone. */
const any = /^/

/**
 * route        the app has a route for it
 * either       the app has a handler for it that may be a route or middleware
 * middleware   only middleware of the app wants to see it
 * unknown      the app has no patterns: it may answer whatever has no other route
 */
export type AppFit = 'route' | 'either' | 'middleware' | 'unknown'

/** Finds how a request fits an app; undefined if it is not the app's. */
export type FindFit = (method: string, path: string) => AppFit | undefined

/**
 * Makes the finder. It finds too much rather than too little, because the app decides again: a
 * pattern of a parameter, for example, counts as any text. Null stands for an app without patterns.
 */
export function fitFinder(patterns: readonly AppPattern[] | null): FindFit {
  if (patterns === null) return () => 'unknown'
  const tests = patterns.map(compile)
  return (method, path) => {
    const found = testsAt(tests, { method, path }).map(({ pattern }) => pattern)
    if (found.length === 0) return undefined
    const others = found.filter(({ isMiddleware }) => !isMiddleware)
    if (others.length === 0) return 'middleware'
    return others.every(({ isAmbiguous }) => isAmbiguous) ? 'either' : 'route'
  }
}

/** A method and a path. A part of the path such as `:id` matches any text. */
export interface AppAddressed {
  readonly method: string
  readonly path: string
}

/**
 * Returns true if a handler of the app gets some request to these operations and gets no request to
 * the call: whoever calls in this way would avoid that handler.
 */
export type IsAvoided = (call: AppAddressed, operations: readonly AppAddressed[]) => boolean

/** Makes the test. An app without patterns gets no request that has another route. */
export function avoidedFinder(patterns: readonly AppPattern[] | null): IsAvoided {
  const tests = (patterns ?? []).map(compile)
  return (call, operations) => {
    const seen = new Set(testsAt(tests, call))
    return operations.some(({ method, path }) =>
      testsAt(tests, { method, path: path.replaceAll(/:\w+/g, anySegment) })
        .some((test) => !seen.has(test))
    )
  }
}

interface PatternTest {
  readonly pattern: AppPattern
  readonly expression: RegExp
}

function compile(pattern: AppPattern): PatternTest {
  return { pattern, expression: linearPattern(`^${expressionOf(pattern.path)}/?$`) ?? any }
}

function testsAt(tests: readonly PatternTest[], { method, path }: AppAddressed): PatternTest[] {
  const forms = formsOf(path)
  return tests.filter(({ pattern, expression }) =>
    isOfMethod(pattern.method.toUpperCase(), method) && forms.some((form) => expression.test(form))
  )
}

/** A segment that any part of a pattern fits. No path of a request has this character. */
const anySegment = '\0'

function isOfMethod(wanted: string, method: string): boolean {
  return wanted === 'ALL' || wanted === method || (wanted === 'GET' && method === 'HEAD')
}

/** The path as it came, and as routers read it. */
function formsOf(path: string): string[] {
  if (!path.includes('%')) return [path]
  const forms = [path]
  for (const read of [decodeURI, decodeURIComponent]) {
    try {
      forms.push(read(path))
    } catch {
      // A router reads no more of it.
    }
  }
  return forms
}

/**
 * An expression in linear time: whatever follows a part in braces, which may fit slashes, counts as
 * any text.
 */
function expressionOf(path: string): string {
  const brace = path.indexOf('{')
  if (brace >= 0) return `${fixed(path.slice(0, path.lastIndexOf('/', brace)))}(?:/[\\s\\S]*)?`
  // `/a/*` fits `/a` as well.
  return path === '*' || path.endsWith('/*')
    ? `${fixed(path.slice(0, -2))}(?:/[\\s\\S]*)?`
    : fixed(path)
}

function fixed(path: string): string {
  return path.split('/').filter((segment) => segment !== '').map((segment) => {
    const isAny = segment.startsWith(':') || segment.includes('*')
    const text = isAny ? '[^/]*' : `(?:${escaped(segment)}|${anySegment})`
    return segment.startsWith(':') && segment.endsWith('?') ? `(?:/${text})?` : `/${text}`
  }).join('')
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}-]/g, String.raw`\$&`)
}
