/**
 * Limit that a request is charged to: the first row that matches and whose identity the request
 * has.
 *
 * How the specification's patterns are read:
 * - `/x`: the path is `/x` or below it
 * - a star and `/x`: it ends with `/x`
 * - containing `/x`: `/x` is somewhere in it
 * - `{uuid}`: one such segment, and nothing below it
 * - single run: exactly this path
 * - `/generate`: a segment of that name anywhere, as no path begins with it; and
 *   `/runs/generate-query`, whose answer a model writes as well
 *
 * A method in front must be the request's; HEAD counts as GET. A path below `/api/v1` is also read
 * as one below `/api`, for patterns with a version. A pattern that names the whole root adds
 * nothing.
 */

import type { RateLimit } from './limit-rows.ts'
import type { RequestPath } from './request-path.ts'

/** The parts of a request that decide its limit. */
export interface MatchedRequest {
  /** In capitals. */
  readonly method: string
  readonly path: RequestPath
  /** True if the request has an API key. Every request has an address. */
  readonly key: boolean
  readonly user: boolean
}

type Test = (method: string, path: string) => boolean

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

/** Makes the function that finds the limit of a request. `rows` must have a catch-all. */
export function rowMatcher(rows: readonly RateLimit[]): (request: MatchedRequest) => RateLimit {
  const ranked = rows.toSorted((a, b) => a.rank - b.rank)
    .map((limit) => ({ limit, fits: testOf(limit.match) }))
  const everywhere = ranked.filter(({ limit }) => limit.rank >= fallbackRank)
  const edge = ranked.find(({ limit }) => limit.name === 'edge')!
  return ({ method, path: { owner, text, versioned }, key, user }) => {
    const asked = method === 'HEAD' ? 'GET' : method
    const shown = ({ identity }: RateLimit) =>
      identity === 'IP' || (identity === 'x-api-key' ? key : user)
    if (owner !== 'platform' && (asked === 'OPTIONS' || isBelow(text, '/info'))) return edge.limit
    const tried = owner === 'platform' ? ranked : everywhere
    return tried.find(({ limit, fits }) =>
      shown(limit) &&
      (fits(asked, text) || (versioned !== text && fits(asked, versioned)))
    )!.limit
  }
}

/** Rank from which on rows take what matches no other. */
const fallbackRank = 10

function testOf(match: string): Test {
  if (/^(Any|All) /.test(match)) return () => true
  const tests = match.split(/, | or /).map(patternTest)
  return (method, path) => tests.some((test) => test(method, path))
}

function patternTest(pattern: string): Test {
  const { method, containing, path = '', single } =
    /^(?<method>[A-Z]+)? ?(?<containing>containing )?(?<path>[*/]\S*)?(?<single> \(single.*)?$/
      .exec(pattern)!.groups!
  const fits = pathTest(path, { containing: containing !== undefined,
    single: single !== undefined })
  return (asked, asking) => (method === undefined || method === asked) && fits(asking)
}

function pathTest(pattern: string,
  { containing, single }: { readonly containing: boolean; readonly single: boolean }
): (path: string) => boolean {
  if (pattern === '') return () => true
  if (containing) return (path) => path.includes(pattern)
  if (single) return (path) => path === pattern
  if (pattern.startsWith('*')) return (path) => path.endsWith(pattern.slice(1))
  if (pattern.includes('{uuid}')) {
    const whole = new RegExp(`^${pattern.replace('{uuid}', uuid)}$`, 'i')
    return (path) => whole.test(path)
  }
  if (pattern === '/generate') {
    return (path) => `${path}/`.includes('/generate/') || path === '/runs/generate-query'
  }
  return (path) => isBelow(path, pattern)
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`)
}
