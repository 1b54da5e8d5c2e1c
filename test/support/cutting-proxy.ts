/** A TCP proxy whose connections a test may cut or silence. */

import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A proxy under the control of a test. */
export interface CuttingProxy {
  /** A URL of the proxy that leads to this one. */
  to(url: string): Promise<string>
  /** The number of open sockets, on both sides. */
  readonly open: number
  /** Breaks every connection that is open now, as a network does. */
  cut(): void
  /** From now on nothing passes and no connection breaks, new ones included. */
  hold(): void
  /** As `hold`, as soon as a client has sent the text. */
  holdAt(text: string): void
  /** Everything passes again, held data first. */
  release(): void
}

/** A proxy that the caller must close. */
export function makeCuttingProxy(): CuttingProxy & { close(): void } {
  const open = new Map<Socket, Socket>()
  const servers = new Set<ReturnType<typeof createServer>>()
  let held = false
  let last: string | undefined
  const cut = () => {
    for (const socket of open.keys()) socket.resetAndDestroy()
    open.clear()
  }
  const hold = () => {
    held = true
    for (const [socket, other] of open) socket.unpipe(other)
  }
  const join = (near: Socket, far: Socket) => {
    near.on('data', (said: Buffer) => {
      if (last === undefined || !said.includes(last)) return
      last = undefined
      hold()
    })
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      open.set(socket, other)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      if (!held) socket.pipe(other)
    }
  }
  return {
    cut,
    get open() {
      return open.size
    },
    hold,
    holdAt: (text) => {
      last = text
    },
    release: () => {
      // A socket that is piped again would pass everything on twice.
      if (!held) return
      held = false
      for (const [socket, other] of open) socket.pipe(other)
    },
    close: () => {
      cut()
      for (const server of servers) server.close()
    },
    to: (url) =>
      new Promise((done) => {
        const { hostname, port } = new URL(url)
        const server = createServer((near) => join(near, connect(Number(port), hostname)))
        servers.add(server)
        server.listen(0, '127.0.0.1',
          () => done(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
      }),
  }
}
