/** A second server on a keyspace: it joins, is refused, or takes over from a dead one. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { useGates } from '../../support/gate.ts'
import { startHeld } from '../../support/held-run.ts'
import { say, texts } from '../../support/run-events.ts'
import { failToStart, oneWorker, startServer } from '../../support/server-process.ts'
import type { Exit, ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { takenForDead } from '../../support/taken-for-dead.ts'
import { ask } from '../../support/wire.ts'
import { cql } from './cql.ts'

const cassandra = await cassandraForTests()
const gate = useGates()

/** For all tests, which begin and end without a server: to make the tables takes the longest. */
let place: CassandraKeyspace
beforeAll(() => {
  if (cassandra) place = newKeyspace(cassandra)
})
afterAll(async () => {
  if (cassandra) await dropKeyspace(place)
})

/** Starts a server with a data folder and a port of its own. */
async function serve(): Promise<ServerProcess> {
  const server = await startServer({ project: 'conformance', cassandra: place, args: oneWorker })
  onTestFinished(() => server.close())
  return server
}

/** Starts another server; `ms` is how long it took until it served. */
async function succeed(): Promise<{ next: ServerProcess; ms: number }> {
  const began = performance.now()
  const next = await serve()
  return { next, ms: performance.now() - began }
}

/** The sessions that own shards. */
async function owners(): Promise<Set<string>> {
  const rows = await cql(place, `SELECT session FROM ${place.keyspace}_control.shard_owner`)
  return new Set(rows.map(({ session }) => String(session)))
}

const history = (client: Client, threadId: string) =>
  client.threads.getHistory(threadId, { limit: 1_000 })

describe.skipIf(!cassandra)('a second server on the same keyspace', () => {
  it('joins, and both serve all threads', async () => {
    const first = await serve()
    const second = await serve()
    const clients = [first, second].map(({ url }) => clientOf(url))
    const ids = []
    const metadata = { of: 'both' }
    for (let number = 0; number < 12; number++) {
      const [here, there] = number % 2 === 0 ? clients : clients.toReversed()
      const { thread_id: id } = await here!.threads.create({ metadata })
      await there!.runs.wait(id, 'echo', { input: say(id) })
      ids.push(id)
    }
    const query = { metadata, sortBy: 'created_at', sortOrder: 'asc', limit: 5 } as const
    for (const { threads } of clients) {
      const pages = await Promise.all(
        [0, 5, 10].map((offset) => threads.search({ ...query, offset })),
      )
      expect(pages.flat().map(({ thread_id }) => thread_id)).toEqual(ids)
      expect(await threads.count({ metadata })).toBe(ids.length)
      for (const id of ids) {
        expect(texts((await threads.get(id)).values)).toEqual([id, `echo: ${id}`])
      }
    }
    await expect.poll(owners).toEqual(new Set([first, second].map(({ member }) => member.session)))
  })

  it('owns nothing if it is only a front door, and still serves all threads', async () => {
    const member = await serve()
    const door = await startServer({ project: 'conformance', cassandra: place,
      env: { HEDDLE_ROLES: 'frontdoor' } })
    onTestFinished(() => door.close())
    const client = clientOf(door.url)
    const { thread_id: id } = await client.threads.create()
    expect(texts(await client.runs.wait(id, 'echo', { input: say('through a door') })))
      .toEqual(['through a door', 'echo: through a door'])
    expect(await client.threads.search({ ids: [id] })).toHaveLength(1)
    await expect.poll(owners).toEqual(new Set([member.member.session]))
    expect((await ask(door.url, 'GET', '/ok?check_db=1')).status).toBe(200)
    expect(await door.kill('SIGTERM')).toEqual<Exit>({ code: 0, signal: null })
    expect(texts((await clientOf(member.url).threads.get(id)).values)).toHaveLength(2)
  })

  it('gives back what it took over, with everything written meanwhile', async () => {
    const first = await serve()
    const client = clientOf(first.url)
    const ids = await Promise.all(
      Array.from({ length: 24 }, async () => (await client.threads.create()).thread_id),
    )
    const sayAll = (word: string) =>
      Promise.all(ids.map((id) => client.runs.wait(id, 'echo', { input: say(word) })))
    await sayAll('before')
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const second = await serve()
      await sayAll(`with another, until ${signal}`)
      await second.kill(signal)
      await Promise.all(ids.map(async (id) => {
        const { status, body } = await ask(first.url, 'GET', `/threads/${id}`)
        expect(status).toBe(200)
        expect(texts((body as { values: unknown }).values).at(-2))
          .toBe(`with another, until ${signal}`)
      }))
      for (const answer of await sayAll(`alone after ${signal}`)) {
        expect(texts(answer).filter((_, index) => index % 2 === 0).slice(-2))
          .toEqual([`with another, until ${signal}`, `alone after ${signal}`])
      }
    }
  })

  it.each([
    { what: 'is of another cluster', name: 'HEDDLE_CLUSTER_NAME', value: 'other',
      says: 'name of their own' },
    { what: 'has another secret', name: 'HEDDLE_CLUSTER_SECRET', value: 'nobody-else-has-it',
      says: 'same secret' },
  ])('is refused in one sentence if it $what, and the first continues', async (
    { name, value, says },
  ) => {
    const first = await serve()
    const client = clientOf(first.url)
    const { thread_id: id } = await client.threads.create()
    const dataDir = await mkdtemp(join(tmpdir(), 'heddle-second-'))
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const refused = await failToStart({ project: 'conformance', dataDir, cassandra: place,
      env: { [name]: value } })
    expect(refused).toMatchObject({ code: 1, signal: null })
    // The first may connect before this one knows that it must not join, and is turned away.
    expect(refused.output).toMatch(/^heddle: [^\n]+\.\n$/)
    expect(refused.output).toContain(says)
    expect(texts(await client.runs.wait(id, 'echo', { input: say('on') })))
      .toEqual(['on', 'echo: on'])
  })

  it('is refused in one sentence at the address of the first', async () => {
    const first = await serve()
    const { host, port } = first.member
    const dataDir = await mkdtemp(join(tmpdir(), 'heddle-second-'))
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const refused = await failToStart({ project: 'conformance', dataDir, cassandra: place,
      env: { HEDDLE_MEMBER_HOST: host, HEDDLE_MEMBER_PORT: port } })
    expect(refused).toMatchObject({ code: 1, signal: null })
    expect(refused.output).toMatch(/^heddle: [^\n]+ is in use: [^\n]+\.\n$/)
    expect((await ask(first.url, 'GET', '/ok?check_db=1')).status).toBe(200)
  })

  it('takes over from one that ended or was killed, without waiting', async () => {
    let server = await serve()
    const { thread_id: id } = await clientOf(server.url).threads.create()
    for (const [said, signal] of (['SIGTERM', 'SIGKILL'] as const).entries()) {
      await server.kill(signal)
      const { next, ms } = await succeed()
      server = next
      console.log(`Until the next one serves: ${ms.toFixed(0)} ms after ${signal}`)
      const answer = await clientOf(server.url).runs.wait(id, 'echo', { input: say(`w${said}`) })
      expect(texts(answer)).toHaveLength(2 * (said + 1))
      // Its port is closed, which is found out at the first look. That it is silent, or lost the
      // store, would be known eight seconds later.
      expect(takenForDead(server.output()).map(({ why }) => why))
        .toEqual(signal === 'SIGTERM' ? [] : ['Nobody is at its address.'])
    }
  })
})

