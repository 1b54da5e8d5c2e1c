/** Calls to the ports of the store are counted, and passed on unchanged. */

import { describe, expect, it } from 'vitest'

import type { ClaimOutcome, SessionPort, ShardClaim, ShardPort } from '../../../../cluster/index.ts'
import { meteredLog, meteredSessions,
  meteredShards } from '../../../../src/server/metrics/metered-ports.ts'
import { Metrics } from '../../../../src/server/metrics/metrics.ts'
import { virtualEnv } from '../../../support/env.ts'
import { MemoryLog } from '../../../support/memory-log.ts'

async function linesOf(metrics: Metrics, name: string): Promise<string[]> {
  return (await metrics.text()).split('\n')
    .filter((line) => line.startsWith(`heddle_${name}`) && !line.includes('_bucket'))
}

describe('the sessions of members', () => {
  it('are counted as validated by their own member only, and as fenced', async () => {
    const [metrics, env] = [new Metrics(), virtualEnv()]
    let state: 'alive' | 'fenced' = 'alive'
    const sessions: SessionPort = {
      join: async () => {},
      leave: async () => {},
      fence: async () => 'fenced',
      state: async (session) => {
        env.advance(20)
        if (session === 'lost') throw new Error('out of reach')
        return state
      },
    }
    const metered = meteredSessions(sessions, metrics, env)
    await metered.join({ id: 'me', address: 'here' })
    expect(await metered.state('me')).toBe('alive')
    expect(await metered.state('other')).toBe('alive')
    state = 'fenced'
    expect(await metered.state('me')).toBe('fenced')
    expect(await metered.fence('other', 'me')).toBe('fenced')
    expect(await linesOf(metrics, 'fences_total')).toEqual(
      ['heddle_fences_total{outcome="fenced"} 1'],
    )
    expect(await linesOf(metrics, 'gate_validation')).toEqual([
      'heddle_gate_validation_duration_seconds_sum{outcome="alive"} 0.02',
      'heddle_gate_validation_duration_seconds_count{outcome="alive"} 1',
      'heddle_gate_validation_duration_seconds_sum{outcome="over"} 0.02',
      'heddle_gate_validation_duration_seconds_count{outcome="over"} 1',
    ])
    await metered.join({ id: 'lost', address: 'here' })
    await expect(metered.state('lost')).rejects.toThrow('out of reach')
    expect(await linesOf(metrics, 'gate_validation_duration_seconds_count{outcome="failed"}'))
      .toHaveLength(1)
  })
})

describe('shards', () => {
  it('are counted as new, given back or lost by their last owner, and as given', async () => {
    const metrics = new Metrics()
    let outcome: ClaimOutcome = { kind: 'claimed' }
    const port: ShardPort = { owners: async () => [], owner: async () => undefined,
      claim: async () => outcome }
    const { claim } = meteredShards(port, metrics)
    const owner = (session: string | null, epoch = 1): ShardClaim => ({ shard: 1, epoch, session,
      address: 'a' })
    await claim({ from: undefined, to: owner('me') })
    await claim({ from: owner(null), to: owner('me', 2) })
    await claim({ from: owner('dead'), to: owner('me', 3) })
    await claim({ from: owner('me', 3), to: owner('me', 4) })
    await claim({ from: owner('me', 4), to: owner(null, 4) })
    outcome = { kind: 'unknown' }
    await claim({ from: owner('dead'), to: owner('me', 3) })
    expect(await linesOf(metrics, 'shards_')).toEqual([
      'heddle_shards_taken_total{from="new"} 1',
      'heddle_shards_taken_total{from="given"} 1',
      'heddle_shards_taken_total{from="lost"} 1',
      'heddle_shards_given_total 1',
    ])
  })
})

describe('the log', () => {
  it('has its appends counted by outcome, and their bytes', async () => {
    const [metrics, env, log] = [new Metrics(), virtualEnv(), new MemoryLog()]
    const metered = meteredLog(log, metrics, env)
    const branch = { id: 'b', bornSeq: 0, ancestors: [] } as never
    const row = { tenant: 't', branch, epoch: 1, seq: 1, prevEpoch: 0, body: new Uint8Array(30),
      places: [] }
    await metered.append([row], [])
    await expect(metered.append([{ ...row, epoch: 0 }], [])).rejects.toThrow()
    const lines = await linesOf(metrics, 'log_')
    expect(lines).toContain('heddle_log_bytes_total 30')
    expect(lines).toContain('heddle_log_append_duration_seconds_count{outcome="ok"} 1')
    expect(lines).toContain('heddle_log_append_duration_seconds_count{outcome="failed"} 1')
  })
})
