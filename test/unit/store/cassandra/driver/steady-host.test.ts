/** Which host is asked first: the same for a while, of those that have the data. */

import { policies, types } from 'cassandra-driver'
import type { ExecutionOptions, Host } from 'cassandra-driver'
import { beforeEach, describe, expect, it } from 'vitest'

import { SteadyHost } from '../../../../../src/store/cassandra/driver/steady-host.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'

/** Returns the plans that the test sets. */
class SeenPlans extends policies.loadBalancing.LoadBalancingPolicy {
  plan = ''
  error: Error | null = null

  override newQueryPlan(_: string, __: ExecutionOptions,
    callback: (error: Error, plan: Iterator<Host>) => void): void {
    callback(this.error!, [...this.plan].map(hostOf).values())
  }

  override getDistance() {
    return types.distance.local
  }
}

const down = new Set<string>()
const hosts = new Map<string, Host>()

function hostOf(address: string): Host {
  const host = hosts.get(address) ?? { address, isUp: () => !down.has(address) } as Host
  hosts.set(address, host)
  return host
}

const ofRow = optionsOf(Buffer.from('key'))

function optionsOf(routingKey: Buffer | undefined, serial?: types.consistencies) {
  return { getRoutingKey: () => routingKey, getSerialConsistency: () => serial } as ExecutionOptions
}

describe('the host that is asked first', () => {
  let env: VirtualEnv
  let seen: SeenPlans
  let policy: SteadyHost

  beforeEach(() => {
    env = virtualEnv()
    seen = new SeenPlans()
    policy = new SteadyHost(env, seen)
    down.clear()
  })

  function planOf(plan: string, options: ExecutionOptions | null = ofRow): string {
    seen.plan = plan
    let hostsInOrder = ''
    policy.newQueryPlan('k', options, (_, each) => {
      for (let next = each.next(); !next.done; next = each.next()) {
        hostsInOrder += next.value.address
      }
    })
    return hostsInOrder
  }

  it('is the same one for 50 ms, and then the one that the driver would ask', () => {
    expect(planOf('abcd')).toBe('abcd')
    expect(planOf('bcad')).toBe('abcd')
    env.advance(49)
    expect(planOf('cba')).toBe('acb')
    env.advance(1)
    expect(planOf('cba')).toBe('cba')
    expect(planOf('abc')).toBe('cab')
  })

  it('is another one if it does not have the data', () => {
    planOf('abc')
    expect(planOf('bcda')).toBe('bcda')
    expect(planOf('cba')).toBe('acb')
  })

  it('is another one as soon as it is down', () => {
    planOf('abc')
    down.add('a')
    expect(planOf('bc')).toBe('bc')
    expect(planOf('cb')).toBe('bc')
  })

  it.each([
    ['no row', optionsOf(undefined)],
    ['a request without options', null],
    ['a compare-and-set', optionsOf(Buffer.from('key'), types.consistencies.localSerial)],
  ])('is the one of the driver for %s, without effect on other requests', (_, options) => {
    expect(planOf('cab', options)).toBe('cab')
    expect(planOf('abc')).toBe('abc')
    expect(planOf('bca', options)).toBe('bca')
    expect(planOf('cba')).toBe('acb')
  })

  it('may be none', () => {
    expect(planOf('')).toBe('')
    expect(planOf('ab')).toBe('ab')
    const failed = seen.error = new Error('no data center')
    policy.newQueryPlan('k', ofRow, (error) => expect(error).toBe(failed))
  })
})
