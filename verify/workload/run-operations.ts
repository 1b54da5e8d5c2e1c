/** Operations on runs. */

import type { Chance } from '../../test/simulation/chance.ts'
import { createRunBody, send } from './operation.ts'
import type { Operation, Scene } from './operation.ts'
import type { Request } from './session.ts'
import { getThread } from './thread-operations.ts'

/** Probability that a run has an idempotency key, and that its request is then repeated. */
const keyed = { key: 0.3, repeat: 0.5 }
/** Longest delay of a run that starts later, in seconds. */
const maxDelayS = 2

function startRun(name: string, weight: number, way: '' | '/wait' | '/stream'): Operation {
  return {
    name,
    weight,
    async execute(scene) {
      const { chance } = scene.client
      const body = createRunBody(scene)
      const streamed = way === '/stream' ? { stream_mode: ['values'] } : {}
      const hasKey = scene.session.offers('run.repeat') && chance.flip(keyed.key)
      const request = {
        method: 'POST',
        path: `/threads/${scene.thread.id}/runs${way}`,
        headers: hasKey ? { 'idempotency-key': body.input.task.token } : undefined,
        body: { ...body, ...streamed },
      } as const
      await send(name, scene, request)
      if (hasKey && chance.flip(keyed.repeat)) await send('run.repeat', scene, request)
    },
  }
}

/** A background run on the thread, for operations that need a request which starts one. */
export const createRun = startRun('run.create', 14, '')

/** An operation on one of the newest runs. Does nothing if there is none. */
function onRun(name: string, weight: number,
  toRequest: (path: string, chance: Chance) => Omit<Request, 'operation'>): Operation {
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

/** A run that starts after a delay. */
const delayRun: Operation = {
  name: 'run.delay',
  weight: 3,
  async execute(scene) {
    await send('run.delay', scene, {
      method: 'POST',
      path: `/threads/${scene.thread.id}/runs`,
      body: { ...createRunBody(scene), after_seconds: 1 + scene.client.chance.below(maxDelayS) },
    })
  },
}

/** Gives a message to the run that executes. */
const injectMessage: Operation = {
  name: 'run.inject',
  weight: 4,
  async execute(scene) {
    const content = scene.session.createToken()
    await send('run.inject', scene, {
      method: 'POST',
      path: `/threads/${scene.thread.id}/commands`,
      body: { id: 1, method: 'input.inject',
        params: { namespace: [], message: { role: 'user', content } } },
    })
  },
}

const pickCancel = (chance: Chance) => chance.pick(['interrupt', 'rollback'])

const resumeRun: Operation = {
  name: 'run.resume',
  weight: 8,
  async execute(scene) {
    const { thread, session, client: { chance } } = scene
    await getThread.execute(scene)
    if (thread.interrupts.size === 0) return
    const [id, question] = chance.pick([...thread.interrupts])
    await send('run.resume', scene, {
      method: 'POST',
      path: `/threads/${thread.id}/runs/wait`,
      body: {
        assistant_id: 'verify',
        command: { resume: { [id]: session.createToken() } },
        metadata: { question },
        multitask_strategy: chance.pick(['enqueue', 'reject'] as const),
      },
    })
  },
}

const cancelRuns: Operation = {
  name: 'runs.cancel',
  weight: 2,
  async execute(scene) {
    const { thread: { id, runs }, client: { chance } } = scene
    if (runs.length === 0) return
    await send('runs.cancel', scene, {
      method: 'POST',
      path: `/runs/cancel?action=${pickCancel(chance)}`,
      body: { thread_id: id, run_ids: [...runs] },
    })
  },
}

/** Reads the stream of a run, and reads it again after one of its events. */
const followRun: Operation = {
  name: 'run.follow',
  weight: 4,
  async execute(scene) {
    const { thread: { id, runs }, client: { chance } } = scene
    if (runs.length === 0) return
    const path = `/threads/${id}/runs/${chance.pick(runs)}/stream?stream_mode=values`
    const { response } = await send('run.follow', scene, { method: 'GET', path })
    const { ids = [] } = (response ?? {}) as { ids?: string[] }
    if (ids.length === 0) return
    await send('run.follow', scene, { method: 'GET', path,
      headers: { 'last-event-id': chance.pick(ids) } })
  },
}

/** A run without a thread: its own thread is deleted when it ends. */
const statelessRun: Operation = {
  name: 'stateless.wait',
  weight: 3,
  async execute(scene) {
    const { session, client } = scene
    const body = createRunBody(scene)
    await session.call(client.number, {
      operation: 'stateless.wait',
      method: 'POST',
      path: '/runs/wait',
      body: { assistant_id: body.assistant_id, input: body.input },
    }, client.signal)
  },
}

export const runOperations: readonly Operation[] = [
  startRun('run.wait', 12, '/wait'),
  createRun,
  startRun('run.stream', 6, '/stream'),
  delayRun,
  injectMessage,
  resumeRun,
  cancelRuns,
  followRun,
  statelessRun,
  {
    name: 'run.list',
    weight: 4,
    execute: async (scene: Scene) => {
      const path = `/threads/${scene.thread.id}/runs?limit=100`
      await send('run.list', scene, { method: 'GET', path })
    },
  },
  onRun('run.get', 6, (path) => ({ method: 'GET', path })),
  onRun('run.join', 4, (path) => ({ method: 'GET', path: `${path}/join` })),
  onRun('run.delete', 1, (path) => ({ method: 'DELETE', path })),
  onRun('run.cancel', 6, (path, chance) => ({
    method: 'POST',
    path: `${path}/cancel?wait=${chance.pick(['0', '1'])}&action=${pickCancel(chance)}`,
  })),
]
