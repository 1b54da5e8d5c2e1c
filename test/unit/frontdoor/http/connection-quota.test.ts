/** How connections are counted by address. */

import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'

import { ConnectionQuota,
  fromProxies } from '../../../../src/frontdoor/http/connections/connection-quota.ts'
import { ipRange } from '../../../../src/settings/ip-address.ts'

const from = (remoteAddress: string) =>
  Object.assign(new EventEmitter() as Socket, { remoteAddress })

describe('a quota of connections', () => {
  it('counts each address by itself, and of IPv6 the /64', () => {
    const quota = new ConnectionQuota({ perAddress: 1, isExempt: () => false })
    const admits = (address: string) => quota.admits(from(address))
    expect(['10.0.0.1', '10.0.0.2', '2001:db8::1', '2001:db8:0:1::1'].map(admits))
      .toEqual([true, true, true, true])
    expect(['::ffff:10.0.0.1', '2001:db8::2'].map(admits)).toEqual([false, false])
    expect(quota.refused).toBe(2)
  })

  it('forgets a connection that is closed', () => {
    const quota = new ConnectionQuota({ perAddress: 1, isExempt: () => false })
    for (let i = 0; i < 3; i++) {
      const socket = from('10.0.0.1')
      expect(quota.admits(socket)).toBe(true)
      socket.emit('close')
    }
  })

  it('exempts this machine and named proxies', () => {
    const isExempt = fromProxies([ipRange('10.0.0.0/8')!])
    expect(['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.1.2.3', '::ffff:10.1.2.3'].map(isExempt))
      .toEqual([true, true, true, true, true])
    expect(['11.0.0.1', '2001:db8::1', ''].map(isExempt)).toEqual([false, false, false])
  })
})
