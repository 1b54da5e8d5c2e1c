/** The routes of REST: what a request becomes, and what its answer looks like. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { addressReader } from '../../../../src/frontdoor/index.ts'
import { memoryDeployments } from '../../../support/memory-deployments.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { virtualEnv } from '../../../support/env.ts'
import { assistantHouse } from '../../assistants/assistant-house.ts'
import { call, openDoor } from '../open-front-door.ts'

const agentId = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'

async function doorWithThread(metadata: object = {}) {
  const door = await openDoor()
  const { json } = await call(door, 'POST', '/threads', { metadata })
  return { door, id: String(json.thread_id) }
}

describe('assistants', () => {
  it('of graphs are created by the first request if that failed at the start', async () => {
    const { assistants, index: assistantIndex } = assistantHouse(virtualEnv())
    let tries = 0
    const door = await openDoor({ assistantIndex,
      assistants: { ...assistants, create: (...of) =>
        ++tries > 2
          ? assistants.create(...of)
          : Promise.reject(new HeddleError('unavailable')) } })
    expect((await call(door, 'POST', '/assistants/count', {})).text).toBe('2')
  })

  it('of graphs begin with their defaults, and keep what they have after that', async () => {
    const { assistants, index: assistantIndex } = assistantHouse(virtualEnv())
    const config = { configurable: { model: 'a' }, recursion_limit: 7 }
    const assistantDefaults = new Map([['agent', { config, context: { tone: 'kind' } }]])
    const door = await openDoor({ assistants, assistantIndex, assistantDefaults })
    const begun = { config, context: { tone: 'kind' }, version: 1 }
    expect((await call(door, 'GET', '/assistants/agent')).json).toMatchObject(begun)
    expect((await call(door, 'GET', '/assistants/other')).json).toMatchObject({ config: {},
      context: {} })
    const next = await openDoor({ assistants, assistantIndex })
    expect((await call(next, 'GET', '/assistants/agent')).json).toMatchObject(begun)
    expect((await call(next, 'DELETE', `/assistants/${agentId}`)).status).toBe(204)
    expect((await call(next, 'GET', '/assistants/agent')).json).toMatchObject({ config: {} })
  })

  it('are refused for an unknown graph, with the graphs that exist', async () => {
    const door = await openDoor()
    for (const [method, path] of [['POST', '/assistants'], ['PATCH', `/assistants/${agentId}`]]) {
      const answer = await call(door, method!, path!, { graph_id: 'nosuch' })
      expect([answer.status, answer.json.message])
        .toEqual([404, 'Graph "nosuch" not found. There is: agent, other.'])
    }
  })

  it('are deleted with their threads if that is asked for', async () => {
    const { door, id } = await doorWithThread({ assistant_id: agentId })
    const kept = await call(door, 'POST', '/threads', { metadata: { assistant_id: 'x' } })
    door.threads.failure = new HeddleError('too_large')
    await call(door, 'DELETE', '/assistants/agent?delete_threads=true')
    expect((await call(door, 'GET', `/threads/${id}`)).status).toBe(404)
    expect((await call(door, 'GET', `/threads/${String(kept.json.thread_id)}`)).status).toBe(200)
  })

  it('are listed ten at a time by default, and so are versions', async () => {
    const door = await openDoor()
    for (let n = 0; n < 11; n++) await call(door, 'POST', '/assistants', { graph_id: 'agent' })
    for (let n = 0; n < 10; n++) await call(door, 'PATCH', '/assistants/agent', { name: `${n}` })
    for (const path of ['/assistants/search', '/assistants/agent/versions']) {
      expect((await call(door, 'POST', path, {})).json).toHaveLength(10)
    }
  })

  it('have a drawing of their graph and its schemas', async () => {
    const door = await openDoor()
    const drawn = async (query: string) =>
      (await call(door, 'GET', `/assistants/agent/graph${query}`)).json
    expect(await drawn('')).toEqual({ nodes: [{ id: 'false' }], edges: [] })
    expect(await drawn('?xray=2')).toEqual({ nodes: [{ id: '2' }], edges: [] })
    expect(await drawn('?xray=true')).toEqual({ nodes: [{ id: 'true' }], edges: [] })
    const json = { 'content-type': 'application/json' }
    expect((await call(door, 'GET', '/assistants/agent/schemas', undefined, json)).json)
      .toMatchObject({ graph_id: 'agent', input_schema: { type: 'object' } })
    expect((await call(door, 'GET', '/assistants/agent/subgraphs?recurse=true')).json)
      .toMatchObject({ inner: { input_schema: { type: 'object' } } })
    expect((await call(door, 'GET', '/assistants/agent/subgraphs/a%7Cb')).json)
      .toHaveProperty('a|b')
  })
})

describe('threads', () => {
  it('begin with supersteps, in order, if their graph is named', async () => {
    const door = await openDoor()
    const supersteps = [{ updates: [{ values: { a: 1 }, as_node: '__input__' }] }, {
      updates: [{ command: { update: {} }, as_node: 'n' }],
    }]
    await call(door, 'POST', '/threads', { metadata: { graph_id: 'agent' }, supersteps })
    expect(door.threads.given('create')).toMatchObject({ isNewId: true, supersteps: [
      [{ values: '{"a":1}', command: null, asNode: '__input__' }],
      [{ values: 'null', command: '{"update":{}}', asNode: 'n' }],
    ] })
    await call(door, 'POST', '/threads', { thread_id: agentId })
    expect(door.threads.given('create')).toMatchObject({ isNewId: false })
    expect((await call(door, 'POST', '/threads', { supersteps })).json)
      .toMatchObject({
        message: 'metadata.graph_id: is required by supersteps, and names one of: agent, other.',
      })
    const unknown = { metadata: { graph_id: 'nosuch' }, supersteps }
    expect((await call(door, 'POST', '/threads', unknown)).json).toMatchObject({
      code: 'not_found',
      message: 'Graph "nosuch" not found. There is: agent, other.',
    })
  })

  it('are searched and counted by all criteria', async () => {
    const { door } = await doorWithThread({ user: 'u' })
    const found = await call(door, 'POST', '/threads/search', {
      metadata: { user: 'u' },
      values: { a: 1 },
      status: 'idle',
      ids: [randomUUID()],
      sort_by: 'state_updated_at',
      sort_order: 'asc',
      limit: 1_000,
      extract: { first: 'metadata.user', asked: 'interrupts' },
      select: ['thread_id', 'context'],
    })
    expect(found.json).toMatchObject([{ extracted: { first: 'u', asked: {} } }])
    expect(found.headers.get('x-pagination-total')).toBe('1')
    expect(door.threads.given('search')).toMatchObject({ tenant: 'local', values: { a: 1 },
      sortBy: 'state_updated_at', sortOrder: 'asc', limit: 1_000, withoutValues: true })
    const extract = { last: 'values.messages[-1]' }
    await call(door, 'POST', '/threads/search', { select: ['thread_id'], extract })
    expect(door.threads.given('search')).toMatchObject({ withoutValues: false, limit: 10,
      sortBy: 'created_at', sortOrder: 'desc' })
    expect((await call(door, 'POST', '/threads/count', { status: 'idle' })).text).toBe('1')
  })

  it('are refused a search with a field out of bounds', async () => {
    const door = await openDoor()
    const aliases = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [n, 'values']))
    for (const wrong of [{ limit: 0 }, { limit: 1_001 }, { offset: -1 }, { sort_by: 'x' }, {
      extract: { a: 'status' },
    }, { extract: aliases }, { ids: ['x'] }, { extract: { a: `values${'['.repeat(500)}` } }, {
      select: Array(101).fill('status'),
    }]) {
      const answer = await call(door, 'POST', '/threads/search', wrong)
      expect([answer.status, answer.json.errors])
        .toMatchObject([422, [{ field: expect.stringContaining(Object.keys(wrong)[0]!) }]])
    }
  })
})

describe('state', () => {
  it('is answered exactly as it is stored', async () => {
    const { door, id } = await doorWithThread()
    const state = await call(door, 'GET', `/threads/${id}/state?subgraphs=true`)
    expect(state.text).toBe('{"values": {}, "next": []}')
    expect(door.threads.given('state'))
      .toEqual({ checkpointId: null, checkpointNs: '', subgraphs: true })
  })
})

describe('runs', () => {
  it('are created once per Idempotency-Key, with a thread and without', async () => {
    const { door, id } = await doorWithThread()
    for (const path of [`/threads/${id}/runs`, '/runs']) {
      const made = await Promise.all(
        [1, 2].map(() =>
          call(door, 'POST', path, { assistant_id: 'agent' }, { 'idempotency-key': 'k' })
        ),
      )
      expect(made[0]!.json.run_id).toBe(made[1]!.json.run_id)
    }
    expect(door.threads.runs.size).toBe(2)
  })

  it('name no revision on a server without deployments', async () => {
    const { door, id } = await doorWithThread()
    for (const path of [`/threads/${id}/runs`, '/runs', '/runs/wait']) {
      const { status, text } = await call(door, 'POST', path, { assistant_id: 'agent' }, {
        'x-heddle-revision': 'r1',
      })
      expect([status, text]).toEqual([422, expect.stringContaining('x-heddle-revision')])
    }
    expect(door.threads.runs.size).toBe(0)
  })
})

describe('the server', () => {
  it('answers health checks and its version', async () => {
    const door = await openDoor()
    expect((await call(door, 'GET', '/ok')).text).toBe('{"ok":true}')
    expect((await call(door, 'GET', '/ok?check_db=1')).text)
      .toBe('{"ok":true,"dependencies":{}}')
    expect((await call(door, 'GET', '/info')).json).toMatchObject({ version: '0.0.1',
      flags: { assistants: true, crons: true }, metadata: {} })
  })

  it('reports an unreachable store, and is healthy otherwise', async () => {
    const check = async () => {
      throw new HeddleError('unavailable', 'The store is gone.')
    }
    const door = await openDoor({ dependencies: [
      { name: 'store', title: 'The store', vital: true, check },
      { name: 'other', title: 'Another', vital: false, check: async () => {} },
    ] })
    const answer = await call(door, 'GET', '/ok?check_db=1')
    expect(answer).toMatchObject({ status: 503, json: {
      message: 'The store is gone.',
      dependencies: { store: { ok: false }, other: { ok: true } },
    } })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect((await call(door, 'GET', '/ok')).text).toBe('{"ok":true}')
  })

  it('lists deployments that it cannot serve, and is well', async () => {
    const deployments = memoryDeployments([], { failing: () => ['shop'] })
    const here = await openDoor({ deployments })
    expect((await call(here, 'GET', '/ok?check_db=1')).json).toEqual({ ok: true, dependencies: {},
      deployments: { not_serving: 1, names: ['shop'] } })
    // Those who come through a proxy may be strangers.
    const keyed = await openDoor({ deployments,
      auth: { keys: new MemoryKeys(), region: 'us', regionUrls: { us: '' }, sessions: null,
        addressOf: addressReader([]) } })
    const stranger = await call(keyed, 'GET', '/ok?check_db=1', undefined, {
      'x-forwarded-for': '203.0.113.9',
    })
    expect([stranger.status, stranger.json]).toEqual([200,
      expect.objectContaining({ deployments: { not_serving: 1 } })])
  })

  it('reports a dependency that does not answer', async () => {
    const check = () => new Promise<never>(() => {})
    const store = { name: 'store', title: 'Cassandra', vital: true, check }
    const door = await openDoor({ dependencies: [store] })
    const timers = door.env.timers()
    const answer = call(door, 'GET', '/ok?check_db=1')
    await expect.poll(() => door.env.timers()).toBeGreaterThan(timers)
    door.env.advance(2_000)
    expect(await answer).toMatchObject({ status: 503,
      json: { message: 'Cassandra does not answer.' } })
  })

  it('is healthy without a dependency that is not vital, and names it', async () => {
    const check = () => Promise.reject(new TypeError('hunter2'))
    const other = { name: 'other', title: 'Another', vital: false, check }
    const door = await openDoor({ dependencies: [other] })
    const answer = await call(door, 'GET', '/ok?check_db=1')
    expect(answer).toMatchObject({ status: 200, json: { ok: true, dependencies: {
      other: { ok: false, ms: 0 },
    } } })
    expect(answer.text).not.toContain('hunter2')
  })
})
