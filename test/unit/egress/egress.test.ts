/** Outgoing calls to real servers: what is called, what never is, and how often it is tried. */

import { connect, createServer } from 'node:net'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'

import { describe, expect, it, onTestFinished } from 'vitest'

import { openEgress } from '../../../src/egress/index.ts'
import type { Call, Egress, EgressOptions } from '../../../src/egress/index.ts'
import { HeddleError } from '../../../src/errors.ts'
import { virtualEnv } from '../../support/env.ts'
import { isNight } from '../../support/repeats.ts'
import { openReceiver } from '../../support/receiver.ts'
import type { Answer, Receiver } from '../../support/receiver.ts'

const forever = new AbortController().signal

async function receiver(answer?: Answer, host?: string, port?: number): Promise<Receiver> {
  const one = await openReceiver(answer, host, port)
  onTestFinished(() => one.close())
  return one
}

/**
 * Pauses between tries are noted and end at once; timeouts of answers when `late` is called, those
 * of calls that wait for their turn when `tired` is.
 */
function egress(
  options: Partial<EgressOptions> = {},
): Egress & { readonly waits: readonly number[]; late(): void; tired(): void } {
  const waits: number[] = []
  const late = new Set<() => void>()
  const tired = new Set<() => void>()
  const env = { ...virtualEnv(), random: () => 0.5, after: (ms: number, fn: () => void) => {
    const timeouts = ms === 15_000 ? late : ms === 60_000 ? tired : undefined
    if (timeouts) {
      timeouts.add(fn)
      return () => void timeouts.delete(fn)
    }
    waits.push(ms)
    const timer = setImmediate(fn)
    return () => clearImmediate(timer)
  } }
  const way = openEgress({ env, version: '1.2.3', allowed: ['127.0.0.1'], ...options })
  const one = { ...way, waits, late: () => {
    for (const fn of late) fn()
  }, tired: () => {
    for (const fn of tired) fn()
  } }
  onTestFinished(() => one.close())
  return one
}

const post = (url: string, more: Partial<Call> = {}): Call => ({ tenant: 'acme', method: 'POST',
  url, body: async () => '{}', ...more })

const at = (...addresses: string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: 4 }))

describe('a call', () => {
  it('is sent with its headers and body, and answered', async () => {
    const there = await receiver((_, response) => response.end('heard'))
    const answer = await egress().send(
      post(`${there.url}hook?a=b`, { headers: { 'content-type': 'application/json' },
        body: async () => '{"a":1}' }),
      forever,
    )
    expect(answer).toEqual({ kind: 'answered', status: 200, body: 'heard', cut: false })
    expect(there.received).toMatchObject([{ method: 'POST', path: '/hook?a=b', body: '{"a":1}',
      headers: { 'user-agent': 'heddle/1.2.3', 'content-type': 'application/json' } }])
  })

  it('reads at most 1 MiB of an answer', async () => {
    const there = await receiver((_, response) => {
      response.write('x'.repeat(1024 * 1024))
      response.write('y')
    })
    const answer = await egress().send(post(there.url), forever)
    expect(answer).toEqual(
      { kind: 'answered', status: 200, cut: true, body: 'x'.repeat(1024 * 1024) },
    )
    const whole = await receiver((_, response) => response.end('x'.repeat(1024 * 1024)))
    expect(await egress().send(post(whole.url), forever)).toMatchObject({ cut: false })
  })

  it('is sent only where its caller allows, also after a redirect', async () => {
    const there = await receiver(({ path }, response) =>
      path === '/no'
        ? response.end()
        : response.writeHead(307, { location: '/no' }).end()
    )
    const mayCall = ({ pathname }: URL) => {
      if (pathname === '/no') throw new HeddleError('invalid', 'not there')
    }
    for (const path of ['no', 'yes']) {
      expect(await egress().send(post(`${there.url}${path}`, { mayCall }), forever))
        .toEqual({ kind: 'refused', reason: 'not there' })
    }
    expect(there.received.map(({ path }) => path)).toEqual(['/yes'])
  })

  it('ends if its caller gives it up', async () => {
    const there = await receiver(() => {})
    const stop = new AbortController()
    const sent = egress().send(post(there.url), stop.signal)
    await there.arrived(1)
    stop.abort(new Error('no more'))
    await expect(sent).rejects.toThrow('no more')
  })

  it('ends if the egress is closed', async () => {
    const there = await receiver(() => {})
    const way = egress()
    const sent = way.send(post(there.url), forever)
    await there.arrived(1)
    const ended = expect(sent).rejects.toThrow('The way out is closed')
    await way.close()
    await ended
  })
})

