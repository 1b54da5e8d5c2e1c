/** A TCP proxy whose connections a test may cut. */

import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll } from 'vitest'

export interface CuttingProxy {
  /** A URL that leads to the other one. */
  to(url: string): Promise<string>
  /** Sockets of connections that are open now, of both sides. */
  readonly open: number
  /** Breaks every connection that is open now, as a network does. */
  cut(): void
}

/** Proxies for a test file. */
export function useCuttingProxy(): CuttingProxy {
  const open = new Set<Socket>()
  const servers = new Set<ReturnType<typeof createServer>>()
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy()
    open.clear()
  }
  afterAll(() => {
    cut()
    for (const server of servers) server.close()
  })
  return {
    cut,
    get open() { return open.size },
    to: (url) => new Promise((done) => {
      const { hostname, port } = new URL(url)
      const server = createServer((near) => {
        const far = connect(Number(port), hostname)
        for (const [socket, other] of [[near, far], [far, near]] as const) {
          open.add(socket)
          socket.on('error', () => other.destroy())
          socket.on('close', () => { open.delete(socket); other.destroy() })
          socket.pipe(other)
        }
      })
      servers.add(server)
      server.listen(0, '127.0.0.1', () =>
        done(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    }),
  }
}
