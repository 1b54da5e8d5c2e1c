/**
 * Who may call what: every operation that the server describes, over every protocol, called by
 * everyone who must not be answered, with ids that belong to another tenant.
 */

import { randomUUID } from 'node:crypto'
import { Code, ConnectError, createClient } from '@connectrpc/connect'
import type { Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport,
  createGrpcWebTransport } from '@connectrpc/connect-node'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AssistantService } from '../../proto/gen/frontdoor/v1/assistant_pb.js'
import { CronService } from '../../proto/gen/frontdoor/v1/cron_pb.js'
import { RunService } from '../../proto/gen/frontdoor/v1/run_pb.js'
import { StoreService } from '../../proto/gen/frontdoor/v1/store_pb.js'
import { ThreadService } from '../../proto/gen/frontdoor/v1/thread_pb.js'
import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { dialThread } from '../support/dialled-thread.ts'
import { openKeyMaker } from '../support/keys.ts'
import type { KeyMaker } from '../support/keys.ts'
import { isNight } from '../support/repeats.ts'
import { say } from '../support/run-events.ts'
import { startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'
import { bareToken, expiredToken, forgedToken, issuer, keySetFile,
  token } from '../support/sessions.ts'
import { ask } from '../support/wire.ts'
import type { JsonAnswer } from '../support/wire.ts'
import { callCases, mark, routeCases, theItem } from './access-cases.ts'
import type { Belongings, Case } from './access-cases.ts'

type Headers = Readonly<Record<string, string>>

const cassandra = process.env['HEDDLE_TEST_STORE'] === 'cassandra'
  ? await cassandraForTests()
  : undefined
const keyspace = cassandra && newKeyspace(cassandra)
const euUrl = 'https://eu.heddle.example'

let server: ServerProcess
let maker: KeyMaker
/** The key of the first tenant. */
let key: string
let theirs: Belongings
/** Callers that are always refused, and the status of the refusal. */
let outsiders: readonly (readonly [name: string, headers: Headers, status: 401 | 403])[]
/** Valid credentials of another tenant. */
let others: readonly (readonly [name: string, headers: Headers])[]
let reader: Headers

beforeAll(async () => {
  server = await startServer({
    project: 'echo',
    cassandra: keyspace,
    args: ['--auth', 'keys', '--region-url', `eu=${euUrl}`, '--jwt-issuer', issuer, '--jwt-keys',
      keySetFile()],
  })
  maker = await openKeyMaker({ dataDir: server.dataDir, cassandra: keyspace })
  key = await maker.make('acme')
  reader = { 'x-api-key': await maker.make('acme', 'reader') }
  const [revoked, expired, other, admin] = await Promise.all([maker.makeRevoked('acme'),
    maker.makeExpired('acme'), maker.make('other'), maker.make('other', 'admin')])
  const withToken = (text: string) => ({ authorization: `Bearer ${text}` })
  outsiders = [
    ['nobody', {}, 401],
    ['a caller that only names a user', { 'x-user-id': 'ann', 'x-tenant-id': 'acme' }, 401],
    ['a revoked key', { 'x-api-key': revoked }, 401],
    ['a revoked key as a bearer token', withToken(revoked), 401],
    ['an expired key', { 'x-api-key': expired }, 401],
    ['a forged key', { 'x-api-key': `${key.slice(0, -4)}AAAA` }, 401],
    ['a key that nobody has', { 'x-api-key': key.replace(/_[0-9a-f]{16}_/, '_0123456789abcdef_') },
      401],
    ['something that is no key', { 'x-api-key': 'lsv2_pt_0123' }, 401],
    ['a session that is over', withToken(expiredToken()), 401],
    ['a forged session', withToken(forgedToken()), 401],
    ['a session that nobody signed', withToken(bareToken()), 401],
    ['a session of somebody else', { ...withToken(token()), 'x-user-id': 'bob' }, 401],
    ['a key of another region', { 'x-api-key': key.replace('hdl_us', 'hdl_eu') }, 403],
  ]
  others = [
    ['a key', { 'x-api-key': other }],
    ['the key of an administrator', { 'x-api-key': admin }],
    ['a session', withToken(token({ claims: { tenant: 'other' } }))],
    ['its own key beside a session of the first', { 'x-api-key': other, ...withToken(token()) }],
  ]
  theirs = await makeBelongings(key)
})

afterAll(async () => {
  await maker?.close()
  await server?.close()
  if (keyspace !== undefined) await dropKeyspace(keyspace)
})

async function makeBelongings(ownKey: string): Promise<Belongings> {
  const { assistants, crons, threads, runs, store } = clientOf(server.url, { 'x-api-key': ownKey })
  await store.putItem(theItem.namespace, theItem.key, { mark })
  await store.putItem([mark], 'k', {})
  const { assistant_id: assistantId } = await assistants.create(
    { graphId: 'echo', name: mark, metadata: { mark } },
  )
  const { thread_id: threadId } = await threads.create({ metadata: { mark } })
  await runs.wait(threadId, assistantId, { input: say(mark) })
  const [run] = await runs.list(threadId)
  const { checkpoint } = await threads.getState(threadId)
  const { body } = await ask(server.url, 'POST', '/runs', { assistant_id: 'echo', input: say(mark),
    stream_resumable: true, on_completion: 'keep' }, { 'x-api-key': ownKey })
  const lonely = body as { run_id: string }
  await runs.join(lonely.run_id, lonely.run_id)
  const cron = await crons.createForThread(threadId, assistantId, { schedule: '0 0 1 1 *',
    metadata: { mark } })
  const { cron_id: cronId } = cron as unknown as { cron_id: string }
  return { threadId, assistantId, runId: run!.run_id, checkpointId: checkpoint.checkpoint_id!,
    lonelyRunId: lonely.run_id, cronId, keyId: key.split('_')[2]! }
}

/** Everything that the first tenant sees of its own. */
async function inventory(): Promise<unknown> {
  const { assistants, crons, threads, runs, store } = clientOf(server.url, { 'x-api-key': key })
  const { threadId, assistantId } = theirs
  return {
    assistants: await assistants.search({ metadata: { mark } }),
    versions: await assistants.getVersions(assistantId),
    thread: await threads.get(threadId),
    history: await threads.getHistory(threadId),
    runs: await runs.list(threadId),
    count: await threads.count({ metadata: { mark } }),
    items: await store.searchItems([]),
    crons: await crons.search({ metadata: { mark } }),
  }
}

function askRoute(operation: string, headers: Headers): Promise<JsonAnswer> {
  const [method, path] = operation.split(' ') as [string, string]
  const ids: Record<string, string> = {
    thread_id: theirs.threadId,
    assistant_id: theirs.assistantId,
    namespace: 'inner',
    checkpoint_id: theirs.checkpointId,
    cron_id: theirs.cronId,
    key_id: theirs.keyId,
    run_id: path.startsWith('/runs/') ? theirs.lonelyRunId : theirs.runId,
    no: '0',
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name]!)
  const { body, query = '', headers: more } = routeCases[operation]!
  return ask(server.url, method, filled + query, body?.(theirs), { ...more, ...headers })
}

