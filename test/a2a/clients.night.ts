/** The official clients of A2A for JavaScript, unmodified: of 1.0 and of 0.3, on one server. */

import { createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { installPackages } from '../support/installed-packages.ts'
import { useServer } from '../support/server.ts'

type Json = Readonly<Record<string, unknown>>

interface Client {
  sendMessage(params: object): Promise<Json>
  sendMessageStream(params: object): AsyncIterable<Json>
  getTask(params: object): Promise<Json>
  listTasks(params: object): Promise<Json>
  cancelTask(params: object): Promise<Json>
}

interface Modules {
  readonly ClientFactory: new() => { createFromUrl(url: string, path: string): Promise<Client> }
  readonly A2AClient: { fromCardUrl(url: string): Promise<Client> }
  readonly verifyAgentCardSignature: (keys: () => Promise<unknown>) => (card: object) => unknown
  readonly AgentCard: { fromJSON(json: unknown): object }
  readonly SendMessageRequest: { fromJSON(json: unknown): object }
}

const folder = import.meta.dirname
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const keyFile = join(await mkdtemp(join(tmpdir(), 'heddle-a2a-key-')), 'key.pem')
await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))

const server = useServer({ project: resolve(folder, '../upstream/a2a'), args: ['--workers', '1'] })
const signing = useServer({ project: resolve(folder, '../upstream/a2a'),
  args: ['--workers', '1', '--a2a-key', keyFile] })

const load = async (path: string) =>
  await import(pathToFileURL(join(folder, 'node_modules', path)).href) as Modules

beforeAll(() => installPackages(folder, 'the clients of A2A'))

const card = '.well-known/agent-card.json'

describe('the client of 1.0', () => {
  const request = async (text: string, more: object = {}) => {
    const { SendMessageRequest } = await load('@a2a-js/sdk/dist/index.js')
    return SendMessageRequest.fromJSON({
      message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
    })
  }

  it('sends, answers a question, streams, lists and cancels', async () => {
    const { ClientFactory } = await load('@a2a-js/sdk/dist/client/index.js')
    const client = await new ClientFactory().createFromUrl(`${server.url}/a2a/agent/`, card)
    const task = await client.sendMessage(await request('one'))
    expect(task).toMatchObject({ status: { state: 6 }, artifacts: [{ parts: [
      { content: { $case: 'text', value: 'Hello: one' } },
    ] }] })
    const answered = await client.sendMessage(await request('goodbye', { taskId: task['id'] }))
    expect(answered).toMatchObject({ id: task['id'], contextId: task['contextId'],
      status: { state: 3 } })
    await expect(client.sendMessage(await request('late', { taskId: task['id'] }))).rejects
      .toThrow(/completed/)
    const kinds: unknown[] = []
    let streamed: Json = {}
    for await (const event of client.sendMessageStream(await request('goodbye'))) {
      const { payload } = event as { payload: { $case: string; value: Json } }
      kinds.push(payload.$case)
      streamed = payload.value
    }
    expect(kinds[0]).toBe('task')
    expect(kinds).toContain('artifactUpdate')
    expect(streamed).toMatchObject({ status: { state: 3 } })
    const waiting = await client.sendMessage(await request('more'))
    expect(await client.cancelTask({ id: waiting['id'] })).toMatchObject({ status: { state: 5 } })
    const { tasks, totalSize } = await client.listTasks({ contextId: '', status: 0, pageToken: '',
      tenant: '' })
    expect((tasks as Json[]).map(({ id }) => id)).toContain(task['id'])
    expect(totalSize).toBe(3)
    expect(await client.getTask({ id: task['id'], tenant: '' })).toMatchObject({ id: task['id'] })
  })

  it('finds the signature of a card to be right, and of a changed one to be wrong', async () => {
    const { verifyAgentCardSignature, AgentCard } = await load('@a2a-js/sdk/dist/index.js')
    const answer = await fetch(`${signing.url}/a2a/agent/${card}`)
    const json = await answer.json() as Json
    const key = await crypto.subtle.importKey('jwk',
      createPublicKey(privateKey).export({ format: 'jwk' }), { name: 'ECDSA', namedCurve: 'P-256' },
      true, ['verify'])
    const verify = verifyAgentCardSignature(async () => key)
    await verify(AgentCard.fromJSON(json))
    await expect(async () => await verify(AgentCard.fromJSON({ ...json, name: 'other' }))).rejects
      .toThrow()
  })
})

describe('the client of 0.3', () => {
  const params = (text: string, more: object = {}) => ({
    message: { kind: 'message', messageId: randomUUID(), role: 'user',
      parts: [{ kind: 'text', text }], ...more },
  })

  it('sends, answers a question, streams and gets', async () => {
    const { A2AClient } = await load('a2a-before/dist/client/index.js')
    const client = await A2AClient.fromCardUrl(`${server.url}/a2a/agent/${card}`)
    const { result } = await client.sendMessage(params('one')) as { result: Json }
    expect(result).toMatchObject({ kind: 'task',
      status: { state: 'input-required',
        message: { parts: [{ kind: 'text', text: 'Anything else?' }] } } })
    const more = await client.sendMessage(params('goodbye', { taskId: result['id'] }))
    expect(more['result']).toMatchObject({ id: result['id'], status: { state: 'completed' } })
    const events: Json[] = []
    for await (const event of client.sendMessageStream(params('goodbye'))) events.push(event)
    expect(events[0]).toMatchObject({ kind: 'task' })
    expect(events.at(-1)).toMatchObject({ kind: 'status-update', final: true,
      status: { state: 'completed' } })
    expect(await client.getTask({ id: result['id'] })).toMatchObject({ result: {
      id: result['id'],
      status: { state: 'completed' },
    } })
  })
})
