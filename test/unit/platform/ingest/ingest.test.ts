/** What becomes of operations, whichever way and in whatever order they come. */

import { gzipSync, zstdCompressSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { segmentOf } from '../../../../src/platform/spans/dotted-order.ts'
import type { WrittenSpans } from '../../../../src/platform/spans/span-port.ts'
import { termOf } from '../../../../src/platform/spans/term.ts'
import { multipartOf, partsOfRuns } from '../../../support/ingest-bodies.ts'
import { isNight } from '../../../support/repeats.ts'
import { ingestHouse, projectId } from './ingest-house.ts'

/** The outcome of a write without removed spans. */
const nothing: WrittenSpans = { removed: [], moved: [] }
const startUs = Date.UTC(2026, 10, 26, 14, 30) * 1000 + 123_456
const root = '01930000-0000-7000-8000-000000000001'
const order = (id: string, us: number) => segmentOf(us, id)

const run = { id: root, trace_id: root, dotted_order: order(root, startUs), name: 'Agent',
  run_type: 'chain', start_time: '2026-11-26T14:30:00.123456Z', session_name: 'demo',
  tags: ['blue', 'seq:step:1'],
  extra: { metadata: { thread_id: 't-1', user: 7, langgraph_node: 'a' }, runtime: { sdk: 'js' } },
  inputs: { question: 'Why?' }, revision_id: 'r1', input_attachments: null }

describe('an operation', () => {
  it('fills a head, its terms and its payload', async () => {
    const house = ingestHouse()
    const answer = await house.multipart([{ kind: 'post', run }, { kind: 'patch',
      run: { ...run, inputs: undefined, end_time: startUs / 1000 + 250, outputs: { answer: 42 },
        error: 'It broke.' } }])
    expect(answer).toEqual({ accepted: 2, rejected: [] })
    const span = (await house.spans()).get(root)!
    expect(span).toMatchObject({ tenant: 'acme', project: projectId('demo'), startUs,
      traceStartUs: startUs, trace: root, root: true, parent: null, name: 'Agent', type: 'chain',
      failed: true, thread: 't-1', endUs: startUs + 250_000, dottedOrder: run.dotted_order })
    expect(span.payload).toEqual({ inputs: run.inputs, outputs: { answer: 42 }, error: 'It broke.',
      extra: run.extra, tags: run.tags, rest: { revision_id: 'r1' } })
    for (const term of [termOf.name('Agent'), termOf.error, termOf.thread('t-1'),
      termOf.tag('blue'), termOf.tag('seq:step:1'), termOf.metadata('user', '7'),
      termOf.metadataKey('langgraph_node')]) expect(span.terms).toContain(term)
  })

  it.each([[null, {}], [5, { outputs: {}, events: [] }]])('that ends at %s has the payload %j',
    async (end_time, payload) => {
      const house = ingestHouse()
      const post = { id: root, dotted_order: run.dotted_order, error: null, outputs: {},
        events: [] }
      await house.multipart([{ kind: 'post', run: { ...post, end_time } }])
      expect((await house.spans()).get(root)!.payload).toEqual(payload)
    })

  it('does not end before it starts because of a millisecond', async () => {
    const house = ingestHouse()
    await house.multipart([{ kind: 'post', run: { ...run, end_time: Math.floor(startUs / 1000) } }])
    expect((await house.spans()).get(root)!.endUs).toBe(startUs)
  })

  it.each(['gzip', 'zstd', ''] as const)('is read from a body with encoding "%s"',
    async (encoding) => {
      const house = ingestHouse()
      const { body, contentType } = multipartOf(partsOfRuns([{ kind: 'post', run }]), 'python')
      const packed = encoding === 'gzip' ? gzipSync(body) : encoding === 'zstd'
        ? zstdCompressSync(body)
        : body
      expect((await house.send({ body: packed, contentType, encoding })).accepted).toBe(1)
      expect((await house.spans()).size).toBe(1)
    })
})

describe('a body', () => {
  it('keeps what is whole when one operation is bad', async () => {
    const house = ingestHouse()
    const bad = [
      { id: 'no-id' },
      { ...run, id: other(1), trace_id: null, dotted_order: 'yesterday' },
      { ...run, id: other(2) },
      { id: other(3), start_time: 'SECRET' },
      { id: other(4), session_id: other(99) },
      { id: other(5), name: { SECRET: 1 } },
      { id: other(6), session_name: 'SECRET'.repeat(1000) },
      { id: other(7), dotted_order: Array(65).fill(order(other(7), startUs)).join('.') },
    ]
    const answer = await house.multipart([{ kind: 'post', run },
      ...bad.map((one) => ({ kind: 'post' as const, run: one }))])
    expect(answer.accepted).toBe(1)
    expect(answer.rejected.map(({ id }) => id).sort()).toEqual(bad.map(({ id }) => id).sort())
    expect(JSON.stringify(answer)).not.toContain('SECRET')
    expect([...(await house.spans()).keys()]).toEqual([root])
  })

  it('of which nothing can be taken is refused', async () => {
    const house = ingestHouse()
    await expect(house.multipart([{ kind: 'post', run: { id: root, start_time: 'SECRET' } }]))
      .rejects.toMatchObject({ code: 'invalid', message: expect.not.stringContaining('SECRET') })
    await expect(house.send({ form: 'batch', body: Buffer.from('{"post":[') }))
      .rejects.toMatchObject({ code: 'malformed' })
    await expect(house.send({ form: 'post', body: Buffer.from('[1]') }))
      .rejects.toMatchObject({ code: 'malformed' })
    await expect(house.send({ contentType: 'text/plain', body: Buffer.from('x') }))
      .rejects.toMatchObject({ code: 'malformed' })
    await expect(house.send({ encoding: 'gzip', body: Buffer.from('x') }))
      .rejects.toMatchObject({ code: 'malformed' })
  })

  it('that grows beyond its bound is refused', async () => {
    const house = ingestHouse()
    const bomb = Buffer.alloc(65 * 1024 * 1024)
    for (const [encoding, body] of [['gzip', gzipSync(bomb, { level: 1 })], ['zstd',
      zstdCompressSync(bomb)], ['', bomb]] as const) {
      await expect(house.send({ encoding, body, contentType: 'multipart/form-data; boundary=x' }))
        .rejects.toMatchObject({ code: 'too_large' })
    }
  })

  it.each([...isNight ? ['gzip'] as const : [], 'zstd', ''] as const)(
    'may be large, in encoding "%s"',
    async (encoding) => {
      const house = ingestHouse()
      const large = { ...run, inputs: 'x'.repeat(9 * 1024 * 1024) }
      const { body, contentType } = multipartOf(partsOfRuns([{ kind: 'post', run: large }]))
      const packed = encoding === 'gzip' ? gzipSync(body) : encoding === 'zstd'
        ? zstdCompressSync(body)
        : body
      expect(await house.send({ body: packed, encoding, contentType })).toMatchObject({
        accepted: 1,
      })
    },
  )

  it('that is cut off within its compression is refused', async () => {
    const house = ingestHouse()
    const { body, contentType } = multipartOf(partsOfRuns([{ kind: 'post', run }]))
    for (const [encoding, packed] of [['gzip', gzipSync(body)], ['zstd',
      zstdCompressSync(body)]] as const) {
      for (let length = 0; length < packed.length; length += 3) {
        await expect(house.send({ encoding, body: packed.subarray(0, length), contentType }))
          .rejects.toMatchObject({ code: 'malformed' })
      }
    }
  })

  it('of one tenant has nothing to do with the same ids of another', async () => {
    const house = ingestHouse()
    const { body, contentType } = multipartOf(partsOfRuns([{ kind: 'post', run }]))
    await house.send({ body, contentType })
    await house.send({ tenant: 'other', form: 'patch', spanId: root,
      body: json({ outputs: 'theirs', session_name: 'demo' }) })
    await house.send({ tenant: 'other', form: 'post', body: json({ ...run, name: 'theirs' }) })
    expect((await house.spans()).get(root)).toMatchObject({ name: 'Agent',
      payload: expect.not.objectContaining({ outputs: 'theirs' }) })
    expect((await house.spans('other')).get(root)).toMatchObject({ name: 'theirs' })

    const unplaced = { form: 'post', body: json({ id: other(31) }) } as const
    await house.send(unplaced)
    house.env.advance(5)
    await house.send({ tenant: 'other', ...unplaced })
    const [ours, theirs] = [await house.spans(), await house.spans('other')]
    expect(theirs.get(other(31))!.startUs).not.toBe(ours.get(other(31))!.startUs)
  })

  it('has 2 000 operations at most', async () => {
    const house = ingestHouse()
    const post = Array.from({ length: 2001 }, (_, n) => ({ ...run, id: other(n) }))
    await expect(house.send({ form: 'batch', body: json({ post }) }))
      .rejects.toMatchObject({ code: 'too_large' })
    await expect(house.multipart(post.map((one) => ({ kind: 'post', run: one }))))
      .rejects.toMatchObject({ code: 'too_large' })
  })

  it('says what it cut', async () => {
    const house = ingestHouse()
    const tags = Array.from({ length: 101 }, (_, n) => `tag-${n}`)
    const keys = Array.from({ length: 201 }, (_, n) => [`key-${n}`, n])
    const long = { ...run, name: 'n'.repeat(1024 * 1024), tags,
      extra: { metadata: Object.fromEntries(keys) } }
    const { cut, rejected } = await house.multipart([{ kind: 'post', run: long }])
    expect(rejected).toEqual([])
    expect(cut?.map(({ reason }) => reason.slice(0, 4)).sort()).toEqual(['meta', 'name', 'tags'])
    const span = (await house.spans()).get(root)!
    expect(span.name).toHaveLength(1000)
    expect(span.payload).toMatchObject({ tags, extra: long.extra })
  })

  it('may carry attachments and feedback', async () => {
    const house = ingestHouse()
    const [score, lost] = [other(70), other(71)]
    const { body, contentType } = multipartOf([
      [`attachment.${root}.a picture.v2.png`, 'image/png', Buffer.from([1, 2, 13, 10, 45, 45])],
      [`attachment.${other(9)}.x`, 'text/plain', Buffer.from('x')],
      [`feedback.${score}`, 'application/json',
        json({ id: null, run_id: root, key: 'good', score: 1 })],
      [`feedback.${lost}`, 'application/json', json({ id: lost, run_id: root })],
      ...partsOfRuns([{ kind: 'post', run }]),
    ])
    const answer = await house.send({ body, contentType })
    expect(answer.accepted).toBe(1)
    expect(answer.rejected.map(({ id }) => id)).toEqual([other(9), lost])
    const [place] = await house.store.locate('acme', [root])
    expect(await house.store.files(place!, 'a picture.v2.png')).toMatchObject([{
      ownerTrace: root,
      type: 'image/png',
      data: Buffer.from([1, 2, 13, 10, 45, 45]),
    }])
    expect((await house.spans()).get(root)!.feedback).toMatchObject([{ id: score, key: 'good' }])
    expect(await house.store.getFeedback('acme', score))
      .toMatchObject({ span: root, trace: root, project: projectId('demo') })
  })

  it('of OpenTelemetry is filed under its trace', async () => {
    const house = ingestHouse()
    const span = { traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b174',
      parentSpanId: 'eee19b7ec3c1b173', name: 'chat', startTimeUnixNano: '1764187200123456789',
      endTimeUnixNano: '1764187201123456789' }
    const body = json({ resourceSpans: [{ scopeSpans: [{ spans: [span, { name: 'no id' }] }] }] })
    const answer = await house.send({ form: 'otlp', body, contentType: 'application/json',
      project: 'by header' })
    expect(JSON.parse(Buffer.from(answer.otlp!.body).toString()))
      .toMatchObject({ partialSuccess: { rejectedSpans: '1' } })
    const [seen] = (await house.spans()).values()
    expect(seen).toMatchObject({ id: '00000000-0000-0000-eee1-9b7ec3c1b174', name: 'chat',
      trace: '5b8efff7-9803-8103-d269-b633813fc60c', startUs: 1_764_187_200_123_456,
      parent: '00000000-0000-0000-eee1-9b7ec3c1b173', project: projectId('by header') })
  })
})

describe('a span without a dotted order', () => {
  it('is the root of its own trace, or below a parent that is known', async () => {
    const house = ingestHouse()
    const post = (body: object) => house.send({ form: 'post', body: json(body) })
    const [top, below] = [other(20), other(21)]
    await post({ id: top, name: 'top', run_type: 'chain', session_name: 'demo' })
    await post({ id: below, name: 'below', run_type: 'tool', parent_run_id: top,
      start_time: 1_764_187_200_500 })
    const spans = await house.spans()
    const nowUs = house.env.nowMs() * 1000
    expect(spans.get(top)).toMatchObject({ trace: top, root: true,
      dottedOrder: order(top, spans.get(top)!.startUs) })
    expect(Math.abs(spans.get(top)!.startUs - nowUs)).toBeLessThan(1000)
    expect(spans.get(below)).toMatchObject({ trace: top, root: false, parent: top,
      project: projectId('demo'), traceStartUs: spans.get(top)!.startUs,
      dottedOrder: `${spans.get(top)!.dottedOrder}.${order(below, 1_764_187_200_500_000)}` })
    await post({ id: other(22), parent_run_id: below, start_time: 1_764_187_200_501 })
    expect((await house.spans()).get(other(22))).toMatchObject({ trace: top,
      dottedOrder: `${spans.get(below)!.dottedOrder}.${order(other(22), 1_764_187_200_501_000)}` })
  })

  it.each([false, true])('is patched by its id alone, by another member: %s', async (isOther) => {
    const house = ingestHouse()
    await house.multipart([{ kind: 'post', run }])
    const patching = isOther ? ingestHouse(() => house.store) : house
    await patching.multipart([{ kind: 'post',
      run: { ...run, id: other(30), trace_id: other(30),
        dotted_order: order(other(30), startUs) } }])
    // The Python client sends nulls for what it does not know.
    const patch = { name: null, run_type: null, trace_id: null, parent_run_id: null,
      dotted_order: null, tags: null, extra: null, session_id: null, session_name: null,
      end_time: '2026-11-26T14:30:01+00:00', outputs: { a: 1 } }
    await patching.send({ form: 'patch', spanId: root, body: json(patch) })
    const span = (await house.spans()).get(root)!
    expect(span).toMatchObject({ name: 'Agent', type: 'chain', trace: root, root: true,
      project: projectId('demo'), startUs, endUs: Date.UTC(2026, 10, 26, 14, 30, 1) * 1000 })
    expect(span.payload).toMatchObject({ outputs: { a: 1 }, tags: run.tags })
  })

  it('may be patched before it is posted', async () => {
    const house = ingestHouse()
    const id = other(40)
    await house.send({ form: 'patch', spanId: id, body: json({ outputs: { a: 1 }, end_time: 5 }) })
    expect((await house.spans()).get(id)).toMatchObject({ root: null, dottedOrder: null })
    await house.send({ form: 'post', body: json({ id, name: 'late', inputs: { q: 1 } }) })
    const spans = await house.spans()
    expect(spans.size).toBe(1)
    expect(spans.get(id)).toMatchObject({ name: 'late', root: true, trace: id,
      payload: { inputs: { q: 1 }, outputs: { a: 1 } } })
  })
})

describe('a single post', () => {
  it('gets an id if it has none', async () => {
    const house = ingestHouse()
    const { id: _, trace_id: _t, dotted_order: _o, ...nameless } = run
    for (const body of [nameless, { ...nameless, id: null }]) {
      const spareId = crypto.randomUUID()
      await house.send({ form: 'post', body: json(body), spareId })
      expect((await house.spans()).get(spareId)).toMatchObject({ name: 'Agent', root: true })
    }
    const spareId = crypto.randomUUID()
    await house.send({ form: 'post', body: json(run), spareId })
    expect([...(await house.spans()).keys()]).toContain(root)
    expect([...(await house.spans()).keys()]).not.toContain(spareId)
  })

  it('of an unknown type is refused, and named beside others', async () => {
    const house = ingestHouse()
    await expect(house.multipart([{ kind: 'post', run: { ...run, run_type: 'agent' } }]))
      .rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('run_type') })
    for (const run_type of ['CHAIN', 'embedding', 'parser']) {
      await house.multipart([{ kind: 'patch', run: { ...run, run_type } }])
    }
    expect((await house.spans()).get(root)).toMatchObject({ type: 'parser' })
  })

  it('is refused if the run exists, but not after a mere patch', async () => {
    const house = ingestHouse()
    await house.multipart([{ kind: 'patch', run: { ...run, inputs: undefined, end_time: 9 } }])
    const post = () => house.send({ form: 'post', body: json(run) })
    await post()
    await expect(post()).rejects.toMatchObject({ code: 'exists' })
    expect((await house.spans()).get(root)!.payload).toMatchObject({ inputs: run.inputs })
  })
})

