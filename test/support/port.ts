/** Ports of this machine that nobody listens on right now. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** The first of as many neighbours. */
export async function firstFreePort(count: number): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((closed) => probe.close(closed))
  return Math.min(port, 65_535 - count)
}
