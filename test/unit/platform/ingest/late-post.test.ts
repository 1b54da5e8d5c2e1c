/** Patches that come before the post of their run, and name no project. */

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import type { SpanStore } from '../../../../src/platform/index.ts'
import { CassandraSpans } from '../../../../src/store/cassandra/platform/cassandra-spans.ts'
import { traceStore } from '../../../../src/store/embedded/platform/span-store.ts'
import { MemoryCassandra } from '../../../simulation/platform/memory-cassandra.ts'
import { virtualEnv } from '../../../support/env.ts'
import { multipartOf, partsOfRuns } from '../../../support/ingest-bodies.ts'
import { withMethods } from '../../../support/with-methods.ts'
import { ingestHouse, projectId } from './ingest-house.ts'

const id = '01890000-0000-7000-8000-000000000001'
const child = '01890000-0000-7000-8000-000000000002'
const json = (body: unknown) => Buffer.from(JSON.stringify(body))
const order = `20260101T000000000000Z${id}`

let directory: string | undefined
afterEach(async () => {
  if (directory !== undefined) await rm(directory, { recursive: true, force: true })
})

const kinds = ['memory', 'embedded', 'Cassandra'] as const

function opened(kind: typeof kinds[number],
  changes: (store: SpanStore) => SpanStore = (store) => store) {
  const env = virtualEnv()
  return ingestHouse((memory) => {
    if (kind === 'memory') return changes(memory)
    if (kind === 'Cassandra') {
      return changes(
        new CassandraSpans(new MemoryCassandra(env.nowMs).connect(), env, 'write'),
      )
    }
    directory = mkdtempSync(join(tmpdir(), 'heddle-late-'))
    return changes(traceStore({ directory, diskBytes: 2 ** 40, access: 'write', env }))
  })
}

