/** The operations of the workload. Each one sends requests of the public API. */

import type { Chance } from '../../test/simulation/chance.ts'
import type { Client, KnownThread, Reply, Request, Session } from './session.ts'

/** What an operation needs to send its requests. */
export interface Scene {
  readonly session: Session
  readonly client: Client
  readonly thread: KnownThread
}

export interface Operation {
  readonly name: string
  /** Relative frequency. */
  readonly weight: number
  execute(scene: Scene): Promise<void>
}

const actions = ['plain', 'plain', 'plain', 'slow', 'slow', 'ask', 'ask', 'fail', 'charge',
  'charge', 'mail'] as const
const strategies = ['enqueue', 'enqueue', 'enqueue', 'reject', 'interrupt', 'rollback'] as const
const maxTaskMs = 300

function send(name: string, { session, client, thread }: Scene,
  request: Omit<Request, 'operation'>): Promise<Reply> {
  return session.call(client.number, { threadId: thread.id, ...request, operation: name },
    client.signal)
}

/** The body of a run with a new task. */
function createRunBody({ session, client: { chance } }: Scene) {
  return {
    assistant_id: 'verify',
    input: {
      task: {
        token: session.createToken(),
        action: chance.pick(actions),
        ms: chance.below(maxTaskMs),
      },
    },
    multitask_strategy: chance.pick(strategies),
  }
}

function startRun(name: string, weight: number, way: '' | '/wait' | '/stream'): Operation {
  return {
    name,
    weight,
    async execute(scene) {
      const streamed = way === '/stream' ? { stream_mode: ['values'] } : {}
      await send(name, scene, {
        method: 'POST',
        path: `/threads/${scene.thread.id}/runs${way}`,
        body: { ...createRunBody(scene), ...streamed },
      })
    },
  }
}

/** An operation on one of the newest runs. Does nothing if there is none. */
function onRun(name: string, weight: number,
  toRequest: (path: string, chance: Chance) => Pick<Request, 'method' | 'path'>): Operation {
  return {
    name,
    weight,
    async execute(scene) {
      const { thread: { id, runs }, client: { chance } } = scene
      if (runs.length === 0) return
      const path = `/threads/${id}/runs/${chance.pick(runs)}`
      await send(name, scene, toRequest(path, chance))
    },
  }
}

/** A read of the thread. `suffix` follows its path. */
function read(name: string, weight: number, suffix: string): Operation {
  return {
    name,
    weight,
    execute: async (scene) => {
      await send(name, scene, { method: 'GET', path: `/threads/${scene.thread.id}${suffix}` })
    },
  }
}

interface Interrupted {
  readonly interrupts?: Record<string, { id: string; value?: { token?: string } }[]>
}

const getThread: Operation = {
  name: 'thread.get',
  weight: 6,
  async execute(scene) {
    const { thread } = scene
    const reply = await send('thread.get', scene, { method: 'GET', path: `/threads/${thread.id}` })
    if (reply.status !== 200) return
    const open = Object.values((reply.response as Interrupted).interrupts ?? {}).flat()
    // An interrupt without a token is the question of an effect, which this workload leaves open.
    thread.interrupts = new Map(
      open.flatMap(({ id, value }) => value?.token === undefined ? [] : [[id, value.token]]),
    )
  },
}

const resume: Operation = {
  name: 'run.resume',
  weight: 8,
  async execute(scene) {
    const { thread, session, client: { chance } } = scene
    await getThread.execute(scene)
    if (thread.interrupts.size === 0) return
    const [id] = chance.pick([...thread.interrupts])
    await send('run.resume', scene, {
      method: 'POST',
      path: `/threads/${thread.id}/runs/wait`,
      body: {
        assistant_id: 'verify',
        command: { resume: { [id]: session.createToken() } },
        metadata: { question: thread.interrupts.get(id) },
        multitask_strategy: chance.pick(['enqueue', 'reject'] as const),
      },
    })
  },
}

const updateState: Operation = {
  name: 'state.update',
  weight: 4,
  async execute(scene) {
    await send('state.update', scene, {
      method: 'POST',
      path: `/threads/${scene.thread.id}/state`,
      body: { values: { log: [`${scene.session.createToken()}:update`] }, as_node: 'leave' },
    })
  },
}

