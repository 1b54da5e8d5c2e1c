/**
 * The rate limits of section 8 of the specification: the same rows in the same order.
 *
 * Besides the columns of the specification, each row has a `rank` and an `onOutage`. Of several
 * rows that match, the one with the lowest rank is used; of equal ones, the earlier row. `onOutage`
 * says what happens to requests while the counter cannot be reached:
 * - allow: they are let through, as many as this front door's share of the limit. What was let
 *   through by a member that died is not known afterwards.
 * - deny: they are answered 503. Each one that is let through is in the store before it is
 *   acknowledged. Whatever fails, there are never more than `count`.
 */

import type { RegionName } from '../settings/index.ts'
import type { LimitRule } from './limit-actor.ts'

/** Subject that a limit counts for: an address, an API key, or a user. */
export type LimitIdentity = 'IP' | 'x-api-key' | 'x-user-id + IP'

/** A limit that requests are charged to. */
export interface ChargedLimit extends LimitRule {
  /** Purpose of the limit, in words. */
  readonly category: string
  readonly onOutage: 'allow' | 'deny'
}

/** A row with the values of a region. */
export interface RateLimit extends ChargedLimit {
  /** Pattern as the specification writes it. */
  readonly match: string
  readonly identity: LimitIdentity
  readonly rank: number
}

type Count = number | Readonly<Record<RegionName, number>>

type Line = readonly [name: string, match: string, identity: LimitIdentity, count: Count,
  intervalSeconds: number, category: string, rank: number, without: 'allow' | 'deny']

const [ip, key, user] = ['IP', 'x-api-key', 'x-user-id + IP'] as const
const commits = { us: 10_000, eu: 2_000 }
const stats = { us: 1, eu: 20 }
const deletion = 'DELETE /sessions or */trigger'
const lookup = 'GET /runs/{uuid} or /api/v1/runs/{uuid}'

const lines: readonly Line[] = [
  ['edge', 'OPTIONS, /info, */v1/metadata/submit', ip, 2000, 10, 'High throughput', 1, 'allow'],
  ['auth-key', '/auth', key, 2000, 10, 'High throughput', 8, 'allow'],
  ['auth-user', '/auth', user, 2000, 10, 'High throughput', 8, 'allow'],
  ['beacon', '/v1/beacon', ip, 2000, 10, 'High throughput', 2, 'allow'],
  ['repos-key', '/repos', key, 100, 60, 'Repository', 8, 'allow'],
  ['repos-user', '/repos', user, 100, 60, 'Repository', 8, 'allow'],
  ['runs-batch', 'POST /runs/batch', key, 2000, 10, 'High throughput', 4, 'allow'],
  ['otel-traces', 'POST /otel/v1/traces', key, 2000, 10, 'Run ingest', 4, 'allow'],
  ['charts-key', 'POST containing /charts', key, 750, 600, 'Charts', 9, 'deny'],
  ['charts-user', 'POST containing /charts', user, 750, 600, 'Charts', 9, 'deny'],
  ['runs-multipart', 'POST /runs/multipart', key, 6000, 10, 'Multipart ingest', 4, 'allow'],
  ['runs-query-key', 'POST /runs/query', key, 15, 10, 'Run query (API)', 5, 'allow'],
  ['runs-query-user', 'POST /runs/query', user, 300, 10, 'Run query (User)', 5, 'allow'],
  ['generate-key', '/generate', key, 30, 3600, 'Generation', 7, 'deny'],
  ['generate-user', '/generate', user, 30, 3600, 'Generation', 7, 'deny'],
  ['commits-key', '/commits', key, commits, 60, 'Commits', 8, 'allow'],
  ['commits-user', '/commits', user, commits, 60, 'Commits', 8, 'allow'],
  ['deletion-key', deletion, key, 10, 60, 'Deletion', 6, 'deny'],
  ['deletion-user', deletion, user, 30, 60, 'Deletion', 6, 'deny'],
  ['runs-create', 'POST /runs (single run ingest)', key, 2000, 10, 'Run ingest', 4, 'allow'],
  ['runs-update', 'PATCH containing /runs', key, 2000, 10, 'Run ingest', 9, 'allow'],
  ['feedback', 'POST /feedback', key, 2000, 10, 'High throughput', 8, 'allow'],
  ['run-lookup', lookup, key, 30, 60, 'Run lookup', 5, 'allow'],
  ['examples', 'GET containing /examples', key, 5000, 60, 'Examples', 9, 'allow'],
  ['default-key', 'Any request with x-api-key', key, 1000, 10, 'Default (API key)', 10, 'allow'],
  ['default-user', 'Any request with x-user-id', user, 1000, 10, 'Default (User)', 10, 'allow'],
  ['public-download', '/public/download', ip, 5000, 60, 'Public download', 3, 'allow'],
  ['runs-stats', '/runs/stats', key, stats, 10, 'Stats', 5, 'deny'],
  ['catch-all', 'All other IPs (catch-all)', ip, 100, 60, 'Public (catch-all)', 11, 'allow'],
]

/** Changes to one row. What is absent stays as it is. */
export interface LimitOverride {
  readonly count?: number
  readonly intervalSeconds?: number
}

/** The limits of a region, in the order of the specification. */
export function rateLimits(region: RegionName,
  overrides: ReadonlyMap<string, LimitOverride> = new Map()): readonly RateLimit[] {
  return lines.map(([name, match, identity, counts, seconds, category, rank, onOutage]) => {
    const { count = typeof counts === 'number' ? counts : counts[region],
      intervalSeconds = seconds } = overrides.get(name) ?? {}
    return { name, match, identity, category, rank, onOutage, count,
      intervalMs: intervalSeconds * 1_000, durable: onOutage === 'deny' }
  })
}
