/** Validation of requests: every wrong field is named, and unsupported ones are refused. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { cancelRun, createCron, createRun, createStatelessRun, createThread, getAssistantGraph,
  getThreadState, joinRunStream, listRuns, postThreadHistory, searchThreads,
  updateThreadState } from '../../../../src/api/index.ts'
import type { HeddleError } from '../../../../src/errors.ts'
import { readQuery } from '../../../../src/frontdoor/rest/query-string.ts'
import { checkerOf, requireSimple } from '../../../../src/frontdoor/schema/validation.ts'
import { RawJson } from '../../../../src/raw-json.ts'
import { expectAlways } from '../../../support/expect-always.ts'

function faultsOf(check: () => unknown): unknown {
  try {
    check()
  } catch (error) {
    return (error as HeddleError).details.errors
  }
  return []
}

describe('a check', () => {
  it('names every field that is wrong, and how', () => {
    const body = { assistant_id: '', stream_mode: ['values', 'colour'], metadata: 'x',
      config: { recursion_limit: 'x' }, multitask_strategy: 'hope', interrupt_before: 3,
      command: { goto: { input: 1 } }, after_seconds: -1 }
    expect(faultsOf(() => checkerOf(createRun.body)(body))).toEqual([
      { field: 'assistant_id', message: 'must not be empty' },
      { field: 'command.goto.node', message: 'is required' },
      { field: 'config.recursion_limit', message: 'must be an integer' },
      { field: 'metadata', message: 'must be an object' },
      { field: 'stream_mode.1', message: expect.stringMatching(/^must be one of values, /) },
      { field: 'interrupt_before', message: 'must be "*" or an array' },
      { field: 'after_seconds', message: 'must be >= 0' },
      { field: 'multitask_strategy',
        message: 'must be one of reject, enqueue, interrupt, rollback' },
    ])
  })

  it('names what is missing', () => {
    expect(faultsOf(() => checkerOf(createRun.body)({ input: {} })))
      .toEqual([{ field: 'assistant_id', message: 'is required' }])
    expect(faultsOf(() => checkerOf(createThread.body)({ supersteps: [{ updates: [{}] }] })))
      .toEqual([{ field: 'supersteps.0.updates.0.as_node', message: 'is required' }])
  })

  it.each([
    [createRun.body, { assistant_id: 'a', interrupt_after: 'all' }, 'interrupt_after',
      'must be "*" or an array'],
    [createRun.body, { assistant_id: 'a', command: { goto: 3 } }, 'command.goto',
      'must be a string or an object or an array'],
    [createRun.body, { assistant_id: 'a', command: { update: [['a']] } }, 'command.update.0',
      'must not have fewer than 2 items'],
    [createRun.body, { assistant_id: 'a', durability: 3 }, 'durability',
      'must be one of sync, async, exit'],
    [searchThreads.body, { extract: { last: 'messages[-1]' } }, 'extract.last',
      'must begin with values, metadata, config or interrupts, as values.messages[-1] does'],
    [createThread.body, { if_exists: null }, 'if_exists', 'must be one of raise, do_nothing'],
    [getAssistantGraph.query, { xray: 'deep' }, 'xray', 'must be an integer or a boolean'],
    [getAssistantGraph.query, { xray: -1 }, 'xray', 'must be >= 0'],
    [postThreadHistory.body, { before: 3 }, 'before', 'must be a string or an object'],
    [postThreadHistory.body, { before: { configurable: {} } }, 'before.configurable.checkpoint_id',
      'is required'],
  ])('names all types and values that a field may have: %#', (schema, body, field, message) => {
    expect(faultsOf(() => checkerOf(schema)(body))).toEqual([{ field, message }])
  })

  it('names one fault per field, however many elements are wrong', () => {
    const ids = Array.from({ length: 10_000 }, () => 7)
    expect(faultsOf(() => checkerOf(searchThreads.body)({ ids, limit: 0 }))).toHaveLength(2)
  })

  it('does not look for faults in fields that are very long', () => {
    const [ids, names] = [Array.from({ length: 200_000 }, () => 7), { ['n'.repeat(300_000)]: 1 }]
    const message = 'is wrong somewhere, and too long to say where'
    expect(faultsOf(() => checkerOf(searchThreads.body)({ ids, extract: names, limit: 0 })))
      .toEqual([
        { field: 'ids', message },
        { field: 'limit', message: 'must be >= 1' },
        { field: 'extract', message },
      ])
    expect(
      faultsOf(() =>
        checkerOf(createThread.body)({ supersteps: ids.map(() => ({ updates: [] })),
          thread_id: 'x' })
      ),
    ).toEqual([{ field: 'thread_id', message: 'must be a UUID' }, { field: 'supersteps', message }])
  })

  it('bounds how many ids, supersteps and updates there are', () => {
    const id = '00000000-0000-4000-8000-000000000000'
    const ids = (count: number) => ({ ids: Array.from({ length: count }, () => id) })
    const updates = (count: number) => Array.from({ length: count }, () => ({ as_node: 'a' }))
    const steps = (count: number, each: number) => ({
      supersteps: Array.from({ length: count }, () => ({ updates: updates(each) })),
    })
    checkerOf(searchThreads.body)(ids(10_000))
    expect(faultsOf(() => checkerOf(searchThreads.body)(ids(10_001)))).toHaveLength(1)
    checkerOf(createThread.body)(steps(1_000, 1))
    checkerOf(createThread.body)(steps(1, 1_000))
    expect(faultsOf(() => checkerOf(createThread.body)(steps(1_001, 1)))).toHaveLength(1)
    expect(faultsOf(() => checkerOf(createThread.body)(steps(1, 1_001)))).toHaveLength(1)
  })

  it('accepts a filter only if it is cheap to apply to every document', () => {
    const long = { a: Array.from({ length: 5_000 }, (_, n) => n) }
    expect(() => requireSimple('metadata', long)).toThrow('metadata: may be 16384 characters')
    expect(() => requireSimple('values', { a: [long.a.slice(0, 64)] })).toThrow('that these hold')
    for (const filter of [undefined, null, { a: long.a.slice(0, 2_000), b: [[1, 2], { c: 3 }] }]) {
      expect(() => requireSimple('values', filter)).not.toThrow()
    }
  })

  it('accepts a configuration of a thousand keys at most', () => {
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, n]))
    const check = (config: object) =>
      faultsOf(() => checkerOf(createRun.body)({ assistant_id: 'agent', config }))
    expect(check({ configurable: keys(1_000), metadata: keys(1_000) })).toEqual([])
    for (const config of [keys(1_001), { configurable: keys(1_001) }, { metadata: keys(1_001) }]) {
      expect(check(config)).toEqual([{ field: expect.stringMatching(/^config/),
        message: 'must not have more than 1000 properties' }])
    }
  })

  it('looks at no value in an object that has too many keys', () => {
    let looks = 0
    const keys = Object.fromEntries(Array.from({ length: 257 }, (_, n) => [`key${n}`, n]))
    const metadata = new Proxy(keys, { get: (target, name) => {
      looks++
      return Reflect.get(target, name) as unknown
    } })
    for (const schema of [createThread.body, createRun.body]) {
      expect(faultsOf(() => checkerOf(schema)({ assistant_id: 'agent', metadata }))).toEqual([
        { field: 'metadata', message: 'must not have more than 256 properties' },
      ])
    }
    expect(looks).toBe(0)
  })

  it('normalizes UUIDs to lower case', () => {
    const [small, large] = ['0f0e0d0c-0b0a-4987-8654-3210fedcba98',
      '0F0E0D0C-0B0A-4987-8654-3210FEDCBA98']
    expect(checkerOf(createThread.body)({ thread_id: large })).toEqual({ thread_id: small })
    expect(checkerOf(searchThreads.body)({ ids: [large, small] })).toEqual({ ids: [small, small] })
    expect(checkerOf(searchThreads.body)({ ids: null })).toEqual({ ids: null })
  })

  it.each([[[]], ['text'], [7]])('refuses %j as a body', (body) => {
    expect(() => checkerOf(createThread.body)(body)).toThrow('The body must be a JSON object.')
  })

  it('treats a missing body as an empty one, and drops undeclared members', () => {
    expect(checkerOf(createThread.body)(undefined)).toEqual({})
    expect(checkerOf(createThread.body)(null)).toEqual({})
    expect(checkerOf(createThread.body)({ colour: 'green' })).toEqual({})
  })

  it('drops or refuses members at any depth, and keeps free JSON and text', () => {
    const body = { thread_id: '00000000-0000-4000-8000-000000000001',
      metadata: { free: { deep: [{ x: 1 }] } }, supersteps: [{
        updates: [{ as_node: 'a', values: { any: 1 }, command: { resume: { x: 1 } } }],
      }] }
    expect(checkerOf(createThread.body)(body)).toBe(body)
    const strayed = structuredClone(body) as Record<string, unknown> & typeof body
    Object.assign(strayed.supersteps[0]!.updates[0]!.command, { path: '../x' })
    Object.assign(strayed, { tenant: 'other' })
    expect(checkerOf(createThread.body)(strayed)).toEqual(body)
    expect(faultsOf(() => checkerOf(createThread.body, 'refused')(strayed))).toEqual([
      { field: 'tenant', message: 'is not a member of this request' },
      { field: 'supersteps.0.updates.0.command.path', message: 'is not a member of this request' },
    ])
    const raw = new RawJson('{"a":1}')
    expect(
      checkerOf(createThread.body)({ supersteps: [{ updates: [{ as_node: 'a', values: raw }] }] })
        .supersteps![0]!.updates[0]!.values,
    ).toBe(raw)
  })

  it('takes null for every optional field of a run or a state update', () => {
    for (const schema of [createRun.body, createStatelessRun.body, updateThreadState.body]) {
      const nulls = Object.fromEntries(Object.keys(schema.properties).map((name) => [name, null]))
      const places = { checkpoint_id: null, checkpoint_ns: null, checkpoint_map: null }
      for (const checkpoint of [null, places]) {
        const body = { ...nulls, assistant_id: 'a', checkpoint }
        expect(faultsOf(() => checkerOf(schema)(body))).toEqual([])
      }
    }
  })

  it('takes each stream mode, alone or with others', () => {
    const modes = ['values', 'messages', 'messages-tuple', 'updates', 'events', 'tasks',
      'checkpoints', 'debug', 'custom', 'tools']
    for (const stream_mode of [...modes, modes]) {
      expect(faultsOf(() => checkerOf(createRun.body)({ assistant_id: 'a', stream_mode }))).toEqual(
        [],
      )
    }
  })

  it('does not coerce types in a body', () => {
    expect(() => checkerOf(searchThreads.body)({ limit: '10' })).toThrow(
      'limit: must be an integer',
    )
  })

  it('takes one kind of feedback or several, which have a bound', () => {
    const faultsWith = (feedback_keys: unknown) =>
      faultsOf(() => checkerOf(createRun.body)({ assistant_id: 'a', feedback_keys }))
    for (const good of ['a', ['a', 'b'], [], null]) expect(faultsWith(good)).toEqual([])
    for (const bad of ['', 7, ['x'.repeat(181)], Array(101).fill('a')]) {
      expect(faultsWith(bad)).toMatchObject([{ field: expect.stringMatching(/^feedback_keys/) }])
    }
  })

  it('refuses fields that are not offered, unless they are empty', () => {
    const check = checkerOf(createCron.body)
    const body = { assistant_id: 'agent', schedule: '* * * * *' }
    expect(() => check({ ...body, feedback_keys: ['a'] }))
      .toThrow('Not supported: feedback_keys')
    expect(check({ ...body, webhook: null, feedback_keys: [] })).toMatchObject(body)
  })
})

describe('a query string', () => {
  it('is read as its schema asks', () => {
    expect(readQuery(listRuns.query, { limit: '5', offset: '0', select: ['run_id', 'status'] }))
      .toEqual({ limit: 5, offset: 0, select: ['run_id', 'status'] })
    expect(readQuery(listRuns.query, { select: 'run_id,status' }))
      .toEqual({ select: ['run_id', 'status'] })
    expect(readQuery(joinRunStream.query, { stream_mode: 'values', cancel_on_disconnect: '1' }))
      .toEqual({ stream_mode: ['values'], cancel_on_disconnect: true })
    expect(readQuery(joinRunStream.query, { stream_mode: '["values","custom"]' }))
      .toEqual({ stream_mode: ['values', 'custom'] })
    expect(readQuery(joinRunStream.query, { stream_mode: '[values' })).toEqual({
      stream_mode: ['[values'],
    })
    expect(readQuery(cancelRun.query, { wait: '0', action: 'rollback' }))
      .toEqual({ wait: false, action: 'rollback' })
  })

  it('tells a depth from a boolean', () => {
    expect(
      ['1', '2', 'true', 'false'].map((xray) => readQuery(getAssistantGraph.query, { xray }).xray),
    )
      .toEqual([1, 2, true, false])
  })

  it('leaves malformed values for the check to name', () => {
    const query = readQuery(listRuns.query, { limit: '1.5', offset: 'x', status: 'asleep' })
    expect(faultsOf(() => checkerOf(listRuns.query)(query))).toEqual([
      { field: 'limit', message: 'must be an integer' },
      { field: 'offset', message: 'must be an integer' },
      { field: 'status', message: expect.stringContaining('pending, running') },
    ])
  })

  it('has nothing where a value is empty', () => {
    for (const schema of [listRuns.query, joinRunStream.query, cancelRun.query,
      getAssistantGraph.query, getThreadState.query]) {
      for (const empty of ['', [''], ['', '']]) {
        const names = Object.keys(schema.properties).filter((name) => name !== 'namespace')
        const query = Object.fromEntries(names.map((name) => [name, empty]))
        expect(readQuery(schema, query)).toEqual({})
      }
    }
    expect(readQuery(listRuns.query, { select: ['', 'run_id'], unknown: '' }))
      .toEqual({ select: ['run_id'] })
    expect(readQuery(listRuns.query, { constructor: 'x', toString: '' } as never))
      .toEqual({ constructor: 'x' })
  })

  it('has namespaces as they are: the empty one is the root, and names may have commas', () => {
    for (const [given, read] of [['', ['']], ['a:1|b,c', ['a:1|b,c']], [['', 'a'], ['', 'a']]]) {
      expect(readQuery(joinRunStream.query, { namespace: given as string })).toEqual({
        namespace: read,
      })
    }
  })

  it('never makes the check accept something that is no number', () => {
    expectAlways(fc.property(fc.string(), (limit) => {
      const { limit: read } = readQuery(listRuns.query, { limit })
      const faults = faultsOf(() => checkerOf(listRuns.query)({ limit: read })) as unknown[]
      expect(faults.length === 0).toBe(limit === '' || (/^\d+$/.test(limit) &&
        Number(limit) >= 1 && Number(limit) <= 1_000))
    }))
  })
})