describe('a call that fails', () => {
  it('is tried again with growing pauses, six times in all', async () => {
    const there = await receiver((_, response) => response.writeHead(500).end())
    const way = egress()
    expect(await way.send(post(there.url), forever)).toMatchObject({ status: 500 })
    expect(there.received).toHaveLength(6)
    expect(way.waits).toEqual([750, 3_750, 18_750, 45_000, 90_000])
  })

  it.each([408, 425, 429, 502, 503])('is tried again after %i', async (status) => {
    const there = await receiver((_, response) =>
      response.writeHead(there.received.length === 1 ? status : 204).end()
    )
    expect(await egress().send(post(there.url), forever)).toMatchObject({ status: 204 })
    expect(there.received).toHaveLength(2)
  })

  it.each([400, 401, 404, 409, 410, 422])('is not tried again after %i', async (status) => {
    const there = await receiver((_, response) => response.writeHead(status).end())
    expect(await egress().send(post(there.url), forever)).toMatchObject({ status })
    expect(there.received).toHaveLength(1)
  })

  it.each([['20', 20_000], ['86400', 120_000], ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000], ['soon',
    750], ['0', 750]])('waits as Retry-After says, in bounds: %s', async (asked, ms) => {
      const there = await receiver((_, response) =>
        response.writeHead(there.received.length === 1 ? 503 : 200, { 'retry-after': asked }).end()
      )
      const way = egress()
      await way.send(post(there.url), forever)
      expect(way.waits).toEqual([ms])
    })

  it('is tried again after a timeout, or if nothing listens', async () => {
    const there = await receiver(() => way.late())
    const way = egress()
    expect(await way.send(post(there.url, { tries: 2 }), forever))
      .toEqual({ kind: 'failed', reason: 'it took longer than 15 seconds' })
    expect(there.received).toHaveLength(2)
    const gone = await openReceiver()
    await gone.close()
    expect(await way.send(post(gone.url, { tries: 2 }), forever))
      .toMatchObject({ kind: 'failed', reason: expect.stringContaining('ECONNREFUSED') })
  })

  it('makes its body for each try, and ends if there is none any more', async () => {
    const there = await receiver((_, response) => response.writeHead(500).end())
    let tries = 0
    const body = async () => (++tries < 3 ? `try ${tries}` : undefined)
    expect(await egress().send(post(there.url, { body }), forever))
      .toMatchObject({ kind: 'refused' })
    expect(there.received.map(({ body }) => body)).toEqual(['try 1', 'try 2'])
  })
})