const services = [AssistantService, ThreadService, RunService, StoreService, CronService]

const transports: Readonly<Record<string, () => Transport>> = {
  'Connect': () => createConnectTransport({ baseUrl: server.url, httpVersion: '1.1' }),
  'gRPC-Web': () => createGrpcWebTransport({ baseUrl: server.url, httpVersion: '1.1' }),
  'gRPC': () => createGrpcTransport({ baseUrl: server.url }),
}

type Calls = Readonly<Record<string, (request: object, options: { headers: Headers }) => unknown>>

/** The answers, or the error code. */
async function callRpc(ended: Transport, name: string,
  headers: Headers): Promise<{ code?: Code; answers: unknown[] }> {
  const [serviceName, method] = name.split('.') as [string, string]
  const service = services.find(({ typeName }) => typeName.endsWith(`.${serviceName}`))!
  const client = createClient(service as typeof RunService, ended) as unknown as Calls
  const answers: unknown[] = []
  try {
    const called = client[method]!(callCases[name]!.body?.(theirs) ?? {}, { headers })
    if (called instanceof Promise) answers.push(await called)
    else {
      for await (const each of called as AsyncIterable<unknown>) {
        answers.push(each)
        if (callCases[name]!.isEndless) break
      }
    }
    return { answers }
  } catch (caught) {
    return { code: ConnectError.from(caught).code, answers }
  }
}

