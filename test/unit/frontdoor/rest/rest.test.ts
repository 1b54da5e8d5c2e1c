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
  it('exist for every graph from the start, found by graph id and by their own id', async () => {
    const door = await openDoor()
    const byGraph = await call(door, 'GET', '/assistants/agent')
    expect(byGraph.json).toMatchObject({ assistant_id: agentId, graph_id: 'agent', version: 1,
      metadata: { created_by: 'system' } })
    expect((await call(door, 'GET', `/assistants/${agentId}`)).text).toBe(byGraph.text)
    expect((await call(door, 'POST', '/assistants/count', {})).text).toBe('2')
  })

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

  it('are created, updated, restored and deleted', async () => {
    const door = await openDoor()
    const made = await call(door, 'POST', '/assistants', { graph_id: 'agent', context: { m: 1 } })
    expect(made.json).toMatchObject({ name: 'Untitled', description: null, config: {}, metadata: {},
      context: { m: 1 }, version: 1 })
    const path = `/assistants/${String(made.json.assistant_id)}`
    const patched = await call(door, 'PATCH', path, { graph_id: 'other', context: { m: 2 } })
    expect(patched.json).toMatchObject({ version: 2, graph_id: 'other', context: { m: 2 } })
    const versions = await call(door, 'POST', `${path}/versions`, {})
    expect(versions.json).toMatchObject([{ version: 2 }, { version: 1, graph_id: 'agent' }])
    const latest = await call(door, 'POST', `${path}/latest`, { version: 1 })
    expect(latest.json).toMatchObject({ version: 1, graph_id: 'agent', context: { m: 1 } })
    expect((await call(door, 'POST', `${path}/latest`, { version: 7 })).status).toBe(404)
    expect((await call(door, 'DELETE', `${path}?delete_threads=false`)).status).toBe(204)
    expect((await call(door, 'GET', path)).status).toBe(404)
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

  it('are searched with a total, and the next offset while there are more', async () => {
    const door = await openDoor()
    const page = (offset: number) =>
      call(door, 'POST', '/assistants/search', { limit: 1, offset, select: ['name'],
        metadata: { created_by: 'system' } })
    const [first, second, beyond] = [await page(0), await page(1), await page(9)]
    expect(Object.keys((first.json as unknown as object[])[0]!)).toEqual(['name'])
    expect(
      [first, second, beyond].map((
        { headers },
      ) => [headers.get('x-pagination-total'), headers.get('x-pagination-next')]),
    )
      .toEqual([['2', '1'], ['2', null], ['2', null]])
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
  it('are created with the requested id, and once for it', async () => {
    const door = await openDoor()
    const threadId = randomUUID()
    const body = { thread_id: threadId, metadata: { a: 1 } }
    const made = await call(door, 'POST', '/threads', body)
    expect(made.json).toMatchObject({ thread_id: threadId, status: 'idle', values: {},
      metadata: { a: 1 }, interrupts: {}, error: null })
    expect((await call(door, 'POST', '/threads', body)).status).toBe(409)
    const again = await call(door, 'POST', '/threads', { ...body, if_exists: 'do_nothing' })
    expect(again.text).toBe(made.text)
  })

  it('begin with supersteps, in order, if their graph is named', async () => {
    const door = await openDoor()
    const supersteps = [{ updates: [{ values: { a: 1 }, as_node: '__input__' }] }, {
      updates: [{ command: { update: {} }, as_node: 'n' }],
    }]
    await call(door, 'POST', '/threads', { metadata: { graph_id: 'agent' }, supersteps })
    expect(door.threads.given('create')).toMatchObject({ supersteps: [
      [{ values: '{"a":1}', command: null, asNode: '__input__' }],
      [{ values: 'null', command: '{"update":{}}', asNode: 'n' }],
    ] })
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

  it('are patched, answered minimally if that is preferred, copied and deleted', async () => {
    const { door, id } = await doorWithThread({ a: 1 })
    const path = `/threads/${id}`
    expect((await call(door, 'PATCH', path, { metadata: { b: 2 } })).json)
      .toMatchObject({ metadata: { a: 1, b: 2 } })
    expect((await call(door, 'PATCH', path)).json).toMatchObject({ metadata: { a: 1, b: 2 } })
    const minimal = await call(door, 'PATCH', path, { metadata: {} }, { prefer: 'return=minimal' })
    expect([minimal.status, minimal.text]).toEqual([204, ''])
    expect((await call(door, 'POST', `${path}/copy`)).json).toMatchObject({ values: {} })
    expect((await call(door, 'DELETE', path)).status).toBe(204)
    for (const [method, at] of [['GET', path], ['DELETE', path], ['POST', `${path}/copy`]]) {
      expect((await call(door, method!, at!)).status).toBe(404)
    }
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

  it('is read at a checkpoint, named by path or by body', async () => {
    const { door, id } = await doorWithThread()
    const checkpointId = randomUUID()
    await call(door, 'GET', `/threads/${id}/state/${checkpointId}`)
    expect(door.threads.given('state'))
      .toEqual({ checkpointId, checkpointNs: '', subgraphs: false })
    const checkpoint = { thread_id: id, checkpoint_id: checkpointId, checkpoint_ns: 'sub:1',
      checkpoint_map: null }
    await call(door, 'POST', `/threads/${id}/state/checkpoint`, { checkpoint, subgraphs: true })
    expect(door.threads.given('state'))
      .toEqual({ checkpointId, checkpointNs: 'sub:1', subgraphs: true })
  })

  it('is updated as a node, and from a checkpoint', async () => {
    const { door, id } = await doorWithThread()
    const update = (body: object) => call(door, 'POST', `/threads/${id}/state`, body)
    expect((await update({ values: { a: 1 }, as_node: 'n' })).text)
      .toBe('{"checkpoint":{},"checkpoint_id":"c"}')
    expect(door.threads.given('updateState')).toEqual(
      { update: { values: '{"a":1}', command: null, asNode: 'n' }, checkpoint: null },
    )
    await update({ values: null, checkpoint: { checkpoint_id: 'c', checkpoint_map: { a: 'b' } } })
    expect(door.threads.given('updateState')).toMatchObject({ update: { values: 'null' },
      checkpoint: { checkpointId: 'c', checkpointNs: '', checkpointMap: { a: 'b' } } })
    await update({ values: {}, checkpoint_id: 'c', checkpoint: null })
    expect(door.threads.given('updateState')).toMatchObject({ checkpoint: { checkpointId: 'c' } })
  })

  it.each([
    ['b'],
    [{ configurable: { checkpoint_id: 'b', thread_id: 't' } }],
    [{ checkpoint_id: 'b' }],
  ])('has a history before %j', async (before) => {
    const { door, id } = await doorWithThread()
    const answer = await call(door, 'POST', `/threads/${id}/history`, { before, limit: 3,
      metadata: { source: 'loop' }, checkpoint: { checkpoint_ns: 's' } })
    expect(answer.text).toBe('[]')
    expect(door.threads.given('history')).toEqual({ before: 'b', limit: 3, checkpointId: null,
      checkpointNs: 's', metadata: { source: 'loop' } })
  })

  it('has a history by query as well', async () => {
    const { door, id } = await doorWithThread()
    await call(door, 'GET', `/threads/${id}/history?limit=5&before=b`)
    expect(door.threads.given('history')).toMatchObject({ before: 'b', limit: 5, metadata: null })
    await call(door, 'POST', `/threads/${id}/history`)
    expect(door.threads.given('history')).toMatchObject({ before: null, limit: 10 })
  })
})

describe('runs', () => {
  it('are created in the background, and answered with their location', async () => {
    const { door, id } = await doorWithThread()
    const made = await call(door, 'POST', `/threads/${id}/runs`, { assistant_id: 'agent',
      input: { a: 1 } }, { 'x-colour': 'green', 'x-api-key': 'hush' })
    const { run_id } = made.json
    expect(made.json).toMatchObject({ thread_id: id, assistant_id: agentId, status: 'pending',
      multitask_strategy: 'enqueue', kwargs: { input: { a: 1 } } })
    expect(made.headers.get('content-location')).toBe(`/threads/${id}/runs/${String(run_id)}`)
    expect(door.threads.given('startRun'))
      .toMatchObject({ plan: { headers: { 'x-colour': 'green' } } })
    expect(made.text).not.toMatch(/green|hush/)
  })

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

  it('without a thread get a hidden one of the same id', async () => {
    const door = await openDoor()
    const { json, headers } = await call(door, 'POST', '/runs', { assistant_id: 'agent' })
    expect(json.thread_id).toBe(json.run_id)
    expect(headers.get('content-location')).toBe(`/runs/${String(json.run_id)}`)
    expect(door.threads.given('startRun')).toMatchObject({ ifMissing: 'hidden' })
  })

  it('are refused for an unknown thread or assistant', async () => {
    const { door, id } = await doorWithThread()
    const unknown = randomUUID()
    for (const [thread, assistant] of [[unknown, 'agent'], [id, 'nosuch'], [id, unknown]]) {
      const path = `/threads/${thread}/runs`
      expect((await call(door, 'POST', path, { assistant_id: assistant })).status).toBe(404)
    }
  })

  it('are listed, read, cancelled and deleted', async () => {
    const { door, id } = await doorWithThread()
    const path = `/threads/${id}/runs`
    await call(door, 'POST', path, { assistant_id: 'agent' })
    const { row: { runId } } = door.threads.lastRun
    expect((await call(door, 'GET', `${path}?limit=5&status=pending&select=run_id`)).json)
      .toEqual([{ run_id: runId }])
    expect(door.threads.given('listRuns'))
      .toMatchObject({ limit: 5, offset: 0, status: 'pending', texts: [] })
    await call(door, 'GET', path)
    expect(door.threads.given('listRuns'))
      .toMatchObject({ limit: 10, texts: ['metadataJson', 'kwargsJson'] })
    expect((await call(door, 'GET', `${path}/${runId}`)).json).toMatchObject({ run_id: runId })
    const cancel = (query: string) => call(door, 'POST', `${path}/${runId}/cancel${query}`)
    expect((await cancel('?wait=0&action=interrupt')).status).toBe(202)
    expect(door.threads.given('cancelRun')).toEqual({ action: 'interrupt' })
    expect((await cancel('?wait=1&action=rollback')).status).toBe(204)
    expect(door.threads.given('cancelRun')).toEqual({ action: 'rollback' })
    expect((await call(door, 'DELETE', `${path}/${runId}`)).status).toBe(204)
    expect((await call(door, 'GET', `${path}/${runId}`)).status).toBe(404)
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
