/** What is for this machine only stays hidden behind proxies and tunnels, whatever the path. */

import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'

import { isAmbiguous } from '../../../../src/limits/request-path.ts'
import { openDoor, plainStatus } from '../open-front-door.ts'

const metrics = { contentType: 'text/plain', text: async () => 'count 1',
  json: async () => '[{"name":"count"}]' }
const forHere = ['/metrics', '/internal/cluster']

async function statusOverHttp2(url: string, path: string,
  headers: Record<string, string> = {}): Promise<number> {
  const session = connectHttp2(url)
  try {
    return await new Promise((resolve, reject) => {
      session.on('error', reject)
      session.request({ ':path': path, ...headers }).on('error', reject)
        .on('response', ({ ':status': status }) => resolve(status!)).end()
    })
  } finally {
    session.destroy()
  }
}

describe.each(forHere)('%s', (path) => {
  it('is there for this machine, over both versions of HTTP', async () => {
    const { url } = await openDoor({ metrics })
    expect(await plainStatus(url, path)).toBe(200)
    expect(
      await plainStatus(url, path, { 'user-agent': 'Prometheus/3', accept: '*/*',
        'x-prometheus-scrape-timeout-seconds': '10' }),
    ).toBe(200)
    expect(await statusOverHttp2(url, path)).toBe(200)
  })

  it.each([['forwarded', 'for=1.2.3.4'], ['x-forwarded-for', '127.0.0.1'], ['x-forwarded-host',
    'a.example'], ['x-forwarded-proto', 'https'], ['x-real-ip', '127.0.0.1'], ['via', '1.1 a'], [
    'x-original-url',
    '/',
  ], ['true-client-ip', '127.0.0.1'], ['x-client-ip', '127.0.0.1'], ['cf-connecting-ip', '1.2.3.4'],
    ['cf-ray', '1'], ['cdn-loop', 'a'], ['x-envoy-external-address', '1.2.3.4'], ['x-amzn-trace-id',
    'a'], ['fly-client-ip', '1.2.3.4'], ['tailscale-user-login', 'a'], ['x-cluster-client-ip',
    '1.2.3.4'], ['x-forwarded-for', ''], ['proxy-connection', 'keep-alive']])(
      'is not there for who sends %s',
      async (name, value) => {
        const { url } = await openDoor({ metrics })
        expect(await plainStatus(url, path, { [name]: value })).toBe(404)
        if (name.startsWith('proxy')) return
        expect(await statusOverHttp2(url, path, { [name]: value })).toBe(404)
      },
    )

  it('does not exist for another host name, or over HTTP/1.0', async () => {
    const { url } = await openDoor({ metrics, allowHosts: ['a.example'], host: '0.0.0.0' })
    const here = url.replace('0.0.0.0', '127.0.0.1')
    expect(await plainStatus(here, path, { host: 'a.example' })).toBe(404)
    const socket = connect(Number(new URL(here).port), '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.0\r\nhost: localhost\r\n\r\n`)
    const answer = await socket.map(String).reduce((all, each) => all + each, '')
    expect(answer).toContain(' 404 ')
  })
})

describe('a path with an escaped slash beside dot segments', () => {
  it.each(['/frontdoor.v1.x%2fy/../metrics', '/frontdoor.v1.x%2Fy/%2e%2e/metrics',
    '/frontdoor.v1.x/..%2fmetrics', '/x%2f..%2fmetrics', '/x%5c../metrics', '/x\\y/../metrics',
    '/x%2fy/./metrics', '/%2e%2e%2fmetrics', '/x/%2e.%2F/metrics', '/a%2f../metrics?x=1'])(
      'is refused: %s',
      async (path) => {
        const { url } = await openDoor({ metrics })
        expect(await plainStatus(url, path)).toBe(400)
        expect(await statusOverHttp2(url, path)).toBe(400)
      },
    )

  it.each(['/ok?next=%2f..%2fmetrics', '/x/../ok', '/./ok', '/ok'])(
    'is what counts: %s is served',
    async (path) => {
      const { url } = await openDoor({ metrics })
      expect(await plainStatus(url, path)).toBe(200)
    },
  )

  it('is distinguished from names that have one of both', () => {
    const clear = ['/a%2fb', '/a/../b', '/a%2f...', '/a..%2fb', '/.a%2f', '/a%252f../b',
      '/a?%2f/../']
    expect(clear.filter(isAmbiguous)).toEqual([])
  })
})

it('sends the metrics in the format that is named', async () => {
  const { url } = await openDoor({ metrics })
  const read = async (query: string) => {
    const answer = await fetch(`${url}/metrics${query}`)
    return [answer.status, await answer.text()]
  }
  expect(await read('')).toEqual([200, 'count 1'])
  expect(await read('?format=prometheus')).toEqual([200, 'count 1'])
  expect(await read('?format=json')).toEqual([200, '[{"name":"count"}]'])
  expect(await read('?format=xml')).toEqual([422, expect.stringContaining('prometheus or json')])
})
