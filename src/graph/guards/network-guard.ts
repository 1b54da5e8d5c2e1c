/**
 * Loaded before anything else in each thread of a process that replays: no socket is opened, and no
 * name is looked up. A thread may call only servers of its own, which are reachable on this machine
 * only.
 */

import { channel } from 'node:diagnostics_channel'
import dgram from 'node:dgram'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { constants } from 'node:os'

import { apply, bareCopy, defineProperty } from './intrinsics.ts'
import { replaceForGood } from './refusal.ts'
import { resolverPrototype, tcpPrototype, udpPrototype } from './system-sockets.ts'
import type { SystemFunction, SystemPrototype } from './system-sockets.ts'

/** Gets the address of each connection that was stopped. */
const stopped = channel('heddle:stopped-connection')
const denied = -constants.errno.EACCES

const ErrorClass = Error
const toText = String
const { isArray } = Array
const { add, delete: remove, forEach } = Set.prototype
const later = setImmediate

const tcp = tcpPrototype()
const { getsockname: readName, bind, bind6, listen } = tcp as Readonly<
  Record<'getsockname' | 'bind' | 'bind6' | 'listen', SystemFunction>
>

/** Address and port of a socket of the system. */
interface SocketName {
  address?: unknown
  port?: unknown
}

/** Sockets at which this thread listens. */
const listening = new Set<object>()

// A server for all addresses of the machine is a server for the machine alone.
replaceForGood(tcp, 'bind', function(this: object, address: unknown, port: unknown) {
  return address === '127.0.0.1' || address === '0.0.0.0'
    ? apply(bind, this, ['127.0.0.1', port, 0])
    : denied
})
replaceForGood(tcp, 'bind6', function(this: object, address: unknown, port: unknown) {
  if (address === '::1') return apply(bind6, this, ['::1', port, 0])
  return address === '::' ? apply(bind, this, ['127.0.0.1', port, 0]) : denied
})
replaceForGood(tcp, 'listen', function(this: object, backlog: unknown) {
  // The system would choose an address for a socket without one.
  const { address } = nameOf(this)
  if (address !== '127.0.0.1' && address !== '::1') return denied
  const fault = apply(listen, this, [backlog])
  if (fault === 0) apply(add, listening, [this])
  return fault
})
for (const name of ['connect', 'connect6']) {
  const real = tcp[name]!
  replaceForGood(tcp, name,
    function(this: object, request: unknown, address: unknown, port: unknown) {
      if (ownAddress(port, address) === address) return apply(real, this, [request, address, port])
      refused(placeText(address, port))
      return denied
    })
}

const { connect } = net.Socket.prototype as unknown as Readonly<Record<'connect', SystemFunction>>

replaceForGood(net.Socket.prototype, 'connect', function(this: net.Socket, ...given: unknown[]) {
  const { host, port, path, connected } = connectionOf(given)
  const isLocal = host === '127.0.0.1' || host === '::1' || host === 'localhost'
  const number = +(port as number)
  const own = path === undefined && isLocal ? ownAddress(number, host) : undefined
  if (own !== undefined) {
    // Other options could lead elsewhere.
    return apply(connect, this, [bareCopy({ host: own, port: number }), connected])
  }
  const error = refused(path === undefined ? placeText(host, port) : toText(path))
  // Data that is written until then waits, and fails with this error.
  const socket = this as { connecting: boolean } & net.Socket
  socket.connecting = true
  later(() => socket.destroy(error))
  return this
})

const udp = udpPrototype()
for (const name of ['bind', 'bind6', 'connect', 'connect6', 'send', 'send6']) deny(udp, name)
for (const name of ['connect', 'send', 'bind']) {
  replaceForGood(dgram.Socket.prototype, name, () => {
    throw refused('UDP')
  })
}

const resolver = resolverPrototype()
for (const name of Object.getOwnPropertyNames(resolver)) {
  if (/^(?:query|getHostByAddr)/.test(name)) deny(resolver, name)
}
const resolvers = [[dns, false], [dns.Resolver.prototype, false], [dns.promises, true], [
  dns.promises.Resolver.prototype,
  true,
]] as const
for (const [owner, rejects] of resolvers) {
  for (const name of Object.getOwnPropertyNames(owner)) {
    const real = (owner as unknown as SystemPrototype)[name]
    if (typeof real !== 'function' || !/^(?:lookup|resolve|reverse)/.test(name)) continue
    replaceForGood(owner, name, function(this: object, ...given: unknown[]) {
      // The check of the doors looks up the name of this machine.
      if (given[0] === 'localhost' || given[0] === '127.0.0.1' || given[0] === '::1') {
        return apply(real, this, given)
      }
      const error = refused(`the name ${toText(given[0])}`)
      const answer = given[given.length - 1]
      if (rejects || typeof answer !== 'function') return rejected(error)
      later(() => apply(answer, undefined, [error]))
      return undefined
    })
  }
}
syncBuiltinESMExports()

/** Reports an address that cannot be reached. Returns the error for its caller. */
function refused(to: string): Error {
  stopped.publish(to)
  const error = new ErrorClass(`A replay has no network: ${to}`)
  defineProperty(error, 'code', { value: 'ERR_REPLAY_NETWORK', enumerable: true })
  return error
}

async function rejected(error: Error): Promise<never> {
  throw error
}

/** Makes a function of the system fail with `EACCES`. */
function deny(prototype: SystemPrototype, name: string): void {
  if (typeof prototype[name] === 'function') replaceForGood(prototype, name, () => denied)
}

function placeText(host: unknown, port: unknown): string {
  return `${toText(host)}:${toText(port)}`
}

/** The name of a socket; empty if it has none. */
function nameOf(socket: object): SocketName {
  const name = bareCopy<SocketName>({})
  return apply(readName, socket, [name]) === 0 ? name : bareCopy<SocketName>({})
}

/**
 * Address at which this thread listens on a port: `preferred` if it is among them, or else another.
 * Returns undefined if this thread does not listen on the port.
 */
function ownAddress(port: unknown, preferred: unknown): string | undefined {
  let found: string | undefined
  apply(forEach, listening, [(socket: object) => {
    const { address, port: own } = nameOf(socket)
    // A socket that was closed has no name.
    if (typeof address !== 'string') apply(remove, listening, [socket])
    else if (own === port && found !== preferred) found = address
  }])
  return found
}

/** Place of a connection, and the function to call when it is open. */
interface Connection extends SocketName {
  readonly host?: unknown
  readonly path?: unknown
  readonly connected?: unknown
}

/** Reads the arguments of `connect`, in all its forms. */
function connectionOf(given: readonly unknown[]): Connection {
  const first = given[0]
  if (isArray(first)) return connectionOf(first as unknown[])
  let connected: unknown
  for (let at = 0; at < given.length; at++) {
    if (typeof given[at] === 'function') connected = given[at]
  }
  if (typeof first === 'object' && first !== null) {
    const { host = 'localhost', port, path } = bareCopy(first as Connection)
    return bareCopy({ host, port, path: path || undefined, connected })
  }
  if (typeof first === 'string' && !(+first >= 0)) return bareCopy({ path: first, connected })
  const host = typeof given[1] === 'string' ? given[1] : 'localhost'
  return bareCopy({ host, port: first, connected })
}
