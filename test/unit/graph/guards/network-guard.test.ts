/** Code that is replayed reaches what it itself listens at, and nothing else of this machine. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

import { describe, expect, it, onTestFinished } from 'vitest'

const guard = fileURLToPath(
  new URL('../../../../src/graph/guards/network-guard.ts', import.meta.url),
)

/** A port of this machine at which the guarded thread does not listen. */
async function foreignPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** What a guarded thread gets of code that has `own`, a server, and the port of a foreign one. */
async function guarded(code: string, foreign = 0): Promise<unknown> {
  const worker = new Worker(`
    const { parentPort, workerData: foreign } = require('node:worker_threads')
    const net = require('node:net')
    const own = net.createServer((socket) => socket.end('own')).listen(0, '127.0.0.1', () => {
      const { port } = own.address()
      const reached = (socket) => {
        let said = ''
        socket.on('data', (bytes) => said += bytes)
        socket.on('end', () => parentPort.postMessage(said))
        socket.on('error', ({ code }) => parentPort.postMessage(code))
      }
      ${code}
    })`, { eval: true, workerData: foreign, execArgv: ['--require', guard] })
  onTestFinished(async () => void await worker.terminate())
  const [said] = await once(worker, 'message') as [unknown]
  return said
}

it.each([`port`, `{ port: String(port), host: '127.0.0.1' }, () => {}`, `{ port, path: null }`])(
  'A server of the code is reached by connect(%s).',
  async (given) => {
    expect(await guarded(`reached(net.connect(${given}))`)).toBe('own')
  },
)

it('A look-up of the code does not lead to another address.', async () => {
  expect(await guarded(`reached(net.connect({ host: 'localhost', port,
    lookup: (host, options, found) => found(null, [{ address: '127.0.0.9', family: 4 }]) }))`))
    .toBe('own')
})

it.each([
  ['says that it has another port', `own.address = () => ({ port: foreign })`],
  ['says that it listens', `own._handle = { getsockname: (to) => void (to.port = foreign) }`],
])('Nothing else is reached by a server that %s.', async (_, lie) => {
  expect(await guarded(`${lie}
    own.emit('listening')
    reached(net.connect({ host: '127.0.0.1', port: foreign }))`, await foreignPort()))
    .toBe('ERR_REPLAY_NETWORK')
})

it('The socket of the system refuses as well.', async () => {
  expect(await guarded(`
    parentPort.postMessage(own._handle.connect({}, '127.0.0.1', foreign))`, await foreignPort()))
    .toBeLessThan(0)
})

describe('A foreign server is not reached by code that', () => {
  /** The code, with the port of a foreign server as `foreign`. It resolves `done` in the end. */
  const attacks: Readonly<Record<string, string>> = {
    'replaces functions of arrays': `
      Array.prototype.some = Array.prototype.find = () => true
      done(own._handle.connect({}, '127.0.0.1', foreign))`,
    'replaces functions of functions': `
      let stolen
      const { call, apply } = Function.prototype
      Function.prototype.call = Function.prototype.apply = function() { stolen ??= this; return 0 }
      own._handle.connect({}, '127.0.0.1', foreign)
      Object.assign(Function.prototype, { call, apply })
      done(stolen ? 0 : -1)`,
    'replaces functions of `Reflect` and sets': `
      let stolen
      Reflect.apply = (work) => { stolen ??= work; return 0 }
      Set.prototype.forEach = function(each) { each({ getsockname() {} }) }
      Set.prototype[Symbol.iterator] = function*() { yield { getsockname() {} } }
      const fault = own._handle.connect({}, '127.0.0.1', foreign)
      done(stolen ? 0 : fault)`,
    'gives all objects a port': `
      Object.defineProperty(Object.prototype, 'port', { get: () => foreign, set: () => {} })
      Object.defineProperty(Object.prototype, 'address', { get: () => '127.0.0.1', set: () => {} })
      done(own._handle.connect({}, '127.0.0.1', foreign))`,
    'gives an address that changes while it is read': `
      let reads = 0
      const address = { toString: () => reads++ ? '127.0.0.1' : '127.0.0.1' }
      done(own._handle.connect({}, address, { valueOf: () => reads++ ? foreign : port }))`,
    'sends messages by the object below a socket': `
      const socket = require('node:dgram').createSocket('udp4')
      const key = Object.getOwnPropertySymbols(socket).find((each) => /state/.test(String(each)))
      done(socket[key].handle.bind('127.0.0.1', 0, 0))`,
    'looks up names by the object below a resolver': `
      const { Resolver } = require('node:dns')
      done(new Resolver()._handle.queryTxt({}, 'example.org'))`,
    'listens at all addresses of the machine': `
      const all = net.createServer().listen(0, () =>
        done(all.address().address === '127.0.0.1' ? -1 : 0))`,
    'listens at an address of the machine': `
      net.createServer().listen(0, '127.0.0.2').on('error', () => done(-1))
        .on('listening', () => done(0))`,
    'connects to a Unix socket with a port': `
      done(net.connect({ path: '/run/x', port, host: '127.0.0.1' }).on('error', ({ code }) =>
        done(code === 'ERR_REPLAY_NETWORK' ? -1 : 0)) && undefined)`,
  }

  it.each(Object.entries(attacks))('%s', async (_, code) => {
    expect(await guarded(`
      const done = (fault) => fault === undefined || parentPort.postMessage(fault)
      ${code}`, await foreignPort())).toBeLessThan(0)
  })
})
