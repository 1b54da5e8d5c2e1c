/** Secrets of requests are found nowhere: not in answers, in the log, or in stored data. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node'
import { describe, expect, it } from 'vitest'
import { RunService } from '../../proto/gen/frontdoor/v1/run_pb.js'
import { ThreadService } from '../../proto/gen/frontdoor/v1/thread_pb.js'
import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { everythingIn } from '../support/cassandra-tables.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { openKeyMaker } from '../support/keys.ts'
import { isNight } from '../support/repeats.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { expiredToken, forgedToken, issuer, keySetFile, token } from '../support/sessions.ts'
import { ask } from '../support/wire.ts'

const cassandra = await cassandraForTests()

/** Headers that clients send; their values must be found nowhere. */
const planted = {
  'x-password': 'planted-password-1',
  'x-vendor-token': 'planted-token-2',
  'x-auth-user': 'planted-auth-3',
  'x-user-id': 'ann',
  'x-client-secret': 'planted-secret-4',
  cookie: 'session=planted-cookie-5',
  'proxy-authorization': 'Basic planted-basic-6',
}

/** Kept in the run, which proves that the search finds what is there. */
const seen = { 'x-colour': 'planted-colour' }

interface Harvest {
  readonly answers: string
  /** Texts that must be found nowhere. */
  readonly secrets: readonly string[]
}

/** Makes all kinds of requests, valid and invalid, with every kind of credential. */
async function useAll(server: ServerProcess, cassandra?: CassandraKeyspace): Promise<Harvest> {
  const maker = await openKeyMaker({ dataDir: server.dataDir, cassandra })
  const [key, revoked, expired] = await Promise.all([maker.make('acme'), maker.makeRevoked('acme'),
    maker.makeExpired('acme')])
  await maker.close()
  const forged = `${key.slice(0, -8)}forgedXY`
  const elsewhere = 'hdl_eu_fedcba9876543210_ofAnotherRegionABCDEFGHIJKLMNOPQRSTUVWXYZ01'
  const tokens = [token(), expiredToken(), forgedToken()]
  const bearers = [...tokens, key, revoked].map((text) => ({ authorization: `Bearer ${text}` }))
  const keyed = [key, revoked, expired, forged, elsewhere].map((text) => ({ 'x-api-key': text }))
  let answers = ''
  for (const credential of [...keyed, ...bearers]) {
    const headers = { ...planted, ...seen, ...credential, 'x-note': `see ${key}`,
      'x-session': tokens[0]! }
    const say = async (method: string, path: string, body?: unknown) => {
      const answer = await ask(server.url, method, path, body, headers)
      answers += JSON.stringify([...answer.headers]) + JSON.stringify(answer.body)
      return answer.body as Record<string, string>
    }
    const { thread_id: thread = 'none' } = await say('POST', '/threads', { metadata: { a: 1 } })
    const run = { input: { seen: {} }, config: { configurable: { b: 'c' } } }
    await say('POST', `/threads/${thread}/runs/wait`, { ...run, assistant_id: 'tell' })
    await say('POST', `/threads/${thread}/runs/stream`, { ...run, assistant_id: 'fail' })
    await say('POST', '/runs/wait', { ...run, assistant_id: 'fail', on_completion: 'keep' })
    await say('GET', `/threads/${thread}/state`)
    await say('GET', `/threads/${thread}/history`)
    await say('GET', `/threads/${thread}/runs`)
    await say('GET', `/threads/${thread}`)
    await say('POST', '/threads/search', {})
    await say('POST', '/assistants/search', {})
    await say('GET', '/nowhere')
    await say('POST', '/threads', '{"metadata": ')
    await say('POST', '/threads', { metadata: 7 })
    for (const transport of [createGrpcTransport({ baseUrl: server.url }),
      createConnectTransport({ baseUrl: server.url, httpVersion: '1.1' })]) {
      const [threads, runs] = [createClient(ThreadService, transport),
        createClient(RunService, transport)]
      answers += await threads.getThread({ threadId: 'none' }, { headers }).then(String, String)
      answers += await runs.waitRun({ run: { assistantId: 'tell' } }, { headers })
        .then(({ resultJson }) => new TextDecoder().decode(resultJson), String)
    }
  }
  for (const path of ['/metrics', '/info', '/ok?check_db=1', '/internal/cluster']) {
    answers += JSON.stringify((await ask(server.url, 'GET', path)).body)
  }
  const { 'x-user-id': _, cookie, ...others } = planted
  const texts = [...[key, revoked, expired].map((text) => text.slice(-43)), 'forgedXY',
    'fedcba9876543210', 'ofAnotherRegion', ...tokens.map((text) => text.split('.')[2]!),
    cookie.split('=')[1]!, ...Object.values(others).map((text) => text.replace('Basic ', ''))]
  return { answers, secrets: texts }
}

const args = [...oneWorker, '--auth', 'keys', '--log-level', 'debug', '--jwt-issuer', issuer]

function filesIn(folder: string): Buffer[] {
  return readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile()).map((path) => readFileSync(path))
}

const foundIn = (haystack: string | Buffer, secrets: readonly string[]) =>
  secrets.filter((secret) => haystack.includes(secret))

describe('secrets of requests', () => {
  it('are in no answer, no line of the log, and no file', async () => {
    const server = await startServer({ project: 'telling',
      args: [...args, '--jwt-keys', keySetFile()] })
    try {
      const { answers, secrets } = await useAll(server)
      expect(answers).toContain(seen['x-colour'])
      expect(foundIn(answers, secrets)).toEqual([])
      expect(foundIn(server.output(), secrets)).toEqual([])
      await server.kill('SIGTERM')
      expect(foundIn(server.output(), secrets)).toEqual([])
      const files = filesIn(server.dataDir)
      expect(files.some((file) => file.includes(seen['x-colour']))).toBe(true)
      expect(files.flatMap((file) => foundIn(file, secrets))).toEqual([])
    } finally {
      await server.close()
    }
  })

  it.skipIf(!isNight || cassandra === undefined)('are in no table of Cassandra', async () => {
    const keyspace = newKeyspace(cassandra!)
    const server = await startServer({ project: 'telling', cassandra: keyspace,
      args: [...args, '--jwt-keys', keySetFile()] })
    try {
      const { secrets } = await useAll(server, keyspace)
      const text = await everythingIn(keyspace)
      const hex = (each: string) => Buffer.from(each).toString('hex')
      expect(text).toContain(hex(seen['x-colour']))
      expect(secrets.filter((each) => text.includes(each) || text.includes(hex(each)))).toEqual([])
      expect(foundIn(server.output(), secrets)).toEqual([])
    } finally {
      await server.close()
      await dropKeyspace(keyspace)
    }
  })
})
