/** A TCP balancer: each connection goes to the next front door that accepts one. */

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A balancer that a test must close. */
export interface Balancer {
  readonly url: string
  /** URL of the front door that got the last connection. */
  lastFrontDoor(): string | undefined
  close(): void
}

/** Starts a balancer. It knows nothing of HTTP: when a front door dies, its connections break. */
export async function startBalancer(frontDoors: readonly string[]): Promise<Balancer> {
  const open = new Set<Socket>()
  let turn = 0
  let last: string | undefined
  const server = createServer(async (near) => {
    near.on('error', () => undefined)
    const first = turn++
    for (let tried = 0; tried < frontDoors.length; tried += 1) {
      const frontDoor = frontDoors[(first + tried) % frontDoors.length]!
      const far = await reach(frontDoor)
      if (far === undefined) continue
      last = frontDoor
      return join(near, far, open)
    }
    near.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lastFrontDoor: () => last,
    close: () => {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

function reach(url: string): Promise<Socket | undefined> {
  const { hostname, port } = new URL(url)
  return new Promise((done) => {
    const socket = connect(Number(port), hostname, () => done(socket))
    socket.once('error', () => done(undefined))
  })
}

function join(near: Socket, far: Socket, open: Set<Socket>): void {
  for (const [socket, other] of [[near, far], [far, near]] as const) {
    open.add(socket)
    socket.on('error', () => other.destroy())
    socket.on('close', () => {
      open.delete(socket)
      other.destroy()
    })
    socket.pipe(other)
  }
}
