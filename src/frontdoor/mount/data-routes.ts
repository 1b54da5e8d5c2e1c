/** Routes that a deployment has: those of its data, and what it says of itself. */

const ofDeployments = new Set(['ok', 'info', 'docs', 'openapi.json', 'assistants', 'threads',
  'runs', 'store', 'ui', 'api', 'mcp', 'a2a', '.well-known'])
/** Prefix of the typed API. */
const services = '/frontdoor.v1.'
const ofTheServer = new Set(['/threads/:thread_id/place'])

/** The page that a person sees at the address of a deployment. */
const pagePattern = '/'

/** True for the pattern of a route that deployments have. All others are of the server itself. */
export function isDataRoute(pattern: string | undefined): boolean {
  if (pattern === undefined || ofTheServer.has(pattern)) return false
  if (pattern === pagePattern) return true
  return ofDeployments.has(pattern.split('/', 2)[1]!) || isTypedCall(pattern)
}

/** True for the pattern of a call of the typed API. */
export function isTypedCall(pattern: string | undefined): boolean {
  return pattern?.startsWith(services) ?? false
}

/** True for routes that answer without an active revision: what the platform has is kept. */
export function needsNoRevision(pattern: string): boolean {
  return pattern.startsWith('/api/')
}

const creating = new Set(['/runs', '/runs/stream', '/runs/wait', '/runs/batch',
  '/threads/:thread_id/runs', '/threads/:thread_id/runs/stream', '/threads/:thread_id/runs/wait',
  `${services}RunService/CreateRun`, `${services}RunService/StreamRun`,
  `${services}RunService/WaitRun`])

/** True for a request that makes a run. Commands of protocol v2 are looked at one by one. */
export function createsRun(method: string, pattern: string): boolean {
  return method === 'POST' && creating.has(pattern)
}
