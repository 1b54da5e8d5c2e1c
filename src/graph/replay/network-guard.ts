/**
 * Loaded before anything else in each thread of a process that replays: no socket is opened, and no
 * name is looked up. A thread may call only what it itself listens at.
 */

import { channel } from 'node:diagnostics_channel'
import dgram from 'node:dgram'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import type { AddressInfo } from 'node:net'

/** Gets the address of each connection that was stopped. */
const stopped = channel('heddle:stopped-connection')
const local: ReadonlySet<unknown> = new Set(['127.0.0.1', '::1', 'localhost'])
const listening = new Set<number>()

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
    Object.defineProperty(of, name, { value: make(real), writable: false })
}

replace(net.Server.prototype, 'listen', (real) =>
  function(...given) {
    const server = this as net.Server
    let port = 0
    server.once('listening', () => {
      const address = server.address()
      port = (address as AddressInfo | null)?.port ?? 0
      listening.add(port)
    })
    server.once('close', () => listening.delete(port))
    return real.apply(this, given)
  })
replace(net.Socket.prototype, 'connect', (real) =>
  function(...given) {
    const { host = 'localhost', port, path } = optionsOf(given)
    if (!path && local.has(host) && listening.has(Number(port))) return real.apply(this, given)
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

/** The options of a call of `connect`, in all its forms. */
function optionsOf(given: readonly unknown[]): Where {
  const [first, second] = given
  if (Array.isArray(first)) return optionsOf(first)
  if (typeof first === 'object' && first !== null) return first
  return typeof first === 'string' && Number.isNaN(Number(first))
    ? { path: first }
    : { port: first, ...typeof second === 'string' && { host: second } }
}
