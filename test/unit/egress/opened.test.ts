/** Answers that are read as they come: whom they are asked of, and how they end. */

import { describe, expect, it, onTestFinished } from 'vitest'

import { openEgress } from '../../../src/egress/index.ts'
import type { Call, Egress, EgressOptions, OpenedAnswer } from '../../../src/egress/index.ts'
import { virtualEnv } from '../../support/env.ts'
import { openReceiver } from '../../support/receiver.ts'
import type { Answer, Receiver } from '../../support/receiver.ts'

const forever = new AbortController().signal

async function receiver(answer?: Answer, host?: string): Promise<Receiver> {
  const one = await openReceiver(answer, host)
  onTestFinished(() => one.close())
  return one
}

/** A way out whose clocks run out when a test says so. */
function egress(
  options: Partial<EgressOptions> = {},
): Egress & { readonly clocks: ReadonlyMap<() => void, number>; runOut(ms: number): void } {
  const clocks = new Map<() => void, number>()
  const env = { ...virtualEnv(), after: (ms: number, fn: () => void) => {
    clocks.set(fn, ms)
    return () => void clocks.delete(fn)
  } }
  const way = openEgress({ env, version: '1.2.3', allowed: ['127.0.0.1'], ...options })
  onTestFinished(() => way.close())
  return { ...way, clocks, runOut: (ms) => {
    for (const [fn, each] of clocks) if (each === ms) fn()
  } }
}

const post = (url: string, more: Partial<Call> = {}): Call => ({ tenant: 'acme', method: 'POST',
  url, body: async () => '{}', answerMs: 120_000, ...more })

async function opened(way: Egress, call: Call, signal = forever): Promise<OpenedAnswer> {
  const answer = await way.open(call, signal)
  if (answer.kind !== 'opened') throw new Error(answer.reason)
  return answer
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of body) text += Buffer.from(chunk).toString()
  return text
}

/** An endpoint that begins its answer and leaves it open; `cut` when its connection closed. */
async function endless(): Promise<Receiver & { readonly cut: Promise<void> }> {
  const { promise: cut, resolve } = Promise.withResolvers<void>()
  const there = await receiver((_, response) => {
    response.once('close', resolve)
    response.write('first')
  })
  return { ...there, cut }
}

describe('an opened answer', () => {
  it('comes piece by piece, while the rest is still to come', async () => {
    const more = Promise.withResolvers<void>()
    const there = await receiver((_, response) => {
      response.writeHead(201, { 'retry-after': '3' }).write('one')
      void more.promise.then(() => response.end('two'))
    })
    const way = egress()
    const { status, retryAfterMs, body } = await opened(way, post(there.url))
    expect([status, retryAfterMs]).toEqual([201, 3_000])
    const pieces: string[] = []
    for await (const piece of body) {
      pieces.push(Buffer.from(piece).toString())
      more.resolve()
    }
    expect(pieces).toEqual(['one', 'two'])
    expect(way.clocks.size, 'clocks that still run').toBe(0)
  })

  it('is asked for once, whatever its status', async () => {
    const there = await receiver((_, response) => response.writeHead(503).end('not now'))
    const { status, body } = await opened(egress(), post(there.url))
    expect([status, await textOf(body), there.received.length]).toEqual([503, 'not now', 1])
  })

  it.each([[60_000, 'it sent nothing for 60 seconds'], [120_000,
    'it took longer than 120 seconds']])(
      'ends after %i ms with a sentence, and its connection is cut',
      async (ms, message) => {
        const there = await endless()
        const way = egress()
        const { body } = await opened(way, post(there.url))
        const read = (async () => {
          for await (const _ of body) setImmediate(() => way.runOut(ms))
        })()
        await expect(read).rejects.toThrow(message)
        await there.cut
        expect(way.clocks.size).toBe(0)
      },
    )

  it('ends at its bound of bytes', async () => {
    const there = await receiver((_, response) => response.end('x'.repeat(1_001)))
    const { body } = await opened(egress(), post(there.url, { answerBytesMax: 1_000 }))
    await expect(textOf(body)).rejects.toThrow('it is longer than 1000 bytes')
    const whole = await receiver((_, response) => response.end('x'.repeat(1_000)))
    const { body: all } = await opened(egress(), post(whole.url, { answerBytesMax: 1_000 }))
    expect(await textOf(all)).toHaveLength(1_000)
  })

  it('is cut when its reader leaves', async () => {
    const there = await endless()
    const way = egress()
    const { body } = await opened(way, post(there.url))
    for await (const _ of body) break
    await there.cut
    expect(way.clocks.size).toBe(0)
  })

  it('is cut when its call is given up, even if nobody reads it', async () => {
    for (const isRead of [true, false]) {
      const there = await endless()
      const stop = new AbortController()
      const { body } = await opened(egress(), post(there.url), stop.signal)
      const read = isRead ? textOf(body) : Promise.reject(new Error('no more'))
      stop.abort(new Error('no more'))
      await expect(read).rejects.toThrow('no more')
      await there.cut
    }
  })

  it('gives its turn back however it ended', async () => {
    const there = await endless()
    const way = egress()
    const stop = new AbortController()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => opened(way, post(there.url), stop.signal)),
    )
    const ninth = opened(way, post(there.url))
    for await (const _ of answers[0]!.body) break
    for await (const _ of (await ninth).body) break
    stop.abort()
    for (let turns = 0; turns < 8; turns++) {
      for await (const _ of (await opened(way, post(there.url))).body) break
    }
    expect(there.received).toHaveLength(17)
  })
})

