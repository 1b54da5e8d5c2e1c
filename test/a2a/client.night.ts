/**
 * The official JavaScript client of A2A, unmodified, in both of its versions: it sends, streams,
 * asks for tasks, cancels, follows, is notified and answers questions.
 */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { beforeAll, describe, expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { installPackages } from '../support/installed-packages.ts'
import { openReceiver } from '../support/receiver.ts'
import { useServer } from '../support/server.ts'

interface Part {
  readonly content: { readonly $case: 'text' | 'raw' | 'url' | 'data'; readonly value: unknown }
}

interface Task {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: number;
    readonly message?: { readonly parts: readonly Part[] } }
  readonly artifacts: readonly { readonly parts: readonly Part[] }[]
  readonly history: readonly { readonly role: number; readonly parts: readonly Part[] }[]
}

interface StreamEvent {
  readonly payload: { readonly $case: string; readonly value: Task }
}

interface Config {
  readonly id: string
  readonly url: string
}

/** The members of a client that are used here. */
interface Client {
  readonly protocolVersion: string
  sendMessage(params: object): Promise<Task>
  sendMessageStream(params: object): AsyncIterable<StreamEvent>
  getTask(params: object): Promise<Task>
  listTasks(params: object): Promise<{ readonly tasks: readonly Task[] }>
  cancelTask(params: object): Promise<Task>
  resubscribeTask(params: object): AsyncIterable<StreamEvent>
  createTaskPushNotificationConfig(params: object): Promise<Config>
  getTaskPushNotificationConfig(params: object): Promise<Config>
  listTaskPushNotificationConfig(params: object): Promise<{ readonly configs: readonly Config[] }>
  deleteTaskPushNotificationConfig(params: object): Promise<void>
}

interface Factory {
  createFromAgentCard(card: object): Promise<Client>
}

interface ClientModule {
  readonly ClientFactory: new(options: object) => Factory
  readonly JsonRpcTransportFactory: new(options: object) => object
  readonly DefaultAgentCardResolver: new(options: object) => {
    resolve(url: string, path: string): Promise<Card>
  }
}

interface Card {
  readonly supportedInterfaces: readonly { readonly protocolVersion: string }[]
}

const folder = import.meta.dirname
const server = useServer({ project: 'conformance', args: ['--egress-allow', '127.0.0.1/32'] })
const gate = useGates()

let sdk: ClientModule
beforeAll(async () => {
  await installPackages(folder, 'the official client of A2A')
  const path = join(folder, 'node_modules/@a2a-js/sdk/dist/client/index.js')
  sdk = await import(pathToFileURL(path).href) as ClientModule
})

/** Numbers of states and roles, as the client has them. */
const [completed, canceled, asks] = [3, 5, 6]
const [ofUser, ofAgent] = [1, 2]

const text = (value: string): Part => ({ content: { $case: 'text', value } })

const said = (parts: readonly Part[], more: object = {}) => ({ tenant: '', metadata: undefined,
  configuration: undefined,
  message: { messageId: randomUUID(), contextId: '', taskId: '', role: ofUser, metadata: undefined,
    extensions: [], referenceTaskIds: [], ...more,
    parts: parts.map((part) => ({ metadata: undefined, filename: '', mediaType: '', ...part })) } })

/** A client of an agent that speaks one version. */
async function clientOf(agent: string, version: string): Promise<Client> {
  const legacyCompat = { enabled: true }
  const card = await new sdk.DefaultAgentCardResolver({ legacyCompat }).resolve(server.url,
    `/a2a/${agent}/.well-known/agent-card.json`)
  const client = await new sdk.ClientFactory({
    transports: [new sdk.JsonRpcTransportFactory({ legacyCompat })],
  }).createFromAgentCard({ ...card,
    supportedInterfaces: card.supportedInterfaces.filter((each) =>
      each.protocolVersion === version
    ) })
  expect(client.protocolVersion).toBe(version)
  return client
}

async function all(events: AsyncIterable<StreamEvent>): Promise<readonly StreamEvent['payload'][]> {
  const seen: StreamEvent['payload'][] = []
  for await (const { payload } of events) seen.push(payload)
  return seen
}