const copyThread: Operation = {
  name: 'thread.copy',
  weight: 2,
  async execute(scene) {
    const { thread, session } = scene
    const reply = await send('thread.copy', scene, { method: 'POST',
      path: `/threads/${thread.id}/copy` })
    const copy = (reply.response as { thread_id?: string } | undefined)?.thread_id
    if (reply.status === 200 && copy !== undefined) session.addThread(copy)
  },
}

const deleteThread: Operation = {
  name: 'thread.delete',
  weight: 1,
  async execute(scene) {
    scene.session.removeThread(scene.thread.id)
    await send('thread.delete', scene, { method: 'DELETE', path: `/threads/${scene.thread.id}` })
    // Clients that do not know of the deletion yet go on with the thread.
    await send('thread.get', scene, { method: 'GET', path: `/threads/${scene.thread.id}` })
    await startRun('run.create', 0, '').execute(scene)
  },
}

/** The store item of a client: no other client writes it. */
function onItem(name: string, weight: number, method: 'GET' | 'PUT' | 'DELETE'): Operation {
  return {
    name,
    weight,
    async execute({ session, client }) {
      const item = { namespace: ['verify', session.name], key: `client-${client.number}` }
      const query = `?namespace=verify.${session.name}&key=${item.key}`
      const request = {
        GET: { path: `/store/items${query}` },
        PUT: { path: '/store/items', body: { ...item, value: { token: session.createToken() } } },
        DELETE: { path: '/store/items', body: item },
      }[method]
      await session.call(client.number, { operation: name, method, ...request }, client.signal)
    },
  }
}

const unknownId = '00000000-0000-4000-8000-000000000000'

/** Requests that are wrong, which the server rejects with 4xx and without an effect. */
const wrongRequest: Operation = {
  name: 'wrong',
  weight: 5,
  async execute(scene) {
    const { thread: { id }, session, client: { chance } } = scene
    const body = createRunBody(scene)
    const post = (path: string, wrong: unknown) => ({ method: 'POST' as const, path, body: wrong })
    const [name, request] = chance.pick([
      ['thread', post(`/threads/${unknownId}/runs`, body)],
      ['run', { method: 'GET' as const, path: `/threads/${id}/runs/${unknownId}` }],
      ['cancel', { method: 'POST' as const, path: `/threads/${id}/runs/${unknownId}/cancel` }],
      ['assistant', post(`/threads/${id}/runs`, { ...body, assistant_id: 'missing' })],
      ['strategy', post(`/threads/${id}/runs`, { ...body, multitask_strategy: 'never' })],
      ['json', post(`/threads/${id}/runs`, '{"assistant_id":')],
      ['channel', post(`/threads/${id}/state`, { values: { missing: session.createToken() } })],
      ['node', post(`/threads/${id}/state`, {
        values: { log: [`${session.createToken()}:update`] },
        as_node: 'missing',
      })],
    ] as const)
    await send(`wrong.${name}`, scene, request)
  },
}

export const createThread = async (session: Session, client: Client): Promise<void> => {
  const { status, response } = await session.call(client.number, {
    operation: 'thread.create',
    method: 'POST',
    path: '/threads',
    body: { metadata: { verify: session.name } },
  }, client.signal)
  if (status === 200) session.addThread((response as { thread_id: string }).thread_id)
}

export const operations: readonly Operation[] = [
  startRun('run.wait', 12, '/wait'),
  startRun('run.create', 14, ''),
  startRun('run.stream', 6, '/stream'),
  resume,
  getThread,
  updateState,
  copyThread,
  deleteThread,
  wrongRequest,
  read('thread.state', 6, '/state'),
  read('run.list', 4, '/runs?limit=100'),
  onRun('run.get', 6, (path) => ({ method: 'GET', path })),
  onRun('run.join', 4, (path) => ({ method: 'GET', path: `${path}/join` })),
  onRun('run.cancel', 6, (path, chance) => ({
    method: 'POST',
    path: `${path}/cancel?wait=${chance.pick(['0', '1'])}&action=${
      chance.pick(['interrupt', 'rollback'])
    }`,
  })),
  onItem('item.put', 4, 'PUT'),
  onItem('item.get', 4, 'GET'),
  onItem('item.delete', 2, 'DELETE'),
]

/** Draws an operation by its weight. */
export function drawOperation(chance: Chance): Operation {
  const total = operations.reduce((sum, { weight }) => sum + weight, 0)
  let left = chance.number() * total
  return operations.find(({ weight }) => (left -= weight) < 0) ?? operations[0]!
}
