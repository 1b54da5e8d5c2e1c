/** Where a member is found by others, told by its way to Cassandra. */

import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { networkInterfaces } from 'node:os'

import { afterEach, describe, expect, it } from 'vitest'

import { systemEnv } from '../../../cluster/index.ts'
import { ownAddressTowards } from '../../../src/server/own-address.ts'

const env = systemEnv({ level: 'silent' })
const open: Server[] = []
const hasIpv6 = Object.values(networkInterfaces()).flat()
  .some((each) => each?.address === '::1')

afterEach(() => Promise.all(open.splice(0).map((server) =>
  new Promise((closed) => server.close(closed)))))

/** A port on which somebody listens. */
async function node(host = '127.0.0.1'): Promise<number> {
  const server = createServer()
  open.push(server)
  await new Promise<void>((listening) => server.listen(0, host, listening))
  return (server.address() as AddressInfo).port
}

/** One on which nobody does any more. */
async function goneNode(): Promise<number> {
  const port = await node()
  await new Promise((closed) => open.pop()!.close(closed))
  return port
}

describe('the address of a member', () => {
  it('is told by the first node that answers', async () => {
    const points = [`127.0.0.1:${await goneNode()}`, `localhost:${await goneNode()}`,
      `127.0.0.1:${await node()}`]
    expect(await ownAddressTowards(points, env)).toBe('127.0.0.1')
  })

  it.runIf(hasIpv6)('is that of IPv6 where the node has one', async () => {
    expect(await ownAddressTowards([`[::1]:${await node('::1')}`], env)).toBe('::1')
  })

  it('is not made up where no node answers', async () => {
    await expect(ownAddressTowards([`127.0.0.1:${await goneNode()}`], env)).rejects.toMatchObject({
      code: 'unavailable', message: expect.stringContaining('--member-host') as string,
    })
  })
})
