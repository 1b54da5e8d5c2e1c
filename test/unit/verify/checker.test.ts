/** Shows that the checker finds each kind of broken history, and accepts correct ones. */

import { describe, expect, it } from 'vitest'

import { checkHistory, ruleNames } from '../../../verify/checker/check.ts'
import type { Call, Entry } from '../../../verify/history/history.ts'
import { countPairs, PairTable, reportPairs } from '../../../verify/pairs.ts'
import { brokenAgents } from './agent-histories.ts'
import { History } from './made-history.ts'
import { brokenProtocols } from './protocol-histories.ts'
import { brokenReplays } from './replay-histories.ts'

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

const ofAssistant = (fields: Partial<Call> = {}) => (
  { threadId: undefined, assistantId: 'x', ...fields }
)
const version = (token: string, number?: number) => (
  { config: { configurable: { version: token } }, version: number }
)
const createdAssistant = () =>
  new History().call('assistant.create', { threadId: undefined, body: version('v'),
    response: { assistant_id: 'x', ...version('v', 1) } })

const cronBody = { input: { task: { token: 'c' } } }
const ofCron = (fields: Partial<Call> = {}) => (
  { threadId: undefined, path: '/runs/crons/y', ...fields }
)
/** A cron that is created 30 seconds before it is due. */
const createdCron = () =>
  new History().startAt(30_000).call('cron.create',
    ofCron({ path: '/runs/crons', body: cronBody, response: { cron_id: 'y' } }))
const mortal = () =>
  new History().call('mortal.create', { threadId: undefined, body: { ttl: 0.05 },
    response: { thread_id: 'm' } })
const ofMortal = (status: number) => ({ threadId: undefined, path: '/threads/m', status })
const usage = (threads: number) => (
  { threadId: undefined, response: { quotas: [{ name: 'threads', used: threads }] } }
)

/** A request about the document `d`. */
const ofDocument = (fields: Partial<Call> = {}) => (
  { threadId: undefined, documentId: 'd', ...fields }
)
const inQueue = (fields: Partial<Call> = {}) =>
  ofDocument({ path: '/api/v1/annotation-queues/q/runs', ...fields })
const linked = () =>
  new History().call('share.create', ofDocument({ response: { share_token: 'link' } }))
const readLink = (fields: Partial<Call> = {}) =>
  ofDocument({ path: '/api/v1/public/link/run', ...fields })
const ofDeployment = (fields: Partial<Call> = {}) => (
  { threadId: undefined, path: '/control/v1/deployments/verify', ...fields }
)
const activated = (revision: string, fields: Partial<Call> = {}) =>
  ofDeployment({ path: `/revisions/${revision}/activate`, body: { percent: 100 }, ...fields })
const secret = (value: string) => ofDeployment({ body: { value } })
/** A thread of the deployment. */
const deployed = () =>
  new History().call('thread.create', { threadId: undefined, path: '/d/verify/threads',
    response: { thread_id: 't' } })

