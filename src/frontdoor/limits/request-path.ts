/** The path of a request as limits read it: one text for all the ways to write the same route. */

/**
 * Whose route it is. Both are at one port:
 *   platform    everything below /api, and whatever is no route of the other
 *   deployment  assistants, threads, runs, the store: the graphs that are served
 *   later       a newer version of the platform, which has no rows of its own
 */
export type PathOwner = 'platform' | 'deployment' | 'later'

export interface RequestPath {
  readonly owner: PathOwner
  /** Without its root; what was escaped is plain but for slashes, and none is at the end. */
  readonly text: string
}

const deploymentRoots = new Set(['', 'assistants', 'threads', 'store', 'mcp', 'a2a', 'ui', 'ok',
  'info', 'docs', 'openapi.json', 'internal', 'metrics'])
/** Of the typed API. */
const deploymentServices = 'frontdoor.v1.'
/** What a deployment has below /runs; everything else there is the platform's. */
const deploymentRuns = new Set(['stream', 'wait', 'batch', 'cancel', 'crons'])
const deploymentOfRun = new Set(['stream', 'join', 'cancel'])

/** Of the target of a request line, query and all. */
export function requestPath(target: string): RequestPath {
  const text = textOf(plainPath(target))
  const end = text.indexOf('/', 1)
  const root = text.slice(1, end < 0 ? undefined : end)
  if (root !== 'api') return { owner: isDeployment(root, text) ? 'deployment' : 'platform', text }
  const [, version, below] = /^\/api(\/v[12](?=\/|$))?(.*)$/s.exec(text)!
  return { owner: version === '/v2' ? 'later' : 'platform', text: below || '/' }
}

/**
 * Without the query, repeated slashes and dot segments, as the router is given it. A client library
 * resolves those before it asks; whoever writes them by hand gets the same route, and limit.
 */
function plainPath(target: string): string {
  const [path] = dividedAtQuery(target)
  if (!mayNeedResolving.test(path)) return path
  const resolved: string[] = []
  const segments = path.split('/').slice(1)
  for (const [place, segment] of segments.entries()) {
    const dots = segment.replaceAll(/%2e/gi, '.')
    if (dots === '..') resolved.pop()
    if (dots !== '' && dots !== '.' && dots !== '..') resolved.push(segment)
    else if (place === segments.length - 1) resolved.push('')
  }
  return `/${resolved.join('/')}`
}

/** The target with a plain path; itself where there is nothing to do. */
export function plainTarget(target: string): string {
  const [path, query] = dividedAtQuery(target)
  return mayNeedResolving.test(path) ? plainPath(path) + query : target
}

const mayNeedResolving = /\/(?:\/|\.|%2e)/i
/** Whoever asks a proxy names the server too. */
const origin = /^https?:\/\/[^/?#]*/i

function dividedAtQuery(target: string): [path: string, query: string] {
  const named = target.startsWith('/') ? target : target.replace(origin, '')
  const end = named.search(/[?#]/)
  return end < 0 ? [named, ''] : [named.slice(0, end), named.slice(end)]
}

/** Every request comes by here: most have nothing escaped, and are not taken apart. */
function textOf(path: string): string {
  const begin = path.indexOf('/')
  if (begin < 0) return '/'
  const below = path.slice(begin, path.endsWith('/') && path.length > begin + 1 ? -1 : undefined)
  return below.includes('%') ? below.split('/').map(decoded).join('/') : below
}

/** An escaped slash divides nothing, for the router either. */
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
