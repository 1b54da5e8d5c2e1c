/**
 * The way of package managers to the network: a proxy on this machine. It connects to what it has
 * checked, so that neither a name nor a redirect leads a build to this machine or its network, and
 * cuts connections that are silent.
 */

import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, isIP } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import { hostOf } from '../../egress/index.ts'
import { placeOf } from './open-hosts.ts'
import type { OpenHosts } from './open-hosts.ts'

/** An open proxy with its address. */
export interface InstallerProxy {
  readonly url: string
  /** Places that were asked for and are closed, as a sentence names them. */
  readonly refused: readonly string[]
  close(): Promise<void>
}

/** Silence after which a connection is cut, in milliseconds. */
const silenceMs = 30_000
/** Headers between a client and its proxy alone. */
const ofProxy = ['proxy-connection', 'proxy-authorization', 'connection']

/** Opens the proxy on a free port. A connection is cut after `silentMs` of silence. */
export async function openInstallerProxy(hosts: OpenHosts,
  silentMs = silenceMs): Promise<InstallerProxy> {
  const refused: string[] = []
  const sockets = new Set<Socket>()
  const keep = <Kept extends Socket>(socket: Kept): Kept => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    return socket
  }
  /** The address of a host; undefined if it is closed, or has none. */
  const open = async (url: URL): Promise<string | undefined> => {
    const host = hostOf(url)
    const found = isIP(host) === 0
      ? (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address)
      : [host]
    if (placeOf(url) === hosts.registry) return found[0]
    const isOpen = (address: string) => hosts.rules.fault(host, address) === undefined
    const address = found.find(isOpen)
    const [first] = found
    if (address === undefined && first !== undefined) {
      refused.push(`${host}, which is ${hosts.rules.fault(host, first)}`)
    }
    return address
  }
  const server = createServer((asked, answer) => void passOn(asked, answer, open, silentMs))
  server.on('connection', keep)
  server.on('connect', (asked: IncomingMessage, client: Socket, head: Buffer) =>
    void (async () => {
      const url = URL.parse(`https://${asked.url}`)
      const host = url === null ? undefined : await open(url)
      if (url === null || host === undefined) {
        return void client.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
      }
      const port = Number(url.port || 443)
      const there = keep(connect({ host, port, timeout: silentMs }))
      there.once('connect', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        there.write(head)
        client.pipe(there).pipe(client)
      })
      const end = () => {
        client.destroy()
        there.destroy()
      }
      there.once('timeout', end).once('close', end)
      client.once('close', end)
    })())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, refused, close: async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  } }
}

/** Passes a plain request on, and its answer back. */
async function passOn(asked: IncomingMessage, answer: ServerResponse,
  open: (url: URL) => Promise<string | undefined>, timeout: number): Promise<void> {
  const url = URL.parse(asked.url ?? '')
  const host = url?.protocol === 'http:' ? await open(url) : undefined
  if (url === null || host === undefined) return void answer.writeHead(403).end()
  const headers = Object.fromEntries(
    Object.entries(asked.headers).filter(([name]) => !ofProxy.includes(name)),
  )
  const there = request({ host, port: url.port || 80, method: asked.method, timeout,
    path: url.pathname + url.search, headers: { ...headers, host: url.host } }, (given) => {
    answer.writeHead(given.statusCode ?? 502, given.headers)
    given.pipe(answer)
  })
  there.on('timeout', () => there.destroy(new Error('silent')))
  there.on('error', () => {
    if (answer.headersSent) answer.destroy()
    else answer.writeHead(502).end()
  })
  answer.once('close', () => there.destroy())
  asked.pipe(there)
}
