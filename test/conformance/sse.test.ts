/** The event stream as bytes: frames, headers, heartbeats, and clients that do not read. */

import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { isNight, repeats } from '../support/repeats.ts'
import { collect, dataOf, namesOf, say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { allowedMs, tookMs } from '../support/stillness.ts'
import { dial, framesOf } from '../support/wire.ts'
import type { Frame } from '../support/wire.ts'

const server = useServer()
const gate = useGates()

const newThread = async () => (await server.client.threads.create()).thread_id

function open(path: string, body: object) {
  return fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

async function allFrames(answer: Response): Promise<Frame[]> {
  const frames: Frame[] = []
  for await (const frame of framesOf(answer.body!)) frames.push(frame)
  return frames
}

// At once: those that wait for seconds of silence need nothing else.
describe.concurrent('a stream', () => {
  it('carries the headers that clients and proxies need', async () => {
    const id = await newThread()
    const answer = await open(`/threads/${id}/runs/stream`, { assistant_id: 'echo',
      input: say('x') })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(answer.headers.get('cache-control')).toContain('no-cache')
    const [run] = await server.client.runs.list(id)
    const path = `/threads/${id}/runs/${run!.run_id}`
    expect(answer.headers.get('content-location')).toBe(path)
    expect(answer.headers.get('location')).toBe(`${path}/stream`)
    await allFrames(answer)
  })

  it('consists of frames with an event, one line of JSON and an id', async () => {
    const id = await newThread()
    const answer = await open(`/threads/${id}/runs/stream`, { assistant_id: 'echo',
      input: say('two\nlines\r\nand \u2028 more'), stream_mode: 'values' })
    const frames = (await allFrames(answer)).filter(({ text }) => !text.startsWith(':'))
    for (const { text } of frames) {
      const lines = text.split('\n')
      expect(lines.map((line) => line.slice(0, line.indexOf(':'))).sort())
        .toEqual(['data', 'event', 'id'])
      expect(text).not.toContain('\r')
      const data = lines.find((line) => line.startsWith('data: '))!.slice('data: '.length)
      expect(JSON.parse(data)).toBeTypeOf('object')
    }
    expect(frames[0]!.text).toContain('event: metadata\n')
  })

  it('begins before the graph has done anything', async () => {
    const id = await newThread()
    const hold = gate()
    const answer = await open(`/threads/${id}/runs/stream`, { assistant_id: 'held',
      input: say(`hold ${hold.url}`), stream_mode: ['custom'] })
    const frames = framesOf(answer.body!)
    expect((await frames.next()).value!.text).toContain('event: metadata\n')
    hold.open()
    for await (const _ of frames);
  })

  it.runIf(isNight)('sends a comment, which is no event, after every five seconds of silence',
    async () => {
      const id = await newThread()
      const hold = gate()
      const began = performance.now()
      const answer = await open(`/threads/${id}/runs/stream`, { assistant_id: 'held',
        input: say(`hold ${hold.url}`), stream_mode: ['custom'] })
      const heartbeats: number[] = []
      let received = ''
      const decoder = new TextDecoder()
      for await (const chunk of answer.body!) {
        const text = decoder.decode(chunk, { stream: true })
        received += text
        if (text.startsWith(':')) heartbeats.push(performance.now())
        if (heartbeats.length === 2) hold.open()
      }
      const [first, second] = heartbeats as [number, number]
      expect(first - began).toBeGreaterThan(3_500)
      expect(tookMs(began, first)).toBeLessThan(7_000)
      // The first one may arrive late.
      expect(second - first).toBeGreaterThan(3_500 - allowedMs(0, began, first))
      expect(tookMs(first, second)).toBeLessThan(7_000)
      // A blank line after a comment would repeat the last id as an empty event in the client.
      expect(received).toMatch(/\n:[^\n]*\n(?!\n)/)
    })
})

describe.concurrent('a reader', () => {
  it('gets everything that a graph streams at once, in order, however much it is', async () => {
    const pieces = repeats({ day: 10, night: 40 })
    const stream = server.client.runs.stream(null, 'wide', { input: { pieces, size: 1_500_000 },
      streamMode: ['updates', 'custom'] })
    const parts = await collect(stream)
    const got = dataOf<{ piece: number; filler: string }>(parts, 'custom')
    expect(got.map(({ piece }) => piece)).toEqual(Array.from(got.keys()))
    expect(got.map(({ filler }) => filler.length)).toEqual(Array(pieces).fill(1_500_000))
    expect(namesOf(parts)).toEqual(['metadata', 'custom', 'updates'])
  })
})

describe.concurrent('a reader that does not read', () => {
  it('delays the run only briefly, and other readers not at all', async ({ expect }) => {
    const id = await newThread()
    const body = JSON.stringify({ assistant_id: 'wide', stream_mode: ['values', 'custom'],
      input: { pieces: 400, size: 100_000 } })
    const socket = await dial(server.url)
    socket.pause()
    const began = performance.now()
    socket.write(`POST /threads/${id}/runs/stream HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\n`
      + `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    // The stream is 40 MB: far more than the buffers of the connection take.
    const run = await expect.poll(async () => (await server.client.runs.list(id))[0])
      .toBeDefined().then(async () => (await server.client.runs.list(id))[0]!)
    await server.client.runs.join(id, run.run_id)
    expect(tookMs(began)).toBeLessThan(15_000)
    const other = await newThread()
    expect(texts(await server.client.runs.wait(other, 'echo', { input: say('x') })))
      .toEqual(['x', 'echo: x'])
    socket.destroy()
  })
})

describe.concurrent('wait and join', () => {
  it('send their headers at once, to occupy no connection slot of the client', async () => {
    const id = await newThread()
    const hold = gate()
    const waiting = await open(`/threads/${id}/runs/wait`, { assistant_id: 'held',
      input: say(`hold ${hold.url}`) })
    const [run] = await server.client.runs.list(id)
    expect(waiting.headers.get('content-location')).toBe(`/threads/${id}/runs/${run!.run_id}`)
    const joining = await fetch(`${server.url}/threads/${id}/runs/${run!.run_id}/join`)
    hold.open()
    const [waited, joined] = [await waiting.json() as object, await joining.json() as object]
    expect(waited).toEqual(joined)
    expect(texts(waited).at(-1)).toBe('last')
  })
})
