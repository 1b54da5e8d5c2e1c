/**
 * Loaded before anything else in each thread of a process that replays: no socket is opened, and no
 * name is looked up. A thread may call only what it itself listens at.
 */

import { channel } from 'node:diagnostics_channel'
import dgram from 'node:dgram'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { constants } from 'node:os'

/** Gets the address of each connection that was stopped. */
const stopped = channel('heddle:stopped-connection')
/** Addresses that stand for all of the machine, and where they are reached. */
const ofAll: ReadonlyMap<string, string> = new Map([['0.0.0.0', '127.0.0.1'], ['::', '::1']])
const local: ReadonlySet<unknown> = new Set(['127.0.0.1', '::1', 'localhost'])
type Work = (this: unknown, ...given: unknown[]) => unknown
type Members = Record<string, Work>

function refused(to: string): Error {
  stopped.publish(to)
  return Object.assign(new Error(`A replay has no network: ${to}`), { code: 'ERR_REPLAY_NETWORK' })
}

function replace(of: object, name: string, make: (real: Work) => Work): void {
  const members = of as Members
  const real = members[name]
  if (typeof real === 'function')
    Object.defineProperty(of, name, { value: make(real), writable: false, configurable: false })
}

/** The socket of the system below a server or a connection. Its faults are numbers. */
interface SystemSocket {
  getsockname(into: { address?: string; port?: number }): number
  close(): void
}

/** Sockets at which this thread listens. Objects of the code may say something else. */
const listening = new Set<SystemSocket>()
const probe = (net as unknown as {
  _createServerHandle(address: string, port: number, family: 4): SystemSocket
})._createServerHandle('127.0.0.1', 0, 4)
const systemSocket = Object.getPrototypeOf(probe) as Members & SystemSocket
const { getsockname: nameOf } = systemSocket
probe.close()

replace(systemSocket, 'listen', (real) =>
  function(...given) {
    const fault = real.apply(this, given)
    if (fault === 0) listening.add(this as SystemSocket)
    return fault
  })
for (const name of ['connect', 'connect6']) {
  replace(systemSocket, name, (real) =>
    function(request, address, port, ...more) {
      const isOwn = placesOf(port).some((place) => place === address)
      if (isOwn) return real.call(this, request, address, port, ...more)
      refused(`${String(address)}:${String(port)}`)
      return -constants.errno.EACCES
    })
}
replace(net.Socket.prototype, 'connect', (real) =>
  function(...given) {
    const [{ host = 'localhost', port, path }, connected] = optionsOf(given)
    const number = Number(port)
    const places = path || !local.has(host) ? [] : placesOf(number)
    if (places.length > 0) {
      // Nothing else of what was given: it could lead elsewhere.
      const place = places.find((each) => each === host) ?? places[0]
      return real.call(this, { host: place, port: number }, connected)
    }
    const error = refused(path ? String(path) : `${String(host)}:${String(port)}`)
    const socket = this as { connecting: boolean } & net.Socket
    // What is written meanwhile waits, and fails with this error.
    socket.connecting = true
    setImmediate(() => socket.destroy(error))
    return this
  })
for (const name of ['connect', 'send', 'bind']) {
  replace(dgram.Socket.prototype, name, () => () => {
    throw refused('UDP')
  })
}
const resolvers = [[dns, false], [dns.Resolver.prototype, false], [dns.promises, true], [
  dns.promises.Resolver.prototype,
  true,
]] as const
for (const [of, fails] of resolvers) {
  for (const name of Object.getOwnPropertyNames(of)) {
    if (!/^(?:lookup|resolve|reverse)/.test(name)) continue
    replace(of, name, (real) => (...given) => {
      // The check of the doors looks up the name of this machine.
      if (local.has(given[0])) return real.apply(of, given)
      const error = refused(`the name ${String(given[0])}`)
      const answer = given.at(-1)
      if (fails || typeof answer !== 'function') return Promise.reject(error)
      setImmediate(() => (answer as Work)(error))
      return undefined
    })
  }
}
syncBuiltinESMExports()

interface Where {
  readonly host?: unknown
  readonly port?: unknown
  readonly path?: unknown
}

/** The addresses at which this thread listens, of those with this port. */
function placesOf(port: unknown): readonly string[] {
  const places: string[] = []
  for (const socket of listening) {
    const name: { address?: string; port?: number } = {}
    // Closed ones have no name.
    if (nameOf.call(socket, name) !== 0) listening.delete(socket)
    else if (name.port === port) places.push(ofAll.get(name.address!) ?? name.address!)
  }
  return places
}

/** The options of a call of `connect`, in all its forms, and what it calls. */
function optionsOf(given: readonly unknown[]): readonly [Where, unknown] {
  const [first, second] = given
  if (Array.isArray(first)) return optionsOf(first)
  const last = given.findLast((each) => typeof each === 'function')
  if (typeof first === 'object' && first !== null) return [{ ...first }, last]
  return [
    typeof first === 'string' && Number.isNaN(Number(first))
      ? { path: first }
      : { port: first, ...typeof second === 'string' && { host: second } },
    last,
  ]
}
