/** The objects of the system below the sockets of Node: code can reach their prototypes. */

import dgram from 'node:dgram'
import dns from 'node:dns'
import net from 'node:net'
import type { NetConnectOpts, Socket } from 'node:net'

import { getPrototypeOf, ownKeys } from './intrinsics.ts'

/** A function of the system. Returns the number of a fault, or 0. */
export type SystemFunction = (this: unknown, ...args: unknown[]) => unknown

/** A prototype of objects of the system. */
export type SystemPrototype = Record<string, SystemFunction>

/** An object of the system. */
interface Handle {
  close?(): void
}

/** Prototype of the system's objects for Unix sockets and named pipes. */
export function pipePrototype(): SystemPrototype {
  return prototypeFor({ path: '/' })
}

/** Prototype of the system's objects for TCP. */
export function tcpPrototype(): SystemPrototype {
  return prototypeFor({ host: '127.0.0.1', port: 1 })
}

/** Prototype of the system's objects for UDP. */
export function udpPrototype(): SystemPrototype {
  const socket = dgram.createSocket('udp4')
  const state = ownKeys(socket).find((key) => String(key) === 'Symbol(state symbol)')
  const { handle } = (socket as unknown as Record<PropertyKey, { handle?: Handle }>)[state!] ?? {}
  const prototype = prototypeOf(handle)
  socket.close()
  return prototype
}

/** Prototype of the system's objects that look up names. */
export function resolverPrototype(): SystemPrototype {
  return prototypeOf((new dns.Resolver() as unknown as { _handle?: Handle })._handle)
}

/** Prototype of the object that a socket would use for this place. Opens no connection. */
function prototypeFor(place: NetConnectOpts): SystemPrototype {
  const socket = new net.Socket()
  let handle: Handle | undefined
  Object.defineProperty(socket, '_handle', { get: () => handle, set: (made: Handle) => {
    handle = made
    throw new Error('The socket is not needed.')
  } })
  connectUntilHandle(socket, place)
  const prototype = prototypeOf(handle)
  handle?.close?.()
  return prototype
}

function prototypeOf(handle: Handle | undefined): SystemPrototype {
  if (handle) return getPrototypeOf(handle) as unknown as SystemPrototype
  throw new Error('This version of Node is not supported: its sockets are not found.')
}

function connectUntilHandle(socket: Socket, place: NetConnectOpts): void {
  try {
    socket.connect(place)
  } catch {
    // Only the handle is needed.
  }
}