/** A history for each rule that breaks this rule and no other. */
const broken: Readonly<Record<string, History>> = {
  ...brokenProtocols,
  ...brokenAgents,
  ...brokenReplays,
  'available without faults': created().call('thread.get', { status: undefined }),
  'no 5xx but 503': new History().create().call('thread.get', { status: 500 }),
  'wrong requests are rejected': created().call('wrong.json', { status: 200 }),
  'threads are found': created().search(),
  'counts agree': created().quiet().search('t').call('thread.count', { response: 2 }),
  'items have their last value': new History().call('item.put', item('a'))
    .call('item.get', { threadId: undefined, response: null }),
  'charges keep their key': new History().effect('charge', 'a', 'k').effect('charge', 'a', 'l'),
  'mails are sent once': new History().effect('mail', 'a', 'k').effect('mail', 'a', 'k'),
  'stored results are not computed again': created().run('a', { action: 'draft' })
    .effect('draft', 'a', 'k').state('a:in', 'a:receipt:1').effect('draft', 'a', 'k'),
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
  'state never goes backwards': created().run('a').state('a:in').state(),
  'refusals name the next try': created().call('run.create', { status: 429,
    body: { input: { task: { token: 'a', action: 'plain' } } } }),
  'assistants have their latest version': createdAssistant()
    .call('assistant.update', ofAssistant({ body: version('w'), response: version('w', 2) }))
    .call('assistant.get', ofAssistant({ response: version('v', 1) })),
  'versions are listed': createdAssistant()
    .call('assistant.versions', ofAssistant({ response: [] })),
  'deleted assistants stay deleted': createdAssistant()
    .call('assistant.delete', ofAssistant({ status: 204 })).call('assistant.run', ofAssistant()),
  'runs have the latest version': createdAssistant().create()
    .run('a', { body: { assistant_id: 'x', input: { task: { token: 'a', action: 'plain' } } } })
    .state('a:in', 'a:by:w'),
  'crons fire once at a time': createdCron().tick('c', 'a', 60_100).tick('c', 'b', 60_200),
  'stopped crons do not fire': createdCron().call('cron.delete', ofCron({ status: 204 }))
    .tick('c', 'a', 60_100),
  'crons fire when they are due': createdCron().wait(40_000).quiet(),
  'crons are found until they are deleted': createdCron()
    .call('cron.get', ofCron({ status: 404 })),
  'threads live for their time': mortal().wait(2_000).call('mortal.get', ofMortal(404)),
  'examples have their last value': new History()
    .call('example.create', ofDocument({ body: { inputs: { token: 'a' } } }))
    .call('example.get', ofDocument({ status: 404 })),
  'prompts have their last commit': new History()
    .call('prompt.commit', ofDocument({ body: { manifest: { token: 'a' } } }))
    .call('prompt.pull', ofDocument({ response: { manifest: { token: 'b' } } })),
  'queues have their items': new History().call('queue.add', inQueue())
    .call('queue.list', inQueue({ response: [] })),
  'links are valid until they are deleted': linked().call('share.delete', ofDocument())
    .call('share.read', readLink({ response: { id: 'd' } })),
  'links show their span': linked().call('share.read', readLink({ response: { id: 'e' } })),
  'secrets are hidden': new History().call('deploy.secret', secret('hidden-value'))
    .call('deploy.logs', ofDeployment({ response: { lines: ['hidden-value'] } })),
  'pauses hold back runs': deployed().call('deploy.pause', ofDeployment())
    .run('a', { path: '/d/verify/threads/t/runs' }),
  'runs have the active revision': deployed().call('deploy.activate', activated('r2'))
    .run('a').state('a:in', 'a:revision:r1'),
  'runs have the last secret': deployed().call('deploy.secret', secret('one'))
    .call('deploy.secret', secret('two')).run('a').state('a:in', 'a:secret:one'),
  'runs keep their revision': deployed().run('a').state('a:in', 'a:revision:r1', 'a:out',
    'a:end:r2'),
  'another tenant sees nothing': created().call('foreign.read', { tenant: 'foreign' }),
  'storage is released': new History().call('usage.get', usage(1)).call('usage.get', usage(2)),
  'deleted things are not found at the end': new History()
    .call('final.search', { threadId: undefined, response: [{}] }),
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
    ['a span of a project whose spans were deleted', 'deleted spans stay deleted',
      posted().call('span.purge', { threadId: undefined, projectId: 'p', response: { id: 'b' } })
        .call('purge.get', { threadId: undefined, path: '/api/v1/bulk-deletions/b',
          response: { status: 'Completed' } }).call('span.get', ofSpan())],
    ['an example in a list after its deletion', 'examples have their last value',
      new History().call('example.create', ofDocument({ body: { inputs: { token: 'a' } } }))
        .call('example.delete', ofDocument())
        .call('example.list', ofDocument({ response: [{ id: 'd', inputs: { token: 'a' } }] }))],
    ['a trace of a deleted run', 'runs have traces', created().run('a').view('a', 'success')
      .call('run.delete', { path: '/threads/t/runs/a', status: 204 }).view('a', 'gone').quiet()
      .call('trace.get', { path: '/runs/a' })],
    ['entries of its source in a copy, after the copy', 'explained by a request',
      created().call('thread.copy', { response: { thread_id: 'copy' } }).run('a')
        .call('thread.state', { threadId: 'copy', response: { values: { log: ['a:in'] } } })],
    ['a copy that was deleted with its source', 'threads exist',
      created().call('thread.copy', { response: { thread_id: 'copy' } })
        .call('thread.delete', { status: 204 })
        .call('thread.state', { threadId: 'copy', status: 404 })],
    ['an effect of a run that a limit refused', 'explained by a request',
      created().run('a', { status: 429, retryAfter: '1', runId: undefined }).state('a:in')],
    ['a thread after its time to live', 'threads live for their time',
      mortal().wait(5_000).call('mortal.get', ofMortal(200))],
    ['an assistant that is gone', 'deleted assistants stay deleted',
      createdAssistant().call('assistant.get', ofAssistant({ status: 404 }))],
    ['a cron that was deleted', 'crons are found until they are deleted',
      createdCron().call('cron.delete', ofCron({ status: 204 })).call('cron.get', ofCron())],
    ['a run of a paused cron', 'stopped crons do not fire',
      createdCron().call('cron.update', ofCron({ body: { enabled: false } }))
        .tick('c', 'a', 60_100)],
    ['a run that is refused although the deployment is not paused', 'pauses hold back runs',
      deployed().run('a', { path: '/d/verify/threads/t/runs', status: 409,
        response: { message: 'It is paused.' } })],
    ['a thread of another tenant in a search', 'another tenant sees nothing',
      created().call('foreign.search', { tenant: 'foreign', threadId: undefined, response: [{}] })],
  ])('finds %s', (_what, rule, { entries }) => {
    expect(checkHistory(entries).map((violation) => violation.rule)).toEqual([rule])
  })

  it.each(ruleNames)('finds a history that breaks the rule "%s"', (rule) => {
    const rules = checkHistory(broken[rule]!.entries).map((violation) => violation.rule)
    expect(new Set(rules)).toEqual(new Set([rule, ...accompanied[rule] ?? []]))
  })

  it.each([['thread.delete', '/threads/t'], ['run.delete', '/threads/t/runs/a']])(
    'accepts that a run has no trace after %s had no response',
    (operation, path) => {
      const { entries } = created().run('a').view('a', 'success')
        .call(operation, { status: undefined, path }).quiet()
        .call('trace.get', { path: '/runs/a', status: 404 })
      const rules = checkHistory(entries).map((violation) => violation.rule)
      expect(rules).toEqual(['available without faults'])
    },
  )

  it('accepts either revision of runs that overlap an activation, and both shares', () => {
    const moves = () => deployed().call('deploy.activate', activated('r1'))
    expect(checkHistory(
      moves().run('a').call('deploy.activate', activated('r2', { status: undefined }))
        .state('a:in', 'a:revision:r2').entries,
    ).map(({ rule }) => rule)).toEqual(['available without faults'])
    expect(checkHistory(
      moves().call('deploy.activate', activated('r2', { body: { percent: 50 } }))
        .run('a').state('a:in', 'a:revision:r1').entries,
    )).toEqual([])
  })

  it('accepts a span that arrives during a deletion of all spans of its project', () => {
    const { entries } = new History()
      .call('span.purge', { threadId: undefined, projectId: 'p', response: { id: 'b' } })
      .call('span.post', ofSpan({ body: { post: [{ inputs: { token: 'a' } }] } }))
      .call('span.get', ofSpan({ response: { inputs: { token: 'a' } } }))
    expect(checkHistory(entries)).toEqual([])
  })

  it('accepts a span that is patched during a deletion of all spans of its project', () => {
    const { entries } = posted()
      .call('span.purge', { threadId: undefined, projectId: 'p', response: { id: 'b' } })
      .call('span.patch', ofSpan({ body: { patch: [{ outputs: { token: 'b' } }] } }))
      .call('purge.get', { threadId: undefined, path: '/b', response: { status: 'Completed' } })
      .call('span.get', ofSpan({ response: { inputs: { token: 'a' }, outputs: { token: 'b' } } }))
    expect(checkHistory(entries)).toEqual([])
  })

  it('accepts runs of another deployment than the one that is paused', () => {
    const { entries } = deployed().call('deploy.pause', ofDeployment())
      .run('a', { path: '/d/guarded/threads/t/runs' })
    expect(checkHistory(entries)).toEqual([])
  })

  it('accepts runs during a pause that ends meanwhile', () => {
    const { entries } = deployed().call('deploy.pause', ofDeployment())
      .call('deploy.resume', ofDeployment()).run('a', { path: '/d/verify/threads/t/runs' })
    expect(checkHistory(entries)).toEqual([])
  })

  it('accepts crons, assistants, other tenants and a time to live that are correct', () => {
    const { entries } = createdCron().wait(40_000).tick('c', 'a', 60_100)
      .call('cron.delete', ofCron({ status: 204 })).call('cron.get', ofCron({ status: 404 }))
      .call('assistant.create', { threadId: undefined, body: version('v'),
        response: { assistant_id: 'x', ...version('v', 1) } })
      .call('assistant.update', ofAssistant({ body: version('w'), response: version('w', 2) }))
      .call('assistant.latest', ofAssistant({ body: { version: 1 } }))
      .call('assistant.get', ofAssistant({ response: version('v', 1) }))
      .call('mortal.create', { threadId: undefined, body: { ttl: 0.05 },
        response: { thread_id: 'm' } })
      .call('mortal.get', ofMortal(200)).wait(5_000).call('mortal.get', ofMortal(404))
      .create()
      .run('a', { body: { assistant_id: 'x', input: { task: { token: 'a', action: 'plain' } } } })
      .state('a:in', 'a:by:v')
      .call('foreign.read', { tenant: 'foreign', status: 404 })
      .call('foreign.count', { tenant: 'foreign', threadId: undefined, response: 0 })
      .call('usage.get', usage(1)).call('usage.get', usage(1)).quiet()
    expect(checkHistory(entries)).toEqual([])
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

  it('draws an operation more often if it makes a rare pair with the operation before', () => {
    const pairs = new PairTable()
    for (let times = 0; times < 4; times++) {
      pairs.note({ operation: 'run.get', threadId: 't' })
      pairs.note({ operation: 'thread.get', threadId: 't' })
    }
    expect(pairs.weigh('t', 'run.get')).toBe(1)
    expect(pairs.weigh('t', 'thread.copy')).toBe(4)
    expect(pairs.weigh('u', 'thread.copy')).toBe(1)
  })

  it('reports the pairs of operations on threads that did not meet', () => {
    const { entries } = created().run('a').state().call('wrong.json', { status: 400 })
    expect(reportPairs(countPairs(entries))).toEqual({ seen: 2, unseen: [
      'run.create + run.create',
      'run.create + wrong',
      'thread.state + thread.state',
      'wrong + wrong',
    ] })
  })

  it('counts pairs of operations that follow each other on one thread', () => {
    const { entries } = created().run('a').state().run('b')
    expect([...countPairs(entries)]).toEqual([['run.create + thread.state', 2]])
  })
})