describe.skipIf(!cassandra)('a server that was silent', () => {
  it('has lost everything to the next one, and acknowledges nothing more', async () => {
    const hold = gate()
    const first = await serve()
    const { threads, runs } = clientOf(first.url)
    const { thread_id: talked } = await threads.create()
    await runs.wait(talked, 'echo', { input: say('before') })
    const { thread_id: id } = await threads.create()
    const run = await startHeld(clientOf(first.url), id, hold)
    run.stream.rest().catch(() => undefined)

    first.kill('SIGSTOP').catch(() => undefined)
    const { next, ms } = await succeed()
    console.log(`Until the next one serves: ${ms.toFixed(0)} ms after SIGSTOP`)
    expect(ms).toBeGreaterThan(3_000)
    const heir = clientOf(next.url)
    await heir.runs.wait(talked, 'echo', { input: say('after') })
    await hold.arrived(2)
    hold.open()
    await heir.runs.join(id, run.runId)
    const newer = await Promise.all([talked, id].map((each) => history(heir, each)))

    const asked = askEverything(first.url, { talked, id })
    const exit = first.kill('SIGCONT')
    for (const { what, status } of await asked) {
      expect(status, what).toBeOneOf(['no answer', 503])
    }
    expect(await exit).toEqual<Exit>({ code: 1, signal: null })
    expect(first.output()).toContain('Another member fenced the session of this one')
    expect(first.output()).not.toMatch(/\n\s+at /)

    expect(await Promise.all([talked, id].map((each) => history(heir, each)))).toEqual(newer)
    expect(await heir.threads.search({ ids: [talked, id] })).toHaveLength(2)
    expect(await heir.runs.get(id, run.runId)).toMatchObject({ status: 'success' })
    expect(texts((await heir.threads.get(talked)).values))
      .toEqual(['before', 'echo: before', 'after', 'echo: after'])
  })
})

/** Sends requests of every kind to a server that is still stopped. */
async function askEverything(url: string, { talked, id }: { talked: string; id: string }) {
  const said = { assistant_id: 'echo', input: say('too late') }
  const questions: [string, string, unknown?][] = [
    ['POST', '/threads', {}],
    ['POST', `/threads/${talked}/runs`, said],
    ['POST', `/threads/${talked}/runs/wait`, said],
    ['POST', `/threads/${talked}/state`, { values: say('too late') }],
    ['PATCH', `/threads/${id}`, { metadata: { late: true } }],
    ['POST', `/threads/${talked}/copy`],
    ['DELETE', `/threads/${id}`],
    ['POST', '/assistants', { graph_id: 'echo' }],
    ['GET', `/threads/${talked}`],
    ['GET', `/threads/${talked}/state`],
    ['GET', `/threads/${id}/runs`],
  ]
  return await Promise.all(questions.map(async ([method, path, body]) => {
    const status = await ask(url, method, path, body)
      .then((answer) => answer.status, () => 'no answer')
    return { what: `${method} ${path}`, status }
  }))
}
