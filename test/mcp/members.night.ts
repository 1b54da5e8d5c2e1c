/** Tools on three members: each message of a client goes to another one. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { cassandraForTests } from '../support/cassandra.ts'
import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { startCluster } from '../support/cluster.ts'
import type { Cluster } from '../support/cluster.ts'
import { useGates } from '../support/gate.ts'
import { say } from '../support/run-events.ts'
import { toolClient } from '../support/tool-client.ts'

const cassandra = await cassandraForTests()
const gate = useGates()
const forms = { elicitation: {} }
const given = { action: 'accept', content: { answer: 'this' } }

describe.skipIf(cassandra === undefined)('tools on three members', () => {
  let keyspace: CassandraKeyspace
  let cluster: Cluster
  const client = () => toolClient(...cluster.frontDoors)

  beforeAll(async () => {
    keyspace = newKeyspace(cassandra!)
    cluster = await startCluster({ members: 3, project: 'conformance', cassandra: keyspace })
  }, 240_000)
  afterAll(async () => {
    await cluster?.close()
    await dropKeyspace(keyspace)
  }, 120_000)

  it('ask on one, are answered on another, and go on', async () => {
    const session = client()
    await session.initialize(forms)
    const { messages, result } = session.call('asktwice')
    for (const text of ['first?', 'second?']) {
      const { id, params } = await messages.next()
      expect(params).toMatchObject({ message: text })
      expect(await session.answer(id!, given)).toBe(202)
    }
    expect(await result).toMatchObject({ result: { structuredContent: {
      answers: ['this', 'this'],
    } } })
  })

  it('are answered on a stream that the client opens on another', async () => {
    const session = client()
    await session.initialize(forms)
    const { messages } = session.call('ask', { question: 'which?' })
    const { id } = await messages.next()
    const again = session.resume(`${String(id).split('/')[0]}.0.`)
    expect(await again.messages.next()).toMatchObject({ id, method: 'elicitation/create' })
    expect(await session.answer(id!, given)).toBe(202)
    expect(await again.result).toMatchObject({ result: { structuredContent: {
      answers: ['this', 'after'],
    } } })
  })

  it('are cancelled from another', async () => {
    const session = client()
    await session.initialize({})
    const hold = gate()
    const { result } = session.call('held', say(`hold ${hold.url}`), { id: 7 })
    await hold.arrived()
    expect(await session.notify('notifications/cancelled', { requestId: 7 })).toBe(202)
    await hold.left()
    await result
  })

  it('go on with what another member has asked, without a session', async () => {
    const { asModern } = client()
    const { result } = await asModern('tools/call', { name: 'ask', arguments: {
      question: 'which?',
    } }, forms)
    const { inputRequests, requestState } = result as { inputRequests: object;
      requestState: string }
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((id) => [id, given]))
    expect(await asModern('tools/call', { name: 'ask', requestState, inputResponses }, forms))
      .toMatchObject({ result: { structuredContent: { answers: ['this', 'after'] } } })
  })
})
