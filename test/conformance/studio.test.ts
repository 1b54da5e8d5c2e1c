/** How the files of the Studio are served: to whom, with which headers, and below which paths. */

import { createServer, request as call } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { setup } from '../studio/support/setup.ts'
import { useServer } from '../support/server.ts'

beforeAll(setup)

const server = useServer()
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { headers, redirect: 'manual' })

const assetIn = (html: string) => /src="\.\/(assets\/index-[\w-]+\.js)"/.exec(html)![1]!

describe('the studio', () => {
  it('is where a browser is led to; programs get what they got before', async () => {
    const led = await get('/', browser)
    expect([led.status, led.headers.get('location')]).toEqual([302, 'studio/'])
    const program = await get('/', { accept: 'application/json' })
    expect(program.status).toBe(404)
    expect(await program.json()).toMatchObject({ code: 'not_found' })
  })

  it('answers each of its addresses with the page, whose base leads back', async () => {
    for (const [path, base] of [['', './'], ['threads', './'], ['threads/1?at=2', '../'], [
      'traces/a/b',
      '../../',
    ]]) {
      const answer = await get(`/studio/${path}`)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await answer.text()).toContain(`<base href="${base}">`)
    }
  })

  it('is asked for again with its tag, and not sent again', async () => {
    const first = await get('/studio/threads')
    expect(first.headers.get('cache-control')).toBe('no-cache')
    const again = await get('/studio/threads', { 'if-none-match': first.headers.get('etag')! })
    expect(again.status).toBe(304)
    expect(await again.text()).toBe('')
  })

  it('has assets that are kept for a year, and come compressed', async () => {
    const asset = assetIn(await (await get('/studio/')).text())
    const lengths = []
    for (const coding of ['identity', 'gzip', 'br']) {
      const answer = await get(`/studio/${asset}`, { 'accept-encoding': coding })
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(answer.headers.get('content-encoding')).toBe(coding === 'identity' ? null : coding)
      expect(answer.headers.get('content-type')).toMatch(/javascript/)
      expect((await answer.text()).length).toBeGreaterThan(100_000)
      lengths.push(Number(answer.headers.get('content-length')))
    }
    expect(lengths[0]).toBeGreaterThan(2.5 * lengths[1]!)
    expect(lengths[1]).toBeGreaterThan(lengths[2]!)
  })

  it('answers 404 for an asset that does not exist, never with the page', async () => {
    for (const path of ['assets/none.js', 'assets/', 'none.js', 'assets/index.html.br']) {
      const answer = await get(`/studio/${path}`)
      const text = await answer.text()
      expect([path, answer.status, text.includes('<html')]).toEqual([path, 404, false])
    }
  })

  it('serves nothing beside its bundle', async () => {
    for (const path of ['assets/..%2findex.html', '..%2f..%2fpackage.json',
      '%2e%2e/package.json']) {
      const answer = await get(`/studio/${path}`)
      expect([400, 404]).toContain(answer.status)
      expect(await answer.text()).not.toContain('devDependencies')
    }
  })

  it('runs only its own scripts, and calls only its own server', async () => {
    const { headers } = await get('/studio/')
    const policy = headers.get('content-security-policy')!.split('; ')
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'",
        expect.stringMatching(/^script-src 'self'( 'sha256-[^']+')*$/),
        expect.stringMatching(/^style-src 'self'( 'sha256-[^']+')*$/), "connect-src 'self'",
        "frame-ancestors 'none'", "form-action 'none'"]),
    )
    expect(policy.join()).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  })

  it('is refused to names that are not of this machine, and to other methods', async () => {
    const { port } = new URL(server.url)
    const status = await new Promise((done) => {
      call({ host: '127.0.0.1', port, path: '/studio/', headers: { host: 'evil.example' } },
        (answer) => {
          answer.resume()
          done(answer.statusCode)
        }).end()
    })
    expect(status).toBe(403)
    const posted = await fetch(`${server.url}/studio/`, { method: 'POST' })
    expect(posted.status).toBe(404)
  })

  it('works below a path of a proxy', async () => {
    const { port: target } = new URL(server.url)
    const proxy = createServer((request, reply) => {
      const path = request.url!.replace(/^\/heddle/, '')
      const { host: _, ...headers } = request.headers
      request.pipe(
        call({ host: '127.0.0.1', port: target, path, method: request.method, headers },
          (answer) => answer.pipe(reply.writeHead(answer.statusCode!, answer.headers))),
      )
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    try {
      const at = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/heddle/`
      const led = await fetch(at, { headers: browser })
      expect(led.url).toBe(`${at}studio/`)
      const html = await led.text()
      const [, base] = /<base href="([^"]+)">/.exec(html)!
      const asset = await fetch(new URL(assetIn(html), new URL(base!, led.url)))
      expect(asset.status).toBe(200)
    } finally {
      proxy.closeAllConnections()
      proxy.close()
    }
  })
})

describe('a server with other settings', () => {
  let limited: ServerProcess
  let without: ServerProcess
  beforeAll(async () => {
    const start = (...args: string[]) =>
      startServer({ project: 'telling', args: [...oneWorker, ...args] })
    ;[limited, without] = await Promise.all([
      start('--limits', 'on', '--studio', 'https://agents.example.org/"x"'),
      start('--studio', 'off'),
    ])
  })
  afterAll(async () => {
    await Promise.all([limited?.close(), without?.close()])
  })

  it('charges its page to no limit', async () => {
    await Promise.all(Array.from({ length: 130 }, async () => {
      const answer = await fetch(`${limited.url}/studio/theme.js`)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('ratelimit')).toBeNull()
      await answer.text()
    }))
  })

  it('may serve the page for another server', async () => {
    const answer = await fetch(`${limited.url}/studio/threads/1`)
    expect(answer.headers.get('content-security-policy'))
      .toContain("connect-src 'self' https://agents.example.org;")
    expect(await answer.text()).toContain('<base href="../">' +
      '<meta name="heddle-api" content="https://agents.example.org/&quot;x&quot;">')
  })

  it('serves none if it is turned off', async () => {
    expect((await fetch(`${without.url}/studio/`)).status).toBe(404)
    expect((await fetch(`${without.url}/`, { headers: browser })).status).toBe(404)
    expect(without.output()).not.toContain('/studio/')
    expect(limited.output()).toContain(`"studio":"${limited.url}/studio/"`)
  })
})
