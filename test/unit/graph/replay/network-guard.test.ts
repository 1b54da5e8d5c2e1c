/** Code that is replayed reaches what it itself listens at, and nothing else of this machine. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

import { expect, it, onTestFinished } from 'vitest'

const guard = fileURLToPath(
  new URL('../../../../src/graph/replay/network-guard.ts', import.meta.url),
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

it.each([`port`, `{ port: String(port), host: '127.0.0.1' }, () => {}`])(
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