function textOf(answers: unknown): string {
  return JSON.stringify(answers, (_, value: unknown) =>
    typeof value === 'bigint'
      ? `${value}`
      : value instanceof Uint8Array
      ? new TextDecoder().decode(value)
      : value) ?? ''
}

const casesThat = (cases: Readonly<Record<string, Case>>, fit: (one: Case) => boolean) =>
  Object.entries(cases).filter(([, one]) => fit(one)).map(([name]) => name)

const guardedRoutes = casesThat(routeCases, ({ does }) => does !== 'public')
const rpcNames = Object.keys(callCases)

/**
 * Those of the operations that an outsider asks for: by day the first one asks for all, and the
 * others share all of them among themselves; by night each asks for all.
 */
const walkedBy = (outsider: number, names: readonly string[]) =>
  isNight || outsider === 0
    ? names
    : names.filter((_, at) => at % (outsiders.length - 1) === outsider - 1)

/** The outcomes of all, compared at once so that a failure names each operation that fails. */
async function outcomes<Outcome>(names: readonly string[],
  outcomeOf: (name: string) => Promise<Outcome>): Promise<Record<string, Outcome>> {
  const entries = await Promise.all(
    names.map(async (name) => [name, await outcomeOf(name)] as const),
  )
  return Object.fromEntries(entries)
}

const allAre = <Outcome>(names: readonly string[], outcome: Outcome) =>
  Object.fromEntries(names.map((name) => [name, outcome]))

/** Good answers of routes, but of those that have nothing to answer with. */
const foundAll = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, routeCases[name]!.isAbsent ? 404 : 200]))