describe('a project', () => {
  it('is found by its name, its id or its address; "default" if there is none', async () => {
    const house = ingestHouse()
    const ops = [{ session_name: 'demo' }, { session_name: null }, {
      session_id: projectId('demo'),
    }, { session_name: undefined, address: 'lrn:agents/my-agent/environments/production' }]
    for (const [n, project] of ops.entries()) {
      const id = other(50 + n)
      await house.multipart([{ kind: 'post',
        run: { ...run, id, trace_id: id, dotted_order: order(id, startUs), ...project } }])
    }
    const spans = await house.spans()
    expect(ops.map((_, n) => spans.get(other(50 + n))!.project)).toEqual(
      ['demo', 'default', 'demo', 'my-agent/production'].map(projectId),
    )
  })

  it('begins with its earliest run', async () => {
    const house = ingestHouse()
    const at = (us: number, session_name: string) => {
      const id = crypto.randomUUID()
      return { kind: 'post' as const,
        run: { ...run, id, trace_id: id, session_name, dotted_order: order(id, us),
          start_time: us / 1000 } }
    }
    await house.multipart([at(startUs + 5_000_000, 'one'), at(startUs, 'one'),
      at(startUs + 9_000_000, 'two')])
    const startMs = Math.floor(startUs / 1_000)
    expect(Object.fromEntries(house.starts)).toEqual({ one: startMs, two: startMs + 9_000 })
  })

  it('is asked for again after a second', async () => {
    const house = ingestHouse()
    const post = () => house.multipart([{ kind: 'post', run }])
    await post()
    house.env.advance(999)
    await post()
    expect(house.asked).toEqual(['demo'])
    house.env.advance(2)
    await post()
    expect(house.asked).toEqual(['demo', 'demo'])
  })

  it('that is gone takes no late patch', async () => {
    const house = ingestHouse()
    await house.multipart([{ kind: 'post', run }])
    house.deleteProject('demo')
    house.env.advance(1001)
    await expect(house.send({ form: 'patch', spanId: root, body: json({ outputs: {} }) }))
      .rejects.toMatchObject({ code: 'invalid' })
  })

  it('of an older client is known from the post', async () => {
    const house = ingestHouse()
    await house.multipart([{ kind: 'post', run }])
    await house.multipart([{ kind: 'patch',
      run: { ...run, session_name: undefined, end_time: startUs / 1000 + 1 } }])
    const spans = await house.spans()
    expect(spans.size).toBe(1)
    expect(spans.get(root)!.endUs).toBe(startUs + 1000)
  })
})