describe.each(kinds)('a patch before its post, %s store', (kind) => {
  it.each([['with', { trace_id: id, dotted_order: order }], ['without', {}]] as const)(
    'is taken over by the project of the post, %s a dotted order',
    async (_, place) => {
      const house = opened(kind)
      await house.send({ form: 'patch', spanId: id,
        body: json({ ...place, outputs: { a: 1 }, end_time: '2026-01-01T00:00:09Z' }) })
      expect((await house.spans()).get(id)).toMatchObject({ project: projectId('default') })
      await house.handlers.putFeedback([{ tenant: 'acme', id: child, span: id, trace: null,
        project: null, key: 'good', score: 1, value: null, createdUs: 1, modifiedUs: 1,
        bodyJson: '{}' }])
      await house.send({ form: 'post',
        body: json({ ...place, id, name: 'late', session_name: 'demo', inputs: { q: 1 },
          start_time: '2026-01-01T00:00:00Z' }) })
      const spans = await house.spans()
      expect(spans.size).toBe(1)
      expect(spans.get(id)).toMatchObject({ project: projectId('demo'), name: 'late', root: true,
        endUs: Date.UTC(2026, 0, 1, 0, 0, 9) * 1_000, feedback: [{ key: 'good' }],
        payload: { inputs: { q: 1 }, outputs: { a: 1 } } })
      expect(await house.store.locate('acme', [id])).toMatchObject([{
        project: projectId('demo'),
      }])
      await house.handlers.close(null)
    },
  )

  it.each(['before', 'after'] as const)(
    'is read by the rules of the project of its post if it comes %s the post',
    async (when) => {
      const house = opened(kind)
      house.ruled.add('demo')
      const place = { trace_id: id, dotted_order: order }
      const post = () =>
        house.send({ form: 'post',
          body: json({ ...place, id, name: 'late', session_name: 'demo',
            start_time: '2026-01-01T00:00:00Z' }) })
      if (when === 'after') await post()
      const end = json({ ...when === 'before' && place, end_time: '2026-01-01T00:00:09Z' })
      await house.send({ form: 'patch', spanId: id, body: end })
      expect(house.woken).toEqual(when === 'before' ? [] : ['rule of demo'])
      if (when === 'before') await post()
      expect(house.woken).toEqual(['rule of demo'])
      await house.handlers.close(null)
    },
  )

  it('is read by the rules of the default project only if its post is there, too', async () => {
    for (const project of ['demo', 'default']) {
      const house = opened(kind)
      house.ruled.add('default')
      await house.send({ form: 'patch', spanId: id,
        body: json({ end_time: '2026-01-01T00:00:09Z' }) })
      expect(house.woken).toEqual([])
      await house.send({ form: 'post',
        body: json({ id, trace_id: id, dotted_order: order, name: 'late', session_name: project,
          start_time: '2026-01-01T00:00:00Z' }) })
      expect(house.woken).toEqual(project === 'default' ? ['rule of default'] : [])
      await house.handlers.close(null)
    }
  })

  it.each([['default', true], ['demo', true], ['demo', false]] as const)(
    'is in the project of a post in the same request: %s, with a dotted order: %s',
    async (project, isOrdered) => {
      const house = opened(kind)
      house.ruled.add('default').add('demo')
      const place = { id, trace_id: id, dotted_order: order }
      await house.multipart([
        { kind: 'patch', run: { ...place, end_time: '2026-01-01T00:00:09Z' } },
        { kind: 'post',
          run: { ...isOrdered ? place : { id }, name: 'late', inputs: {},
            ...project !== 'default' && { session_name: project } } },
      ])
      expect(house.woken).toEqual([`rule of ${project}`])
      expect(await house.store.locate('acme', [id]))
        .toMatchObject([{ project: projectId(project) }])
      await house.handlers.close(null)
    },
  )

  it('has its feedback in the project that a concurrent post names', async () => {
    let post: (() => Promise<unknown>) | undefined
    const house = opened(kind, (store) =>
      withMethods(store, { write: async (request) => {
        const first = post
        post = undefined
        await first?.()
        return store.write(request)
      } }))
    const place = { id, trace_id: id, dotted_order: order }
    post = () => house.multipart([{ kind: 'post', run: { ...place, session_name: 'demo' } }])
    const feedback = Buffer.from(JSON.stringify({ id: child, run_id: id, key: 'good', score: 1 }))
    const parts = partsOfRuns([{ kind: 'patch',
      run: { ...place, end_time: '2026-01-01T00:00:09Z' } }])
    await house.send(multipartOf([...parts, [`feedback.${child}`, 'application/json', feedback]]))
    expect(await house.store.getFeedback('acme', child))
      .toMatchObject({ project: projectId('demo') })
    expect((await house.spans()).get(id)).toMatchObject({ project: projectId('demo'),
      feedback: [{ key: 'good' }] })
    await house.handlers.close(null)
  })

  it('is read by rules if its post is sent again after its end could not be noted', async () => {
    const state = { fails: false }
    const house = opened(kind,
      (store) =>
        withMethods(store, { putDocuments: async (...documents) => {
          if (state.fails) throw new HeddleError('unavailable')
          await store.putDocuments(...documents)
        } }))
    house.ruled.add('demo')
    const place = { id, trace_id: id, dotted_order: order }
    await house.send({ form: 'patch', spanId: id,
      body: json({ ...place, end_time: '2026-01-01T00:00:09Z' }) })
    const post = () =>
      house.multipart([{ kind: 'post',
        run: { ...place, name: 'late', session_name: 'demo', inputs: {} } }])
    state.fails = true
    await expect(post()).rejects.toMatchObject({ code: 'unavailable' })
    expect(house.woken).toEqual([])
    state.fails = false
    await post()
    await post()
    expect(house.woken).toEqual(['rule of demo'])
    await house.handlers.close(null)
  })

  it('is followed by later patches that name no project either', async () => {
    const house = opened(kind)
    const patch = (outputs: object) =>
      house.send({ form: 'patch', spanId: id,
        body: json({ trace_id: id, dotted_order: order, outputs }) })
    await patch({ a: 1 })
    await patch({ a: 2 })
    await house.send({ form: 'post',
      body: json({ id, trace_id: id, dotted_order: order, name: 'late', session_name: 'demo' }) })
    await patch({ a: 3 })
    const spans = await house.spans()
    expect(spans.size).toBe(1)
    expect(spans.get(id)).toMatchObject({ project: projectId('demo'),
      payload: { outputs: { a: 3 } } })
    await house.handlers.close(null)
  })

  it('stays in the default project if its post names none', async () => {
    const house = opened(kind)
    await house.send({ form: 'patch', spanId: id, body: json({ outputs: { a: 1 } }) })
    await house.send({ form: 'post', body: json({ id, name: 'late' }) })
    expect((await house.store.locate('acme', [id])).map(({ project }) => project))
      .toEqual([projectId('default')])
    await house.handlers.close(null)
  })

  it('is accepted if the time in its id is too late for a store', async () => {
    const house = opened(kind)
    const far = '0a000000-0000-7000-8000-000000000001'
    const answer = await house.send({ form: 'patch', spanId: far,
      body: json({ outputs: { a: 1 }, end_time: '2026-01-01T00:00:09Z' }) })
    expect(answer).toMatchObject({ accepted: 1, rejected: [] })
    expect([...(await house.spans()).keys()]).toEqual([far])
  })
})
