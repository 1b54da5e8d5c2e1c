/** The address at which others find a member: that of its connection to Cassandra. */

import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { networkInterfaces } from 'node:os'

import { afterEach, describe, expect, it } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import { ownAddressTowards } from '../../../../src/server/backends/own-address.ts'

const env = systemEnv({ level: 'silent' })
const open: Server[] = []
const hasIpv6 = Object.values(networkInterfaces()).flat()
  .some((each) => each?.address === '::1')

afterEach(() =>
  Promise.all(open.splice(0).map((server) => new Promise((closed) => server.close(closed))))
)

/** A port on which a server listens. */
async function node(host = '127.0.0.1'): Promise<number> {
  const server = createServer()
  open.push(server)
  await new Promise<void>((listening) => server.listen(0, host, listening))
  return (server.address() as AddressInfo).port
}

/** A port on which nothing listens any more. */
async function goneNode(): Promise<number> {
  const port = await node()
  await new Promise((closed) => open.pop()!.close(closed))
  return port
}

describe('the address of a member', () => {
  it('is that of the connection to the first node that answers', async () => {
    const points = [`127.0.0.1:${await goneNode()}`, `localhost:${await goneNode()}`,
      `127.0.0.1:${await node()}`]
    expect(await ownAddressTowards(points, env)).toBe('127.0.0.1')
  })

  it.runIf(hasIpv6)('is an IPv6 address if the node has one', async () => {
    expect(await ownAddressTowards([`[::1]:${await node('::1')}`], env)).toBe('::1')
  })

  it('is an error that names the setting if no node answers', async () => {
    await expect(ownAddressTowards([`127.0.0.1:${await goneNode()}`], env)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('--member-host') as string,
    })
  })
})