describe.skipIf(process.env['HEDDLE_TEST_URL'] !== undefined)('access', () => {
  it('is tested for every route that the server describes, and for no other', async () => {
    const { body } = await ask(server.url, 'GET', '/openapi.json')
    const { paths } = body as { paths: Record<string, Record<string, unknown>> }
    // Those of deployments are walked in test/unit/frontdoor/control/access.test.ts, and those of
    // the platform in platform/isolation.test.ts.
    const described = Object.entries(paths).filter(([path]) => !/^\/(control|api)\//.test(path))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
      )
    expect(described.toSorted()).toEqual(Object.keys(routeCases).toSorted())
  })

  it('is tested for every call of every service', () => {
    const described = services.flatMap(({ typeName, methods }) =>
      methods.map(({ localName }) => `${typeName.split('.').at(-1)!}.${localName}`)
    )
    expect(described.toSorted()).toEqual(rpcNames.toSorted())
  })

  it('needs no credentials for public routes', async () => {
    const open = casesThat(routeCases, ({ does }) => does === 'public')
    for (const [, headers] of outsiders) {
      expect(await outcomes(open, async (name) => (await askRoute(name, headers)).status))
        .toEqual(foundAll(open))
    }
  })

  it('is refused to invalid credentials on every route, and nothing changes', async () => {
    const before = await inventory()
    for (const [at, [name, headers, status]] of outsiders.entries()) {
      const walked = walkedBy(at, guardedRoutes)
      const seen = await outcomes(walked, async (route) => {
        const answer = await askRoute(route, headers)
        const { detail } = answer.body as { detail?: unknown }
        expect(textOf(answer.body)).not.toContain(mark)
        return [answer.status, typeof detail, answer.headers.has('www-authenticate')]
      })
      expect([name, seen])
        .toEqual([name, allAre(walked, [status, 'string', status === 401])])
    }
    expect(await inventory()).toEqual(before)
  })

  it('with a key of another region is refused with the URL of that region', async () => {
    const [, headers] = outsiders.at(-1)!
    expect((await askRoute('GET /threads/{thread_id}', headers)).body)
      .toMatchObject({ url: euUrl, code: 'forbidden' })
  })

  it.each(Object.keys(transports))('is refused to invalid credentials over %s', async (wire) => {
    const ended = transports[wire]!()
    for (const [at, [name, headers, status]] of outsiders.entries()) {
      const code = status === 401 ? Code.Unauthenticated : Code.PermissionDenied
      const walked = walkedBy(at, rpcNames)
      expect([name, await outcomes(walked, (call) => callRpc(ended, call, headers))])
        .toEqual([name, allAre(walked, { code, answers: [] })])
    }
  })

  it('shows nothing of another tenant on any route', async () => {
    const before = await inventory()
    for (const [name, headers] of others) {
      const hidden = casesThat(routeCases, ({ sees }) => sees === 'nothing')
      const seen = await outcomes(hidden, async (route) => {
        const answer = await askRoute(route, headers)
        expect(textOf(answer.body)).not.toContain(mark)
        return answer.status
      })
      expect([name, seen]).toEqual([name, allAre(hidden, 404)])
      for (const route of casesThat(routeCases, ({ sees }) => sees === 'zero')) {
        expect([name, route, (await askRoute(route, headers)).body]).toEqual([name, route, 0])
      }
      for (const route of casesThat(routeCases, ({ sees }) => sees === 'own')) {
        const { status, body } = await askRoute(route, headers)
        expect([name, route, status]).toEqual([name, route, expect.toBeOneOf([200, 204])])
        for (const secret of [mark, theirs.threadId, theirs.assistantId]) {
          expect(textOf(body)).not.toContain(secret)
        }
      }
    }
    expect(await inventory()).toEqual(before)
  })

  it.each(Object.keys(transports))('shows nothing of another tenant in any call over %s',
    async (wire) => {
      const ended = transports[wire]!()
      const before = await inventory()
      // By day, one wire is used by all of them, and each wire by the first and the last.
      const callers = isNight || wire === 'Connect' ? others : [others[0]!, others.at(-1)!]
      for (const [name, headers] of callers) {
        const hidden = casesThat(callCases, ({ sees }) => sees === 'nothing')
        expect([name, await outcomes(hidden, (call) => callRpc(ended, call, headers))])
          .toEqual([name, allAre(hidden, { code: Code.NotFound, answers: [] })])
        for (const call of casesThat(callCases, ({ sees }) => sees !== 'nothing')) {
          const { code, answers } = await callRpc(ended, call, headers)
          expect([name, call, code]).toEqual([name, call, undefined])
          if (callCases[call]!.sees === 'zero') expect(answers).toMatchObject([{ count: 0n }])
          for (const secret of [mark, theirs.threadId, theirs.assistantId]) {
            expect(textOf(answers)).not.toContain(secret)
          }
        }
      }
      expect(await inventory()).toEqual(before)
    })

  it('with the key of a reader may read everything and change nothing', async () => {
    const before = await inventory()
    const changes = casesThat(routeCases, ({ does }) => does === 'change' || does === 'admin')
    const looks = casesThat(routeCases,
      ({ does, sees, isEndless = false }) => does === 'read' && sees !== 'stream' && !isEndless)
      // Nothing has such a name there: no namespace, and no call that is recorded.
      .filter((name) => !/\{(namespace|no)\}/.test(name))
    const statusOf = async (name: string) => (await askRoute(name, reader)).status
    expect(await outcomes(changes, statusOf)).toEqual(allAre(changes, 403))
    expect(await outcomes(looks, statusOf)).toEqual(foundAll(looks))
    const ended = transports['gRPC']!()
    const calls = await outcomes(rpcNames,
      async (call) => (await callRpc(ended, call, reader)).code)
    const refused = casesThat(callCases, ({ does }) => does === 'change')
    expect(calls).toEqual({ ...allAre(rpcNames, undefined),
      ...allAre(refused, Code.PermissionDenied) })
    const cancel = `/threads/${theirs.threadId}/runs/${theirs.runId}/join?cancel_on_disconnect=1`
    expect((await ask(server.url, 'GET', cancel, undefined, { ...reader })).status).toBe(403)
    expect(await inventory()).toEqual(before)
  })

  it('with the key of a deployer reads and changes nothing but what says who it is', async () => {
    const deployer = { 'x-api-key': await maker.make('acme', 'deployer') }
    const about = ['GET /auth', 'GET /limits']
    const others = guardedRoutes.filter((name) => !about.includes(name))
    const statusOf = async (name: string) => (await askRoute(name, deployer)).status
    expect(await outcomes(others, statusOf)).toEqual(allAre(others, 403))
    expect(await outcomes(about, statusOf)).toEqual(allAre(about, 200))
    const ended = transports['gRPC']!()
    expect(await outcomes(rpcNames, async (call) => (await callRpc(ended, call, deployer)).code))
      .toEqual(allAre(rpcNames, Code.PermissionDenied))
  })

  it('of an admin leads to the place of own threads only', async () => {
    const place = 'GET /threads/{thread_id}/place'
    expect((await askRoute(place, { 'x-api-key': key })).status).toBe(403)
    expect((await askRoute(place, others[1]![1])).status).toBe(404)
    const own = { 'x-api-key': await maker.make('acme', 'admin') }
    expect((await askRoute(place, own)).status).toBe(200)
  })

  it('with the key of a developer does nothing that only admins may do', async () => {
    const forAdmins = casesThat(routeCases, ({ does }) => does === 'admin')
    const statusOf = async (name: string) => (await askRoute(name, { 'x-api-key': key })).status
    expect(await outcomes(forAdmins, statusOf)).toEqual(allAre(forAdmins, 403))
    const limits = await ask(server.url, 'GET', `/limits?key=${theirs.keyId}`, undefined, {
      'x-api-key': key,
    })
    expect(limits.status).toBe(403)
  })

  it('with the key of an admin of another tenant does not lead to keys', async () => {
    const before = await maker.keyAdmin.list('acme')
    const [, headers] = others[1]!
    const { body } = await askRoute('GET /keys', headers)
    const tenants = (body as readonly { tenant: string }[]).map(({ tenant }) => tenant)
    expect(new Set(tenants)).toEqual(new Set(['other']))
    expect((await askRoute('DELETE /keys/{key_id}', headers)).status).toBe(404)
    const limits = await ask(server.url, 'GET', `/limits?key=${theirs.keyId}`, undefined, {
      ...headers,
    })
    expect(limits.status).toBe(404)
    expect((await askRoute('GET /limits/refused', headers)).body).toEqual({ callers: [] })
    expect(await maker.keyAdmin.list('acme'))
      .toMatchObject(before.map(({ id, revokedAtMs }) => ({ id, revokedAtMs })))
  })

  it('to an own thread does not lead to things of another tenant', async () => {
    const headers = others[0]![1]
    const { threads, runs, assistants } = clientOf(server.url, { ...headers })
    const { thread_id: own } = await threads.create()
    await expect(threads.getState(own, theirs.checkpointId)).rejects.toThrow('404')
    await expect(runs.wait(own, theirs.assistantId, { input: say('x') })).rejects.toThrow('404')
    await expect(runs.wait(own, 'echo', { input: say('x'), checkpointId: theirs.checkpointId }))
      .rejects.toThrow(/40[04]|422/)
    await expect(runs.get(own, theirs.runId)).rejects.toThrow('404')
    // The same ids can be used in another tenant, for separate things.
    const twin = await threads.create({ threadId: theirs.threadId })
    expect(twin).toMatchObject({ thread_id: theirs.threadId, values: {} })
    await runs.wait(theirs.threadId, 'echo', { input: say('y') })
    expect(textOf(await threads.getHistory(theirs.threadId))).not.toContain(mark)
    await assistants.create({ graphId: 'echo', assistantId: theirs.assistantId, name: 'twin' })
    expect(await assistants.getVersions(theirs.assistantId)).toHaveLength(1)
    const before = await inventory()
    await threads.delete(theirs.threadId)
    await assistants.delete(theirs.assistantId)
    expect(await inventory()).toEqual(before)
  })

  it('by a session opens a WebSocket, as a protocol of it that is never answered', async () => {
    const { socket, ask: send } = dialThread(server.url, randomUUID(), {
      protocols: ['heddle', `heddle.token.${token()}`],
    })
    expect(await send('subscription.subscribe', { channels: ['values'] }, 1))
      .toMatchObject({ type: 'success' })
    expect(socket.protocol).toBe('heddle')
  })

  it('of a new tenant includes the assistants of all graphs', async () => {
    const own = await maker.make(`tenant-${randomUUID()}`)
    const { assistants } = new Client({ apiUrl: server.url, apiKey: own })
    const [echo] = await assistants.search({ graphId: 'echo' })
    expect(echo).toMatchObject({ graph_id: 'echo', metadata: { created_by: 'system' } })
    const later = clientOf(server.url, { 'x-api-key': await maker.make(`tenant-${randomUUID()}`) })
    expect(await later.assistants.get(echo!.assistant_id)).toMatchObject({ graph_id: 'echo' })
  })
})
