/**
 * The examples of docs/operate/access.md before a real server, and callers who forge what they can.
 */

import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'

import { clientAddress } from '../../src/frontdoor/http/connections/client-address.ts'
import { onePort } from '../../src/frontdoor/http/connections/one-port.ts'
import { ipRange } from '../../src/settings/ip-address.ts'
import { firstFreePort } from '../support/port.ts'
import { startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/operate/access.md'), 'utf8')
const root = mkdtempSync(join(tmpdir(), 'heddle-proxies-'))
afterAll(() => rmSync(root, { recursive: true }))

interface Ports {
  readonly http1: number
  readonly http2: number
}

interface Proxy {
  readonly name: string
  readonly args: (file: string) => readonly string[]
  /** A whole configuration around the example. */
  config(example: string, ports: Ports): string
}

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    args: (file) => ['-p', root, '-e', 'stderr', '-c', file],
    config: (example, { http1, http2 }) =>
      `daemon off; pid ${root}/nginx.pid; error_log stderr;
      events {}
      http {
        access_log off;
        ${
        ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) =>
          `${each}_temp_path ${root}/${each};`
        ).join('\n')
      }
        server {
          listen 127.0.0.1:${http1}; listen 127.0.0.1:${http2} http2;
          ${example}
        }
      }`,
  },
  {
    name: 'haproxy',
    args: (file) => ['-db', '-f', file],
    config: (example, { http1, http2 }) => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s

frontend callers
  bind 127.0.0.1:${http1}
  bind 127.0.0.1:${http2} proto h2
  ${/`(use_backend .*?)`/.exec(page)![1]!}
  default_backend heddle

${example}`,
  },
  {
    name: 'caddy',
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    config: (example, { http1, http2 }) =>
      `{
  admin off
  auto_https off
  servers {
    protocols h1 h2c
  }
}
http://:${http1}, http://:${http2} {
  bind 127.0.0.1
  ${example}
}
`,
  },
]

/** Callers are not at the address of the proxy, which is trusted. */
const caller = '127.0.0.2'
const forged = { 'x-forwarded-for': '203.0.113.9', 'x-user-id': 'ann', 'x-tenant-id': 'acme' }

interface Asked {
  readonly path: string
  readonly headers?: Record<string, string>
}

async function overHttp1({ http1 }: Ports, { path, headers = {} }: Asked): Promise<number> {
  const asked = request({ host: '127.0.0.1', port: http1, path, headers, localAddress: caller })
  asked.end()
  const [answer] = await once(asked, 'response') as [IncomingMessage]
  answer.resume()
  return answer.statusCode!
}

async function overHttp2({ http2 }: Ports, { path, headers = {} }: Asked): Promise<number> {
  const socket = connect({ port: http2, host: '127.0.0.1', localAddress: caller })
  const session = connectHttp2(`http://127.0.0.1:${http2}`, { createConnection: () => socket })
  try {
    const asked = session.request({ ':path': path, ':method': 'POST',
      'content-type': 'application/grpc', te: 'trailers', ...headers })
    asked.end(Buffer.alloc(5))
    const [{ ':status': status, 'grpc-status': grpc }] = await once(asked, 'response') as [
      Record<string, unknown>,
    ]
    return Number(grpc ?? status)
  } finally {
    session.destroy()
  }
}

async function startProxy({ name, args, config }: Proxy,
  upstream: string): Promise<Ports & { close(): Promise<void> }> {
  const block = new RegExp(`\`\`\`${name}\n(.*?)\`\`\``, 's').exec(page)![1]!
  const http1 = await firstFreePort()
  const http2 = await firstFreePort()
  const file = join(root, `${name}.conf`)
  writeFileSync(file, config(block.replaceAll('127.0.0.1:2024', upstream), { http1, http2 }))
  const child = spawn(name, args(file), { stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: root, XDG_DATA_HOME: root, XDG_CONFIG_HOME: root } })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (each) => {
      said += each
    })
  const isOpen = (port: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      })
      socket.on('error', () => resolve(false))
    })
  await expect.poll(async () => child.exitCode ?? (await isOpen(http1) && await isOpen(http2)), {
    timeout: 10_000,
    message: said,
  }).not.toBe(false)
  expect([child.exitCode, said.slice(-2_000)]).toEqual([null, expect.any(String)])
  return { http1, http2, close: async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  } }
}

