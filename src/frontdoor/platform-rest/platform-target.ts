/**
 * One address for every way to write a route of the platform: `/api/v1/…`, or `/api/v2/…` for the
 * newer API.
 */

import { plainTarget, requestPath } from '../../limits/index.ts'

/**
 * The target of a request line as the router has it. Routes of a deployment stay as they are. All
 * others get the one root of the platform, whether they came with `/api`, `/api/v1` or bare; a bare
 * `/v2/…` is the newer API. A slash at the end is dropped.
 */
export function routedTarget(target: string): string {
  const plain = hostedTarget(plainTarget(target))
  if (requestPath(plain).owner === 'deployment') return plain.replace(/^\/mcp\/(?=[?#]|$)/, '/mcp')
  const end = plain.search(/[?#]/)
  const [path, query] = end < 0 ? [plain, ''] : [plain.slice(0, end), plain.slice(end)]
  // What servers report about themselves comes below any path.
  const bare = path.replace(/^\/api(?=\/|$)/, '').replace(/\/$/, '')
    .replace(/^.*(?=\/v1\/metadata\/submit$)/, '')
  const rooted = /^\/v[12](\/|$)/.test(bare) ? bare : `/v1${bare}`
  // The client for Python takes the root of OpenTelemetry for the address of its traces.
  const whole = rooted === '/v1/otel' ? '/v1/otel/v1/traces' : rooted
  return `/api${withQuery(whole, query)}`
}

/**
 * The same at a port where bare paths are the platform's as well. The prefix of a deployment, as
 * `/d/shop`, stays before it.
 */
export function platformTarget(target: string): string {
  const plain = hostedTarget(plainTarget(target))
  if (plain.startsWith(hostedRoot)) return plain
  const [, prefix = '', own = plain] = /^(\/d\/[^/?#]+)(.*)$/s.exec(plain) ?? []
  return prefix + routedTarget(/^\/api(?=[/?#]|$)/.test(own) ? own : `/api${own}`)
}

/** Path to which the official commands deploy, as they make it of `LANGSMITH_ENDPOINT`. */
export const commandRoot = '/api-host'
/** Path below which the routes of these commands are. */
export const hostedRoot = '/control/hosted'

function hostedTarget(target: string): string {
  return target.replace(/^\/api-host(?=[/?#]|$)/, hostedRoot)
}

/**
 * Some clients forget the mark between a path and its query: `/public/{token}/runsshare_token=…`.
 */
function withQuery(path: string, query: string): string {
  return path.replace(/^(\/v1\/public\/[^/]+\/runs)(?=share_token=)/, '$1?') + query
}
