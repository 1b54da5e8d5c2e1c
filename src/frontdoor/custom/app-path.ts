/** Addresses that an app may answer, and those that are never an app's. Pure. */

import { isDataRoute } from '../mount/index.ts'

/** First segments of addresses for operators and of the server itself. No app ever gets them. */
const kept: ReadonlySet<string> = new Set(['d', 'api', 'api-host', 'control', 'studio', 'internal',
  'metrics', 'limits', 'keys', 'cluster', 'ok', 'docs', 'openapi.json'])

/** True for a path that no app gets, whatever its patterns, and for `*`, which is no path. */
export function isKept(path: string): boolean {
  return !path.startsWith('/') || kept.has(path.split('/', 2)[1]!.toLowerCase())
}

/** True for a path at which the routes of the app are described. */
export function isDescription(path: string): boolean {
  return path === '/openapi.json' || path === '/docs' || path.startsWith('/docs/')
}

/** True for the pattern of a built-in route that middleware of an app may wrap. */
export function isWrapped(pattern: string | undefined): pattern is string {
  if (pattern === undefined || pattern.startsWith('/api/') || isKept(pattern)) return false
  // Where a thread is in a cluster is no route of deployments, and says something of it as well.
  return isDataRoute(pattern) || pattern.startsWith('/threads/')
}

/** The path of a target, without its query. */
export function pathOf(target: string): string {
  const end = target.search(/[?#]/)
  return end < 0 ? target : target.slice(0, end)
}