describe('usage', () => {
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15, total_cost: 0.5 }
  const message = { kwargs: { usage_metadata: usage } }
  it.each([
    [{ usage_metadata: usage }, {}, 15],
    [{ generations: [[{ message }, { message: { usage_metadata: usage } }], [{ text: '' }]] }, {},
      30],
    [{ text: 'usage_metadata' }, { usage_metadata: usage }, 15],
    [{ usage_metadata: 'many' }, {}, null],
    [{ generations: { usage_metadata: usage } }, {}, null],
  ])('is found in %j and metadata %j', async (outputs, metadata, total) => {
    const house = ingestHouse()
    await house.multipart([{ kind: 'post',
      run: { ...run, run_type: 'llm', outputs, end_time: 1, extra: { metadata },
        events: [{ name: 'start' }, { name: 'new_token', time: 1_764_187_200_500 }] } }])
    expect((await house.spans()).get(root)).toMatchObject({ totalTokens: total,
      firstTokenUs: 1_764_187_200_500_000 })
  })

  it.each([
    [{ usage_metadata: usage }, null],
    [{ text: 'hi' }, 15],
  ])('of a chain in its metadata counts if it is not that of %j', async (outputs, totalTokens) => {
    const house = ingestHouse()
    await house.multipart([{ kind: 'post',
      run: { ...run, run_type: 'chain', outputs, end_time: 1,
        extra: { metadata: { usage_metadata: usage } } } }])
    expect((await house.spans()).get(root)).toMatchObject({ totalTokens })
  })
})