describe('what is not opened', () => {
  it('is an endpoint that never answers', async () => {
    const way = egress()
    const there = await receiver(() => way.runOut(120_000))
    expect(await way.open(post(there.url), forever))
      .toEqual({ kind: 'failed', reason: 'it took longer than 120 seconds' })
    expect(there.received).toHaveLength(1)
  })

  it('is a closed address, also by a name that is looked up again', async () => {
    const inside = await receiver(undefined, '127.0.0.2')
    const outside = await receiver((_, response) =>
      response.writeHead(200, { connection: 'close' }).end()
    )
    const answers = ['127.0.0.1', '127.0.0.2']
    const way = egress({ resolve: async () => [{ address: answers.shift()!, family: 4 }] })
    await textOf((await opened(way, post(`http://rebound.example:${outside.port}/`))).body)
    expect(await way.open(post(`http://rebound.example:${inside.port}/`), forever)).toEqual(
      { kind: 'refused', reason: 'rebound.example is loopback: it is not called.' },
    )
    expect(inside.received).toEqual([])
  })

  it.each(['http://127.0.0.2:PORT/', 'http://2130706434:PORT/', 'http://0x7f000002:PORT/',
    'http://inside.example:PORT/', 'http://[::ffff:127.0.0.2]:PORT/', 'ftp://127.0.0.1/',
    'http://u:p@127.0.0.1:PORT/', 'http://127.0.0.1:22/'])('is a redirect to %s', async (to) => {
      const inside = await receiver(undefined, '127.0.0.2')
      const there = await receiver((_, response) =>
        response.writeHead(307, { location: to.replace('PORT', String(inside.port)) }).end()
      )
      const way = egress({ resolve: async () => [{ address: '127.0.0.2', family: 4 }] })
      expect(await way.open(post(there.url), forever)).toMatchObject({ kind: 'refused' })
      expect([inside.received.length, there.received.length]).toEqual([0, 1])
      expect(way.clocks.size).toBe(0)
    })

  it('is the fourth redirect; secrets stay with the first origin', async () => {
    const other = await receiver((_, response) => response.end('there'))
    const there = await receiver((_, response) =>
      response.writeHead(307, { location: other.url }).end()
    )
    const headers = { authorization: 'Bearer secret', 'x-api-key': 'secret' }
    expect(await textOf((await opened(egress(), post(there.url, { headers }))).body)).toBe('there')
    expect(JSON.stringify(other.received)).not.toContain('secret')
    const round = await receiver((_, response) =>
      response.writeHead(302, { location: '/on' }).end()
    )
    expect(await egress().open(post(round.url), forever))
      .toEqual({ kind: 'refused', reason: 'it redirects more than 3 times' })
  })
})

describe('a call with bounds of its own', () => {
  it('has them for its time and its size', async () => {
    const there = await receiver((_, response) => response.end('x'.repeat(1_001)))
    expect(await egress().send(post(there.url, { answerBytesMax: 1_000 }), forever))
      .toMatchObject({ body: 'x'.repeat(1_000), cut: true })
    const way = egress()
    const silent = await receiver(() => way.runOut(120_000))
    expect(await way.send(post(silent.url, { tries: 1 }), forever))
      .toEqual({ kind: 'failed', reason: 'it took longer than 120 seconds' })
  })
})
