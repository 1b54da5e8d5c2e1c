/** Ports of this machine that stay reserved even while nothing listens on them. */

import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ephemeral range, so that the system gives none of them to another process. */
const [lowest, highest] = [20_000, 32_000]

/** The first of `count` adjacent ports, which no process of tests gets until this one ends. */
export async function firstFreePort(count = 1): Promise<number> {
  for (;;) {
    const first = randomInt(lowest, highest)
    const ports = Array.from({ length: count }, (_, index) => first + index)
    const reserved = await Promise.all(ports.map(reserve))
    const free = await Promise.all(ports.map(isFree))
    if (free.every(Boolean) && reserved.every(Boolean)) return first
    for (const socket of reserved) socket?.close()
  }
}

/**
 * Reserves a port by the UDP socket of the same number: servers of tests speak TCP alone, and the
 * system closes the socket however this process ends. Resolves with none where another has it.
 */
async function reserve(port: number): Promise<Socket | undefined> {
  const socket = createSocket('udp4').unref()
  socket.bind({ port, address: '127.0.0.1', exclusive: true })
  try {
    await once(socket, 'listening')
    return socket
  } catch {
    socket.close()
    return undefined
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