const isMissing = (name: string) => spawnSync(name, ['-v']).error !== undefined
const missing = proxies.map(({ name }) => name).filter(isMissing)
if (missing.length > 0) console.log(`Skipped, because they are not here: ${missing.join(', ')}.`)

describe.each(proxies)('behind $name', (proxy) => {
  let server: ServerProcess
  let close = async () => {}
  beforeAll(async () => {
    server = await startServer({
      args: ['--auth', 'keys', '--trusted-proxies', '127.0.0.1', '--user-proxies', '127.0.0.1'],
    })
  })
  afterAll(() => server?.close())
  afterEach(() => close())

  const behind = async (upstream: string) => {
    const started = await startProxy(proxy, upstream)
    close = started.close
    return started
  }

  it.skipIf(isMissing(proxy.name))('nobody sees metrics, or poses as a user', async () => {
    const ports = await behind(new URL(server.url).host)
    expect(await overHttp1(ports, { path: '/ok' })).toBe(200)
    const paths = ['/metrics', '/internal/cluster', '/frontdoor.v1.x%2fy/../metrics',
      '/frontdoor.v1.x%2Fy/%2e%2e/metrics', '/frontdoor.v1./../metrics', '/x%2f../metrics',
      '/frontdoor.v1.x/..%2fmetrics', '/frontdoor.v1.x%5cy/../metrics',
      '/frontdoor.v1.x//../metrics']
    for (const path of paths) {
      const tries: readonly Record<string, string>[] = [{}, { host: 'localhost' }, forged]
      for (const headers of tries) {
        expect([path, await overHttp1(ports, { path, headers })])
          .toEqual([path, expect.toBeOneOf([400, 401, 404])])
      }
      // Of gRPC, 0 is success.
      expect([path, await overHttp2(ports, { path })])
        .toEqual([path, expect.not.toBeOneOf([0, 200])])
    }
    const typed = '/frontdoor.v1.AssistantService/CountAssistants'
    expect(await overHttp1(ports, { path: '/threads/x', headers: forged })).toBe(401)
    expect(await overHttp2(ports, { path: typed, headers: forged })).toBe(16)
  })

  it.skipIf(isMissing(proxy.name))('a WebSocket gets through, and poses as nobody', async () => {
    const { http1 } = await behind(new URL(server.url).host)
    const socket = new WebSocket(`ws://127.0.0.1:${http1}/threads/${randomUUID()}/stream/events`, {
      headers: forged,
      localAddress: caller,
    })
    const [code] = await once(socket, 'close')
    expect(code).toBe(4401)
  })

  it.skipIf(isMissing(proxy.name))('the address of a caller is passed on, and no user',
    async () => {
      const seen: IncomingMessage['headers'][] = []
      const port = onePort({ admits: () => true })
      const echo = port.serve(({ headers }, response) => {
        seen.push(headers)
        response.end()
      }).listen(0, '127.0.0.1')
      await once(echo, 'listening')
      const ports = await behind(`127.0.0.1:${(echo.address() as AddressInfo).port}`)
      for (const path of ['/threads', '/frontdoor.v1.A/B']) {
        await overHttp1(ports, { path, headers: forged })
        await overHttp2(ports, { path, headers: forged })
      }
      expect(seen).toHaveLength(4)
      for (const headers of seen) {
        const { 'x-user-id': user, 'x-tenant-id': tenant, 'x-forwarded-for': hops } = headers
        expect([user, tenant]).toEqual([undefined, undefined])
        expect(
          clientAddress({ peer: '127.0.0.1', forwardedFor: String(hops),
            trusted: [ipRange('127.0.0.1')!] }),
        ).toBe(caller)
      }
      port.destroyConnections()
      echo.close()
    })
})
