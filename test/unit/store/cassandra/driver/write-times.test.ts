/** Timestamps of writes under clocks that jump. */

import type { Client } from 'cassandra-driver'
import { describe, expect, it } from 'vitest'

import { clientOptions } from '../../../../../src/store/cassandra/driver/client-options.ts'
import { clocksApartMs } from '../../../../../src/limits/index.ts'
import { virtualEnv } from '../../../../support/env.ts'

const dayMs = 86_400_000
const client = {} as Client

/** A clock that jumps by `aheadMs`, and the timestamps of writes in milliseconds. */
function createWrites() {
  const clock = { ms: Date.UTC(2026, 0), aheadMs: 0 }
  const { policies: { timestampGeneration } } = clientOptions({
    env: { ...virtualEnv(), nowMs: () => clock.ms + clock.aheadMs, monotonicMs: () => clock.ms },
    contactPoints: ['127.0.0.1'],
    localDataCenter: 'datacenter1',
    keyspace: 'heddle',
  })
  return { clock, write: () => Number(timestampGeneration.next(client)) / 1_000 }
}

describe('Timestamps of writes', () => {
  it('follow the clock and increase within a millisecond', () => {
    const { clock, write } = createWrites()
    const [first, second] = [write(), write()]
    expect(first).toBe(clock.ms)
    expect(second).toBeGreaterThan(first)
    clock.ms += 10
    expect(write()).toBe(clock.ms)
  })

  it('do not follow a clock that jumps ahead, so that later deletions cover the cells', () => {
    const { clock, write } = createWrites()
    clock.aheadMs = 500 * dayMs
    const ahead = write()
    expect(ahead).toBeLessThanOrEqual(clock.ms + clocksApartMs + 1)
    clock.aheadMs = 0
    clock.ms += clocksApartMs + 2
    expect(write()).toBeGreaterThan(ahead)
  })
})
