/** The limits are those of the specification, row by row, in both regions. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { rateLimits } from '../../../src/limits/limit-rows.ts'
import type { RegionName } from '../../../src/settings/region.ts'

interface SpecifiedRow {
  readonly match: string
  readonly identity: string
  readonly limit: string
  readonly category: string
}

function specified(): SpecifiedRow[] {
  const text = readFileSync(join(import.meta.dirname, 'specification.md'), 'utf8')
  const [, , ...lines] = text.split('\n').filter((line) => line.startsWith('|'))
  return lines.map((line) => {
    const [match, identity, limit, category] = line.replaceAll('`', '').split('|')
      .slice(1, -1).map((cell) => cell.trim())
    return { match: match!, identity: identity!, limit: limit!, category: category! }
  })
}

/** `10000 / 60 (US), 2000 / 60 (EU)`, or one for both. */
function limitIn(region: RegionName, limit: string): { count: number; intervalMs: number } {
  const own = limit.split(', ').find((part) => part.endsWith(`(${region.toUpperCase()})`)) ?? limit
  const [, count, seconds] = /^(\d+) \/ (\d+)/.exec(own)!
  return { count: Number(count), intervalMs: Number(seconds) * 1_000 }
}

describe.each(['us', 'eu'] as const)('the limits of %s', (region) => {
  it('are those of the specification, row by row', () => {
    const rows = specified()
    expect(rows).toHaveLength(29)
    expect(
      rateLimits(region).map(({ match, identity, count, intervalMs, category }) => ({ match,
        identity, count, intervalMs, category })
      ),
    )
      .toEqual(
        rows.map(({ limit, match, identity, category }) => ({ match, identity,
          ...limitIn(region, limit), category })
        ),
      )
  })

  it('each have a name, and are durable if they are closed without their counter', () => {
    const rows = rateLimits(region)
    expect(new Set(rows.map(({ name }) => name)).size).toBe(29)
    for (const { name } of rows) expect(name).toMatch(/^[a-z-]+$/)
    for (const { durable, onOutage } of rows) expect(durable).toBe(onOutage === 'deny')
    expect(rows.filter(({ onOutage }) => onOutage === 'deny').map(({ category }) => category))
      .toEqual(['Charts', 'Charts', 'Generation', 'Generation', 'Deletion', 'Deletion', 'Stats'])
  })
})

it('Only commits and stats differ between the regions.', () => {
  const eu = rateLimits('eu')
  expect(rateLimits('us').filter((limit, index) => limit.count !== eu[index]!.count)
    .map(({ name }) => name)).toEqual(['commits-key', 'commits-user', 'runs-stats'])
})

it('An override changes only what it names, and only in its own row.', () => {
  const rows = rateLimits('us',
    new Map([['auth-key', { count: 7 }], ['catch-all', { intervalSeconds: 2 }]]))
  const changed = rateLimits('us').flatMap((limit, index) =>
    limit.count === rows[index]!.count && limit.intervalMs === rows[index]!.intervalMs
      ? []
      : [rows[index]]
  )
  expect(changed).toEqual([
    expect.objectContaining({ name: 'auth-key', count: 7, intervalMs: 10_000 }),
    expect.objectContaining({ name: 'catch-all', count: 100, intervalMs: 2_000 }),
  ])
})