describe('an address that is closed', () => {
  it('is not called by a name that resolves to it, and not tried again', async () => {
    const inside = await receiver(undefined, '127.0.0.2')
    const way = egress({ resolve: async () => at('127.0.0.2') })
    const url = `http://inside.example:${inside.port}/`
    expect(() => way.check(url)).not.toThrow()
    expect(await way.send(post(url), forever)).toEqual(
      { kind: 'refused', reason: 'inside.example is loopback: it is not called.' },
    )
    expect(way.waits).toEqual([])
    expect(inside.received).toEqual([])
  })

  it('is not called even if the name resolved to another one before', async () => {
    const outside = await receiver((_, response) =>
      response.writeHead(200, { connection: 'close' }).end()
    )
    const inside = await receiver(undefined, '127.0.0.2')
    const answers = [at('127.0.0.1'), at('127.0.0.2')]
    const way = egress({ resolve: async () => answers.shift()! })
    const send = (port: number) => way.send(post(`http://rebound.example:${port}/`), forever)
    expect(await send(outside.port)).toMatchObject({ kind: 'answered' })
    expect(await send(inside.port)).toMatchObject({ kind: 'refused' })
    expect(inside.received).toEqual([])
  })

  it('is skipped if the name resolves to others as well', async () => {
    const outside = await receiver()
    const inside = await receiver(undefined, '127.0.0.2', outside.port)
    const way = egress({ resolve: async () => at('127.0.0.2', '127.0.0.1') })
    await way.send(post(`http://both.example:${outside.port}/`), forever)
    expect([outside.received.length, inside.received.length]).toEqual([1, 0])
  })

  it.each(['http://127.0.0.2:PORT/', 'http://2130706434:PORT/', 'http://0x7f000002:PORT/',
    'http://inside.example:PORT/', 'http://[::ffff:127.0.0.2]:PORT/', 'ftp://127.0.0.1/',
    'http://u:p@127.0.0.1:PORT/', 'http://127.0.0.1:22/'])('is not called by a redirect to %s',
      async (to) => {
        const inside = await receiver(undefined, '127.0.0.2')
        const there = await receiver((_, response) =>
          response.writeHead(307, { location: to.replace('PORT', String(inside.port)) }).end()
        )
        const way = egress({ resolve: async () => at('127.0.0.2') })
        expect(await way.send(post(there.url), forever)).toMatchObject({ kind: 'refused' })
        expect(inside.received).toEqual([])
        expect(there.received).toHaveLength(1)
      })
})

describe('a redirect', () => {
  const secret = { authorization: 'Bearer secret', 'x-hook-token': 'secret', cookie: 'secret',
    'content-type': 'application/json', 'idempotency-key': 'one' }

  it('is followed with the same call, but without secrets to another origin', async () => {
    const other = await receiver()
    const there = await receiver(({ path }, response) =>
      response.writeHead(308, { location: path === '/' ? '/next' : other.url }).end()
    )
    await egress().send(post(there.url, { headers: secret, body: async () => 'told' }), forever)
    expect(there.received.map(({ path, headers }) => [path, headers['x-hook-token']]))
      .toEqual([['/', 'secret'], ['/next', 'secret']])
    const [{ method, headers, body }] = other.received as [Receiver['received'][number]]
    expect([method, body]).toEqual(['POST', 'told'])
    expect(JSON.stringify(headers)).not.toContain('secret')
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'idempotency-key': 'one' })
  })

  it('with 303 is followed by GET, without the body', async () => {
    const there = await receiver(({ path }, response) =>
      response.writeHead(path === '/' ? 303 : 200, { location: '/seen' }).end()
    )
    await egress().send(post(there.url), forever)
    expect(there.received.map(({ method, body }) => [method, body])).toEqual([
      ['POST', '{}'],
      ['GET', ''],
    ])
  })

  it('is followed three times at most', async () => {
    const there = await receiver((_, response) =>
      response.writeHead(302, { location: '/on' }).end()
    )
    expect(await egress().send(post(there.url), forever))
      .toEqual({ kind: 'refused', reason: 'it redirects more than 3 times' })
    expect(there.received).toHaveLength(4)
  })
})

describe('a redirect that is not followed', () => {
  it('leaves no connection behind, however long its body is', async () => {
    const closed = Promise.withResolvers<void>()
    const there = await receiver((_, response) => {
      response.once('close', closed.resolve)
      response.writeHead(302, { location: 'http://' }).end(Buffer.alloc(64 * 1024 * 1024))
    })
    expect(await egress().send(post(there.url), forever))
      .toEqual({ kind: 'refused', reason: 'It redirects to what is no URL.' })
    await closed.promise
  })
})