const stateOf = ({ status }: Task): number => status.state

describe.each(['1.0', '0.3'])('The client of A2A %s', (version) => {
  it('sends, and gets a task with its answer, alone and on a list', async () => {
    const client = await clientOf('echo', version)
    const task = await client.sendMessage(said([text('hi')]))
    expect(stateOf(task)).toBe(completed)
    expect(task.artifacts[0]!.parts).toMatchObject([text('echo: hi')])
    const again = await client.getTask({ tenant: '', id: task.id, historyLength: 5 })
    expect(again.history.map(({ role }) => role)).toEqual([ofUser, ofAgent])
    if (version === '0.3') return
    const { tasks } = await client.listTasks({ tenant: '', contextId: task.contextId, status: 0,
      pageToken: '', statusTimestampAfter: undefined })
    expect(tasks.map(({ id }) => id)).toEqual([task.id])
  })

  it('carries files and data', async () => {
    const client = await clientOf('echo', version)
    const data = { content: { $case: 'data', value: { a: [1] } } } as const
    const file = { content: { $case: 'url', value: 'https://example.org/a.png' }, filename: 'a.png',
      mediaType: 'image/png' } as const
    const task = await client.sendMessage(said([text('see'), data, file]))
    const [first] = task.history
    expect(first!.parts).toMatchObject([text('see'), data, file])
  })

  it('streams what a model writes', async () => {
    const client = await clientOf('tokens', version)
    const events = await all(client.sendMessageStream(said([text('hi')])))
    const kinds = events.map(({ $case }) => $case)
    expect(kinds[0]).toBe('task')
    expect(kinds.filter((kind) => kind === 'artifactUpdate').length).toBeGreaterThan(3)
    expect(stateOf(events.at(-1)!.value)).toBe(completed)
  })

  it('answers a question, and the task goes on', async () => {
    const client = await clientOf('chatask', version)
    const asked = await client.sendMessage(said([text('go')]))
    expect(stateOf(asked)).toBe(asks)
    expect(asked.status.message!.parts).toMatchObject([text('sure?')])
    const done = await client.sendMessage(
      said([text('yes')], { taskId: asked.id, contextId: asked.contextId }),
    )
    expect([done.id, stateOf(done)]).toEqual([asked.id, completed])
    expect(done.artifacts[0]!.parts).toMatchObject([text('told yes')])
  })

  it('follows a task that works, is notified of it, and cancels it', async () => {
    const receiver = await openReceiver()
    const place = gate()
    try {
      const client = await clientOf('held', version)
      const sending = client.sendMessage({ ...said([text(`hold ${place.url}`)]),
        configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined,
          returnImmediately: true } })
      const { id } = await sending
      await place.arrived()
      const config = { tenant: '', taskId: id, id: 'mine', url: receiver.url, token: 'tok',
        authentication: { scheme: 'Bearer', credentials: 'sec' } }
      const named = { tenant: '', taskId: id, id: 'mine' }
      const shown = { id: 'mine', url: receiver.url }
      expect(await client.createTaskPushNotificationConfig(config)).toMatchObject(shown)
      await client.createTaskPushNotificationConfig({ ...config, id: 'other' })
      await client.deleteTaskPushNotificationConfig({ ...named, id: 'other' })
      expect(await client.getTaskPushNotificationConfig(named)).toMatchObject(shown)
      const { configs } = await client.listTaskPushNotificationConfig({ tenant: '', taskId: id,
        pageSize: 10, pageToken: '' })
      expect(configs).toMatchObject([shown])
      const following = all(client.resubscribeTask({ tenant: '', id }))
      expect(stateOf(await client.cancelTask({ tenant: '', id, metadata: undefined })))
        .toBe(canceled)
      expect(stateOf((await following).at(-1)!.value)).toBe(canceled)
      await receiver.arrived(1)
      expect(receiver.received[0]!.headers).toMatchObject({ authorization: 'Bearer sec',
        'x-a2a-notification-token': 'tok' })
    } finally {
      await receiver.close()
    }
  })
})
