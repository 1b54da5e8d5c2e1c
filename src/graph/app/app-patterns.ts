/** The patterns of an app: which requests may be its. Pure. */

import { linearPattern } from '../../settings/index.ts'

/** A path that an app answers, in the form of Hono. */
export interface AppPattern {
  /** An HTTP method; `ALL` for any. */
  readonly method: string
  readonly path: string
  /** True for middleware, which may leave the answer to what comes after it. */
  readonly isMiddleware: boolean
}

/** For a pattern that cannot be compiled: the app decides alone. */
const any = /^/

/**
 * route        the app has a route for it
 * middleware   only middleware of the app wants to see it
 * unknown      the app has no patterns: it may answer whatever has no other route
 */
export type AppFit = 'route' | 'middleware' | 'unknown'

/** Finds how a request fits an app; undefined if it is not the app's. */
export type FindFit = (method: string, path: string) => AppFit | undefined

/**
 * Makes the finder. It finds too much rather than too little, because the app decides again: a
 * pattern of a parameter, for example, counts as any text. Null stands for an app without patterns.
 */
export function fitFinder(patterns: readonly AppPattern[] | null): FindFit {
  if (patterns === null) return () => 'unknown'
  const tests = patterns.map(({ method, path, isMiddleware }) => ({ method: method.toUpperCase(),
    isMiddleware, expression: linearPattern(`^${expressionOf(path)}/?$`) ?? any })
  )
  return (method, path) => {
    const forms = formsOf(path)
    const found = tests.filter((test) =>
      isOfMethod(test.method, method) && forms.some((form) => test.expression.test(form))
    )
    if (found.length === 0) return undefined
    return found.some(({ isMiddleware }) => !isMiddleware) ? 'route' : 'middleware'
  }
}

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
    const text = isAny ? '[^/]*' : segment.replaceAll(/[$()*+.?[\\\]^{|}-]/g, String.raw`\$&`)
    return segment.startsWith(':') && segment.endsWith('?') ? `(?:/${text})?` : `/${text}`
  }).join('')
}
