/** Ports of this machine that stay reserved even while nothing listens on them. */

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ephemeral range, so that the system gives none of them to another process. */
const [lowest, highest] = [20_000, 32_000]

const given = new Set<number>()

/** The first of `count` adjacent ports. None of them is given out again here. */
export async function firstFreePort(count = 1): Promise<number> {
  for (;;) {
    const first = randomInt(lowest, highest)
    const ports = Array.from({ length: count }, (_, index) => first + index)
    if (ports.some((port) => given.has(port))) continue
    for (const port of ports) given.add(port)
    if ((await Promise.all(ports.map(isFree))).every((free) => free)) return first
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch {
    return false
  }
  await new Promise((closed) => probe.close(closed))
  return true
}
