/** Ports of this machine that nobody listens on right now. */

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that a system gives to whoever asks for any: nobody comes upon one by chance. */
const [lowest, highest] = [20_000, 32_000]

/** The first of as many neighbours. */
export async function firstFreePort(count: number): Promise<number> {
  for (;;) {
    const first = randomInt(lowest, highest)
    const ports = Array.from({ length: count }, (_, place) => first + place)
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
