/**
 * The rate limits of section 8 of the specification: the same rows in the same order.
 *
 * Besides the columns of the specification, each row has
 *   rank     of several rows that match, the lowest is used; of equal ones, the earlier row
 *   without  what happens to requests while the counter cannot be reached:
 *            open    they are let through, as many as this front door's share of the limit; what
 *                    was let through by a member that died is not known afterwards
 *            closed  they are answered 503. Each one that is let through is in the store before it
 *                    is acknowledged: whatever fails, there are never more than `count`
 */

import type { RegionName } from '../settings/index.ts'
import type { LimitRule } from './limit-actor.ts'

export type LimitIdentity = 'IP' | 'x-api-key' | 'x-user-id + IP'

/** A row with the values of a region. */
export interface LimitRow extends LimitRule {
  /** As the specification writes it. */
  readonly match: string
  readonly identity: LimitIdentity
  readonly category: string
  readonly rank: number
  readonly without: 'open' | 'closed'
}

type Count = number | Readonly<Record<RegionName, number>>

type Line = readonly [name: string, match: string, identity: LimitIdentity, count: Count,
  intervalSeconds: number, category: string, rank: number, without: 'open' | 'closed']

const [ip, key, user] = ['IP', 'x-api-key', 'x-user-id + IP'] as const
const commits = { us: 10_000, eu: 2_000 }
const stats = { us: 1, eu: 20 }
const deletion = 'DELETE /sessions or */trigger'
const lookup = 'GET /runs/{uuid} or /api/v1/runs/{uuid}'

const lines: readonly Line[] = [
  ['edge', 'OPTIONS, /info, */v1/metadata/submit', ip, 2000, 10, 'High throughput', 1, 'open'],
  ['auth-key', '/auth', key, 2000, 10, 'High throughput', 8, 'open'],
  ['auth-user', '/auth', user, 2000, 10, 'High throughput', 8, 'open'],
  ['beacon', '/v1/beacon', ip, 2000, 10, 'High throughput', 2, 'open'],
  ['repos-key', '/repos', key, 100, 60, 'Repository', 8, 'open'],
  ['repos-user', '/repos', user, 100, 60, 'Repository', 8, 'open'],
  ['runs-batch', 'POST /runs/batch', key, 2000, 10, 'High throughput', 4, 'open'],
  ['otel-traces', 'POST /otel/v1/traces', key, 2000, 10, 'Run ingest', 4, 'open'],
  ['charts-key', 'POST containing /charts', key, 750, 600, 'Charts', 9, 'closed'],
  ['charts-user', 'POST containing /charts', user, 750, 600, 'Charts', 9, 'closed'],
  ['runs-multipart', 'POST /runs/multipart', key, 6000, 10, 'Multipart ingest', 4, 'open'],
  ['runs-query-key', 'POST /runs/query', key, 15, 10, 'Run query (API)', 5, 'open'],
  ['runs-query-user', 'POST /runs/query', user, 300, 10, 'Run query (User)', 5, 'open'],
  ['generate-key', '/generate', key, 30, 3600, 'Generation', 7, 'closed'],
  ['generate-user', '/generate', user, 30, 3600, 'Generation', 7, 'closed'],
  ['commits-key', '/commits', key, commits, 60, 'Commits', 8, 'open'],
  ['commits-user', '/commits', user, commits, 60, 'Commits', 8, 'open'],
  ['deletion-key', deletion, key, 10, 60, 'Deletion', 6, 'closed'],
  ['deletion-user', deletion, user, 30, 60, 'Deletion', 6, 'closed'],
  ['runs-create', 'POST /runs (single run ingest)', key, 2000, 10, 'Run ingest', 4, 'open'],
  ['runs-update', 'PATCH containing /runs', key, 2000, 10, 'Run ingest', 9, 'open'],
  ['feedback', 'POST /feedback', key, 2000, 10, 'High throughput', 8, 'open'],
  ['run-lookup', lookup, key, 30, 60, 'Run lookup', 5, 'open'],
  ['examples', 'GET containing /examples', key, 5000, 60, 'Examples', 9, 'open'],
  ['default-key', 'Any request with x-api-key', key, 1000, 10, 'Default (API key)', 10, 'open'],
  ['default-user', 'Any request with x-user-id', user, 1000, 10, 'Default (User)', 10, 'open'],
  ['public-download', '/public/download', ip, 5000, 60, 'Public download', 3, 'open'],
  ['runs-stats', '/runs/stats', key, stats, 10, 'Stats', 5, 'closed'],
  ['catch-all', 'All other IPs (catch-all)', ip, 100, 60, 'Public (catch-all)', 11, 'open'],
]

/** Changes to one row; what is absent stays as it is. */
export interface LimitOverride {
  readonly count?: number
  readonly intervalSeconds?: number
}

/** The limits of a region, in the order of the specification. */
export function limitRows(region: RegionName,
  overrides: ReadonlyMap<string, LimitOverride> = new Map()): readonly LimitRow[] {
  return lines.map(([name, match, identity, counts, seconds, category, rank, without]) => {
    const { count = typeof counts === 'number' ? counts : counts[region],
      intervalSeconds = seconds } = overrides.get(name) ?? {}
    return { name, match, identity, category, rank, without, count,
      intervalMs: intervalSeconds * 1_000, durable: without === 'closed' }
  })
}
