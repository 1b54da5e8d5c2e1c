/** The path of a request, normalised: one text for all the ways to write the same route. */

/**
 * The API that a route belongs to. Both are served at one port.
 *
 * platform    everything below /api, and all that is no route of a deployment
 * deployment  assistants, threads, runs, the store: the served graphs
 * later       a newer version of the platform API, which has no limits of its own
 */
export type PathOwner = 'platform' | 'deployment' | 'later'

/** A path as patterns of limits see it. */
export interface RequestPath {
  readonly owner: PathOwner
  /** Path without its root and without a slash at the end; unescaped, except for slashes. */
  readonly text: string
  /** The path if only /api is its root. Some routes, such as /v1/beacon, begin with a version. */
  readonly versioned: string
}

const deploymentRoots = new Set(['', 'assistants', 'threads', 'store', 'mcp', 'a2a', 'ui', 'ok',
  'info', 'docs', 'openapi.json', 'internal', 'metrics', 'limits', 'keys', 'cluster', 'studio',
  'control', '.well-known'])
/** Prefix of the typed API. */
const deploymentServices = 'frontdoor.v1.'
/** Routes of a deployment below /runs. All others there belong to the platform. */
const deploymentRuns = new Set(['stream', 'wait', 'batch', 'cancel', 'search', 'crons'])
const deploymentOfRun = new Set(['stream', 'join', 'cancel'])

/** The path in the target of a request line, which may have a query. */
export function requestPath(target: string): RequestPath {
  const text = textOf(plainPath(target))
  const end = text.indexOf('/', 1)
  const root = text.slice(1, end < 0 ? undefined : end)
  if (root !== 'api') {
    return { owner: isDeployment(root, text) ? 'deployment' : 'platform', text, versioned: text }
  }
  const [, version = '', below] = /^\/api(\/v[12](?=\/|$))?(.*)$/s.exec(text)!
  return { owner: version === '/v2' ? 'later' : 'platform', text: below || '/',
    versioned: `${version}${below}` }
}

/**
 * The path without the query, repeated slashes and dot segments. The router gets it like this, too.
 * Client libraries resolve those before they send. A path written by hand gets the same route and
 * limit.
 */
function plainPath(target: string): string {
  const [path] = dividedAtQuery(target)
  if (!mayNeedResolving.test(path)) return path
  const resolved: string[] = []
  const segments = path.split('/').slice(1)
  for (const [index, segment] of segments.entries()) {
    const dots = segment.replaceAll(/%2e/gi, '.')
    if (dots === '..') resolved.pop()
    if (dots !== '' && dots !== '.' && dots !== '..') resolved.push(segment)
    else if (index === segments.length - 1) resolved.push('')
  }
  return `/${resolved.join('/')}`
}

/**
 * The target with a plain path; unchanged if its path is plain already. If it cannot be unescaped,
 * nothing in it counts as escaped, because the router would refuse it before it is charged.
 */
export function plainTarget(target: string): string {
  const [path, query] = dividedAtQuery(target)
  if (!isReadable(path)) return plainPath(path).replaceAll('%', '%25') + query
  return mayNeedResolving.test(path) ? plainPath(path) + query : target
}

function isReadable(path: string): boolean {
  if (!path.includes('%')) return true
  try {
    decodeURI(path)
    return true
  } catch {
    return false
  }
}

const mayNeedResolving = /\/(?:\/|\.|%2e)/i
/** Requests that are addressed to a proxy name the server in their target. */
const origin = /^https?:\/\/[^/?#]*/i

function dividedAtQuery(target: string): [path: string, query: string] {
  const named = target.startsWith('/') ? target : target.replace(origin, '')
  const end = named.search(/[?#]/)
  return end < 0 ? [named, ''] : [named.slice(0, end), named.slice(end)]
}

/**
 * True if a path has an escaped slash and dot segments. Some proxies unescape slashes before they
 * resolve the dots and some do not, so their rules may have held for another path.
 */
export function isAmbiguous(target: string): boolean {
  if (!escapedSlash.test(target)) return false
  const [path] = dividedAtQuery(target)
  return escapedSlash.test(path) && path.replaceAll(/%2f|%5c|\\/gi, '/').split('/')
    .some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))
}

const escapedSlash = /%2f|%5c|\\/i

/** The path as text. Called for every request; most have nothing escaped, and need no splitting. */
function textOf(path: string): string {
  const begin = path.indexOf('/')
  if (begin < 0) return '/'
  const below = path.slice(begin, path.endsWith('/') && path.length > begin + 1 ? -1 : undefined)
  return below.includes('%') ? below.split('/').map(decoded).join('/') : below
}

/**
 * Unescapes a segment. An escaped slash separates no segments, which is so for the router as well.
 */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment).replaceAll('/', '%2F')
  } catch {
    return segment
  }
}

function isDeployment(root: string, text: string): boolean {
  if (root !== 'runs') return deploymentRoots.has(root) || root.startsWith(deploymentServices)
  const [, , second, third, fourth] = text.split('/')
  if (second === undefined || second === 'crons') return true
  if (third === undefined) return deploymentRuns.has(second)
  return fourth === undefined && deploymentOfRun.has(third)
}