describe('concurrent calls', () => {
  it('are limited per host, without effect on other hosts', async () => {
    const slow = await receiver(() => {})
    const quick = await receiver()
    const names: Record<string, LookupAddress[]> = {}
    const way = egress({ resolve: async (host) => names[host] ?? at('127.0.0.1') })
    const stop = new AbortController()
    const held = Array.from({ length: 12 },
      () => way.send(post(`http://slow.example:${slow.port}/`), stop.signal).catch(() => 'stopped'))
    await slow.arrived(8)
    expect(await way.send(post(`http://quick.example:${quick.port}/`), forever))
      .toMatchObject({ status: 200 })
    expect(slow.received).toHaveLength(8)
    stop.abort()
    expect(new Set(await Promise.all(held))).toEqual(new Set(['stopped']))
  })

  it('wait for their turn for a minute at most', async () => {
    const there = await receiver(() => {})
    const way = egress()
    for (let calls = 0; calls < 8; calls++) way.send(post(there.url), forever).catch(() => {})
    await there.arrived(8)
    const waits = way.send(post(there.url, { tries: 1 }), forever)
    await new Promise((resolve) => setImmediate(resolve))
    way.tired()
    expect(await waits).toEqual({ kind: 'failed', reason: 'it took longer than 60 seconds' })
    expect(there.received).toHaveLength(8)
  })

  it.runIf(isNight)('to one host do not fill the whole queue', async () => {
    const answered = Promise.withResolvers<void>()
    const slow = await receiver(() => {})
    const other = await receiver((_, response) => void answered.promise.then(() => response.end()))
    const way = egress({ resolve: async () => at('127.0.0.1') })
    const stop = new AbortController()
    const send = (name: string, { port }: Receiver) =>
      way.send(post(`http://${name}.example:${port}/`, { tries: 1 }), stop.signal)
    const held = Promise.allSettled(Array.from({ length: 11_000 }, () => send('slow', slow)))
    const others = Array.from({ length: 9 }, () => send('other', other))
    await other.arrived(8)
    answered.resolve()
    for (const each of others) expect(await each).toMatchObject({ status: 200 })
    stop.abort()
    await held
  })

  it('of one tenant do not delay those of another, to however many hosts', async () => {
    const slow = await receiver(() => {})
    const quick = await receiver()
    const way = egress({ resolve: async () => at('127.0.0.1') })
    const stop = new AbortController()
    const held = Promise.allSettled(
      Array.from({ length: 200 },
        (_, n) =>
          way.send(post(`http://slow-${n}.example:${slow.port}/`, { tries: 1 }), stop.signal)),
    )
    await slow.arrived(48)
    for (let n = 0; n < 20; n += 1) {
      const tenant = 'other'
      expect(await way.send(post(`http://slow-${n}.example:${quick.port}/`, { tenant }), forever))
        .toMatchObject({ status: 200 })
    }
    expect(slow.received).toHaveLength(48)
    stop.abort()
    await held
  })
})

describe('with a proxy', () => {
  /** Sends every request to 127.0.0.1, whatever its host, and keeps the request lines. */
  async function openProxy() {
    const asked: string[] = []
    const server = createServer((socket) => {
      socket.once('data', (first) => {
        const [line = ''] = first.toString().split('\r\n')
        asked.push(line)
        const target = URL.parse(line.split(' ')[1]!)
        const on = connect(Number(target!.port), '127.0.0.1')
        on.write(first.toString().replace(target!.origin, ''))
        on.pipe(socket)
        socket.on('error', () => {})
        on.on('error', () => socket.destroy())
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    return { url: `http://127.0.0.1:${port}`, asked }
  }

  it('everything goes through it, even names that cannot be resolved here', async () => {
    const there = await receiver()
    const proxy = await openProxy()
    const way = egress({ proxy: proxy.url, resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    const answer = await way.send(post(`http://hooks.example:${there.port}/a`), forever)
    expect(answer).toMatchObject({ kind: 'answered', status: 200 })
    expect(proxy.asked).toEqual([`POST http://hooks.example:${there.port}/a HTTP/1.1`])
    expect(there.received).toHaveLength(1)
  })

  it('closed addresses are refused, and so are names that may resolve to one', async () => {
    const proxy = await openProxy()
    const way = egress({ proxy: proxy.url, allowed: [],
      resolve: async () => at('8.8.8.8', '10.0.0.1') })
    for (const url of ['http://10.0.0.1/', 'http://mixed.example/', 'https://mixed.example/']) {
      expect(await way.send(post(url), forever), url).toMatchObject({ kind: 'refused' })
    }
    expect(proxy.asked).toEqual([])
  })
})