describe('a trace', () => {
  it('has 25 000 spans at most; what is known still changes', async () => {
    const house = ingestHouse((store) => ({ ...store, write: async () => nothing }))
    const spanOf = (n: number) => ({ id: other(n), trace_id: root,
      dotted_order: `${run.dotted_order}.${order(other(n), startUs + n)}`, session_name: 'demo' })
    const send = (from: number, count: number) =>
      house.send({ form: 'batch', body: json({
        post: Array.from({ length: count }, (_, n) => spanOf(from + n)),
      }) })
    for (let from = 0; from < 24_000; from += 2000) await send(from, 2000)
    await send(24_000, 999)
    expect(await send(24_998, 3)).toMatchObject({ accepted: 2, rejected: [{ id: other(25_000) }] })
    expect(await send(0, 1)).toMatchObject({ accepted: 1 })
    await expect(send(25_001, 1)).rejects.toMatchObject({ code: 'invalid' })
  })
})

describe('the handlers', () => {
  it('write own runs as heads without payload, again and again', async () => {
    const house = ingestHouse()
    const own = { id: root, thread: 't-1', assistant: 'a', graph: 'agent', startMs: startUs / 1_000,
      endMs: startUs / 1_000 + 5, failed: true,
      metadataJson: JSON.stringify({ user: 7, ok: true, created_by: 'system', list: [1],
        none: null }) }
    for (let n = 0; n < 2; n++) await house.handlers.ownRuns({ tenant: 'acme', runs: [own] })
    const spans = await house.spans()
    expect(spans.size).toBe(1)
    expect(spans.get(root)).toMatchObject({ name: 'agent', blocks: [],
      project: projectId('agent') })
    expect(spans.get(root)).toMatchObject({ thread: 't-1', root: true, type: 'chain', failed: true,
      startUs, endUs: startUs + 5_000, trace: root })
    const { metadata, metadataKey } = termOf
    expect(spans.get(root)!.terms.toSorted()).toEqual(
      [termOf.own, termOf.error, termOf.thread('t-1'), termOf.name('agent'), metadata('user', '7'),
        metadata('ok', 'true'), metadata('thread_id', 't-1'), metadata('assistant_id', 'a'),
        ...['user', 'ok', 'thread_id', 'assistant_id'].map(metadataKey)].toSorted(),
    )
  })

  it('write an own run into the project that its metadata names', async () => {
    const house = ingestHouse()
    const own = { id: root, thread: 't', assistant: 'a', graph: 'agent', startMs: 1, endMs: 2,
      failed: false, metadataJson: '{"project":"mine"}' }
    await house.handlers.ownRuns({ tenant: 'acme', runs: [own] })
    expect(house.asked).toEqual(['mine'])
    expect((await house.spans()).get(root)).toMatchObject({ project: projectId('mine') })
  })

  it('finish what is being written before they close', async () => {
    const gate = Promise.withResolvers<void>()
    const done: string[] = []
    const house = ingestHouse((store) => ({ ...store, write: async () => {
      await gate.promise
      done.push('written')
      return nothing
    }, close: async () => void done.push('closed') }))
    const sent = house.multipart([{ kind: 'post', run }])
    const closed = house.handlers.close(null)
    gate.resolve()
    await Promise.all([sent, closed])
    expect(done).toEqual(['written', 'closed'])
  })

  it('refuse a request for a second if too many wait', async () => {
    const gate = Promise.withResolvers<WrittenSpans>()
    const house = ingestHouse((store) => ({ ...store, write: () => gate.promise }))
    const body = json({ id: root, dotted_order: run.dotted_order })
    const waiting = Array.from({ length: 10_006 },
      () => house.send({ form: 'patch', spanId: root, body }))
    await expect(house.send({ form: 'patch', spanId: root, body })).rejects
      .toMatchObject({ code: 'full', details: { retryAfterSeconds: 1 } })
    gate.resolve(nothing)
    expect(await Promise.all(waiting)).toHaveLength(10_006)
  })

  it('pass on that a store is unavailable, so that the client sends again', async () => {
    const house = ingestHouse((store) => ({ ...store, write: async () => {
      throw new HeddleError('unavailable')
    } }))
    await expect(house.multipart([{ kind: 'post', run }]))
      .rejects.toMatchObject({ code: 'unavailable' })
  })
})

function other(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}
