/** Shows that the checker finds each kind of broken history, and accepts correct ones. */

import { describe, expect, it } from 'vitest'

import { checkHistory, ruleNames } from '../../../verify/checker/check.ts'
import type { Call, Entry } from '../../../verify/history/history.ts'
import { countPairs } from '../../../verify/pairs.ts'

/** A history on thread `t`: each call lasts one millisecond and starts after the one before. */
class History {
  readonly entries: Entry[] = []
  #nowMs = 0

  call(operation: string, fields: Partial<Call> = {}): this {
    this.entries.push({ type: 'call', operation, client: 0, threadId: 't', method: 'GET', path: '/',
      status: 200, startMs: this.#nowMs, endMs: this.#nowMs + 1, ...fields })
    this.#nowMs += 2
    return this
  }

  create(id = 't'): this {
    return this.call('thread.create', { threadId: undefined, response: { thread_id: id } })
  }

  run(token: string, { action = 'plain', runId = token, ...fields }: {
    readonly action?: string
    readonly strategy?: string
  } & Partial<Call> = {}): this {
    const body = { input: { task: { token, action } }, multitask_strategy: fields.strategy }
    return this.call('run.create', { body, runId, ...fields })
  }

  resume(token: string, question: string): this {
    return this.call('run.resume', { runId: token,
      body: { command: { resume: { i: token } }, metadata: { question } } })
  }

  view(runId: string, status: string): this {
    const path = `/threads/t/runs/${runId}`
    return status === 'gone'
      ? this.call('run.get', { path, status: 404 })
      : this.call('run.get', { path, response: { status } })
  }

  state(...log: string[]): this {
    return this.call('thread.state', { response: { values: { log } } })
  }

  quiet(): this {
    this.entries.push({ type: 'quiet', atMs: this.#nowMs })
    return this
  }

  effect(name: 'charge' | 'mail', token: string, key: string): this {
    this.entries.push({ type: 'effect', name, token, key, atMs: this.#nowMs })
    return this
  }

  webhook(runId: string, status: string): this {
    this.entries.push({ type: 'webhook', runId, status, atMs: this.#nowMs })
    return this
  }

  search(...ids: string[]): this {
    return this.call('thread.search', { threadId: undefined, body: { sort_by: 'thread_id' },
      response: ids.map((id) => ({ thread_id: id })) })
  }
}

const created = () => new History().create()
const succeeded = () => created().run('a').view('a', 'success')
const notified = () =>
  created().run('a', { body: { input: { task: { token: 'a', action: 'plain' } }, webhook: 'url' } })
    .view('a', 'success')
const item = (token: string) => ({ threadId: undefined, body: { value: { token } } })

/** A request about span `s` in project `p`. */
const ofSpan = (fields: Partial<Call> = {}) => (
  { threadId: undefined, spanId: 's', projectId: 'p', ...fields }
)
const posted = () =>
  new History().call('span.post', ofSpan({ body: { post: [{ inputs: { token: 'a' } }] } }))
const deletedSpan = () => posted().call('span.delete', ofSpan())

/** A history for each rule that breaks this rule and no other. */
const broken: Readonly<Record<string, History>> = {
  'available without faults': created().call('thread.get', { status: undefined }),
  'no 5xx but 503': new History().create().call('thread.get', { status: 500 }),
  'wrong requests are rejected': created().call('wrong.json', { status: 200 }),
  'threads are found': created().search(),
  'counts agree': created().quiet().search('t').call('thread.count', { response: 2 }),
  'items have their last value': new History().call('item.put', item('a'))
    .call('item.get', { threadId: undefined, response: null }),
  'charges keep their key': new History().effect('charge', 'a', 'k').effect('charge', 'a', 'l'),
  'mails are sent once': new History().effect('mail', 'a', 'k').effect('mail', 'a', 'k'),
  'in the log once': created().run('a').state('a:in', 'a:in'),
  'explained by a request': created().state('a:in'),
  'kept': succeeded().state('a:in'),
  'rollback leaves nothing': created().run('a').run('b', { strategy: 'rollback' })
    .view('a', 'gone').state('a:in'),
  'in order': created().run('a').run('b').state('b:in', 'a:in'),
  'answers its question': created().run('a', { action: 'ask' }).run('b', { action: 'ask' })
    .resume('c', 'a').state('a:in', 'b:in', 'b:answer:c'),
  'answered interrupts are closed': created().run('a', { action: 'ask' }).resume('b', 'a')
    .state('a:in', 'a:answer:b')
    .call('thread.get', {
      response: { metadata: {}, interrupts: { task: [{ value: { token: 'a' } }] },
        values: { log: ['a:in', 'a:answer:b'] } },
    }),
  'status is final': succeeded().view('a', 'error'),
  'runs are known': created().run('a').view('a', 'gone'),
  'runs end': created().run('a').quiet()
    .call('run.list', { path: '/runs?limit=9', response: [{ run_id: 'a', status: 'running' }] }),
  'stateless runs start empty': new History().call('stateless.wait', { threadId: undefined,
    body: { input: { task: { token: 'a', action: 'plain' } } },
    response: { log: ['b:in', 'a:in'] } }),
  'spans are kept': posted().call('span.get', ofSpan({ response: { inputs: { token: 'b' } } })),
  'deleted spans stay deleted': deletedSpan().call('span.get', ofSpan()),
  'queries list spans': posted().call('span.query', { threadId: undefined, projectId: 'p',
    body: { limit: 9 }, response: { runs: [] } }),
  'feedback belongs to its span': posted()
    .call('feedback.create', ofSpan({ body: { id: 'f' } }))
    .call('feedback.list', ofSpan({ response: [] })),
  'runs have traces': created().run('a').view('a', 'success').quiet()
    .call('trace.get', { path: '/runs/a', status: 404 }),
  'runs are accepted': created().run('a', { status: 422, strategy: 'enqueue' }),
  'webhooks are delivered': notified().quiet(),
  'webhooks have the status': notified().webhook('a', 'error').quiet(),
  'idempotency keys name one run': created().run('a').run('a', { runId: 'b' }),
  'streams have each event once': created().call('run.follow', {
    response: { ids: ['1', '2', '3'] },
  })
    .call('run.follow', { headers: { 'last-event-id': '1' }, response: { ids: ['3'] } }),
  'metadata have their last value': created().call('thread.patch', {
    body: { metadata: { 'client-0': 'a' } },
  }).call('thread.get', { response: { metadata: {} } }),
  'threads exist': created().call('thread.state', { status: 404 }),
  'deleted stays deleted': created().call('thread.delete', { status: 204 })
    .call('thread.state', { response: { values: {} } }),
  'wait and state agree': created().call('run.wait', {
    body: { input: { task: { token: 'a', action: 'plain' } } },
    runId: 'a',
    response: { log: [] },
  }).view('a', 'success'),
}

/** Rules that such a history breaks as well. */
const accompanied: Readonly<Record<string, readonly string[]>> = {
  'no 5xx but 503': ['available without faults'],
}

const deletedProject = () =>
  posted().call('project.delete', { threadId: undefined, projectId: 'p' })

describe('The checker of histories', () => {
  it.each<[string, string, History]>([
    ['a span of a deleted project', 'deleted spans stay deleted',
      deletedProject().call('span.get', ofSpan())],
    ['a deleted span in a query', 'queries list spans',
      deletedSpan().call('span.query', { threadId: undefined, projectId: 'p', body: { limit: 9 },
        response: { runs: [{ id: 's' }] } })],
    ['feedback on a deleted span', 'feedback belongs to its span',
      deletedSpan().call('feedback.list', ofSpan({ response: [{ id: 'f' }] }))],
    ['a trace of a deleted run', 'runs have traces', created().run('a').view('a', 'success')
      .call('run.delete', { path: '/threads/t/runs/a', status: 204 }).view('a', 'gone').quiet()
      .call('trace.get', { path: '/runs/a' })],
  ])('finds %s', (_what, rule, { entries }) => {
    expect(checkHistory(entries).map((violation) => violation.rule)).toEqual([rule])
  })

  it.each(ruleNames)('finds a history that breaks the rule "%s"', (rule) => {
    const rules = checkHistory(broken[rule]!.entries).map((violation) => violation.rule)
    expect(new Set(rules)).toEqual(new Set([rule, ...accompanied[rule] ?? []]))
  })

  it('accepts that a thread whose deletion had no response has no traces', () => {
    const { entries } = created().run('a').view('a', 'success')
      .call('thread.delete', { status: undefined }).quiet()
      .call('trace.get', { path: '/runs/a', status: 404 })
    const rules = checkHistory(entries).map((violation) => violation.rule)
    expect(rules).toEqual(['available without faults'])
  })

  it('accepts a correct history with a copy, an answer, a rollback and a deletion', () => {
    const { entries } = succeeded().state('a:in', 'a:out')
      .call('thread.copy', { response: { thread_id: 'copy' } })
      .call('thread.state', { threadId: 'copy', response: { values: { log: ['a:in', 'a:out'] } } })
      .run('b', { action: 'ask' }).view('b', 'success').state('a:in', 'a:out', 'b:in')
      .resume('c', 'b').view('c', 'success')
      .state('a:in', 'a:out', 'b:in', 'b:answer:c', 'b:out')
      .run('d').run('e', { strategy: 'rollback' }).view('d', 'gone').view('e', 'success')
      .state('a:in', 'a:out', 'b:in', 'b:answer:c', 'b:out', 'e:in', 'e:out')
      .call('thread.delete', { status: 204 }).call('thread.state', { status: 404 })
      .quiet().search('copy').call('thread.count', { threadId: undefined, response: 1 })
    expect(checkHistory(entries)).toEqual([])
  })

  it('accepts either result of a request whose connection broke during a fault', () => {
    const fault: Entry = { type: 'fault', name: 'kill', startMs: 0, endMs: 100 }
    const lost = () => created().run('a', { status: undefined, runId: undefined })
    expect(checkHistory([fault, ...lost().state().entries])).toEqual([])
    expect(checkHistory([fault, ...lost().state('a:in', 'a:out').entries])).toEqual([])
    expect(checkHistory([fault, ...lost().state('a:in', 'a:in').entries])).toHaveLength(1)
  })

  it('counts pairs of operations that follow each other on one thread', () => {
    const { entries } = created().run('a').state().run('b')
    expect([...countPairs(entries)]).toEqual([['run.create + thread.state', 2]])
  })
})
