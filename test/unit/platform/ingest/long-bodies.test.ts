/** Long bodies, which are read in threads of their own, and spans that are named as not kept. */

import { describe, expect, it } from 'vitest'

import { segmentOf } from '../../../../src/platform/spans/dotted-order.ts'
import { LongBodies } from '../../../../src/platform/calls/long-bodies.ts'
import { multipartOf, partsOfRuns } from '../../../support/ingest-bodies.ts'
import { ingestHouse } from './ingest-house.ts'

const bodyThread = new URL('../../../../src/platform/threads/body-thread.ts', import.meta.url)

const startUs = Date.UTC(2026, 10, 26, 14, 30) * 1000 + 123_456
const order = (id: string, us: number) => segmentOf(us, id)
const run = { name: 'Agent', run_type: 'chain', session_name: 'demo', inputs: { question: 'Why?' } }

describe('what is not kept', () => {
  it.each(['multipart', 'otlp'] as const)('of a deleted trace is named in the answer: %s',
    async (form) => {
      const house = ingestHouse()
      const trace = '00000000-0000-0000-0000-00000000000a'
      const spans = (traceId: string, spanId: string) => ({ traceId, spanId, name: 's',
        startTimeUnixNano: '1795694400000000000' })
      const kept = other(2)
      const [body, contentType] = form === 'otlp'
        ? [json({ resourceSpans: [{ scopeSpans: [{ spans: [
          spans('0000000000000000000000000000000a', '000000000000000b'),
          spans('0000000000000000000000000000000c', '000000000000000d'),
        ] }] }] }), 'application/json']
        : Object.values(multipartOf(partsOfRuns([
          { kind: 'post',
            run: { ...run, id: trace, trace_id: trace, dotted_order: order(trace, startUs) } },
          { kind: 'post',
            run: { ...run, id: kept, trace_id: kept, dotted_order: order(kept, startUs) } },
        ]))) as [Buffer, string]
      const send = () => house.send({ form, body: Buffer.from(body), contentType })
      await send()
      const gone = [...(await house.spans()).values()].filter((span) => span.trace === trace)
      await house.store.remove('acme', { kind: 'traces', traces: gone })
      const { accepted, rejected, otlp } = await send()
      expect({ accepted, rejected }).toEqual({ accepted: 1,
        rejected: [{ id: gone[0]!.id, reason: 'Its trace was deleted.' }] })
      if (form !== 'otlp') return
      expect(JSON.parse(Buffer.from(otlp!.body).toString())).toEqual({
        partialSuccess: { rejectedSpans: '1', errorMessage: 'Its trace was deleted.' },
      })
    })
})

describe('a long body', () => {
  const many = Array.from({ length: 300 }, (_, n) => ({ kind: n % 3 === 0
    ? 'patch' as const
    : 'post' as const,
    run: { ...run, id: other(n), trace_id: other(n), dotted_order: order(other(n), startUs),
      inputs: { text: 'é'.repeat(2_500) } } }))

  it.each(['multipart', 'batch'] as const)('says the same as short ones, as %s', async (form) => {
    const whole = ingestHouse()
    const runs = (kind: 'post' | 'patch') =>
      many.filter((each) => each.kind === kind).map((each) => each.run)
    if (form === 'multipart') await whole.multipart(many)
    else await whole.send({ form, body: json({ post: runs('post'), patch: runs('patch') }) })
    const parts = ingestHouse()
    for (let at = 0; at < many.length; at += 50) await parts.multipart(many.slice(at, at + 50))
    const seen = async (house: typeof parts) =>
      new Map([...await house.spans()].map(([id, { payload, name }]) => [id, { payload, name }]))
    expect(await seen(whole)).toEqual(await seen(parts))
    await whole.handlers.close(null)
  })

  it('of OpenTelemetry is read as well, and one that is none fails as a short one', async () => {
    const house = ingestHouse()
    const spans = Array.from({ length: 500 },
      (_, n) => ({ traceId: 'a'.repeat(32), spanId: (n + 1).toString(16).padStart(16, '0'),
        name: 's', startTimeUnixNano: '1795694400000000000' }))
    const send = (body: Buffer) =>
      house.send({ form: 'otlp', body, contentType: 'application/json' })
    expect(await send(json({ resourceSpans: [{ scopeSpans: [{ spans }] }] })))
      .toMatchObject({ accepted: 500, rejected: [] })
    await expect(send(Buffer.alloc(100_000, 'x'))).rejects.toMatchObject({ code: 'malformed' })
    await house.handlers.close(null)
  })
})

describe('a reader of long bodies', () => {
  const job = () =>
    ({ kind: 'upload', formOnly: true, contentType: 'multipart/form-data; ' +
      'boundary=x', body: Buffer.from('--x\r\ncontent-disposition: form-data; name="file"\r\n' +
        '\r\n{"a":1}\r\n--x--') }) as const

  it('is ended when it takes too long, and the next one reads', async () => {
    let late = true
    const bodies = new LongBodies(bodyThread, { after: (_, end) => {
      if (late) setImmediate(end)
      return () => undefined
    } })
    const read = async () => {
      for await (const part of bodies.read('a', job())) return part
    }
    await expect(read()).rejects.toMatchObject({ code: 'too_large' })
    late = false
    expect(await read()).toMatchObject({ name: null })
    await bodies.close()
  })
})

function other(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}
