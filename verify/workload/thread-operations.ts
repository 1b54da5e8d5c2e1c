/** Operations on threads and their states. */

import { createUpdateBody, send } from './operation.ts'
import type { Operation, Scene } from './operation.ts'
import type { Client, Reply, Session } from './session.ts'

interface Interrupt {
  readonly id: string
  readonly value?: { readonly token?: string }
}

export const getThread: Operation = {
  name: 'thread.get',
  weight: 6,
  async execute(scene) {
    const { thread } = scene
    const reply = await send('thread.get', scene, { method: 'GET', path: `/threads/${thread.id}` })
    if (reply.status !== 200) return
    const { interrupts } = reply.response as { interrupts?: Record<string, readonly Interrupt[]> }
    const open = interrupts ? Object.values(interrupts).flat() : await readInterrupts(scene)
    // An interrupt without a token is the question of an effect, which this workload leaves open.
    thread.interrupts = new Map(
      open.flatMap(({ id, value }) => value?.token === undefined ? [] : [[id, value.token]]),
    )
  },
}

/** Of a server whose threads have no field of interrupts: those of the state. */
async function readInterrupts(scene: Scene): Promise<readonly Interrupt[]> {
  const { response } = await sendGetState(scene)
  return (response as { interrupts?: readonly Interrupt[] } | undefined)?.interrupts ?? []
}

function sendGetState(scene: Scene): Promise<Reply> {
  return send('thread.state', scene, { method: 'GET', path: `/threads/${scene.thread.id}/state` })
}

const getState: Operation = {
  name: 'thread.state',
  weight: 6,
  async execute(scene) {
    await sendGetState(scene)
  },
}

const updateState: Operation = {
  name: 'state.update',
  weight: 4,
  async execute(scene) {
    await send('state.update', scene, {
      method: 'POST',
      path: `/threads/${scene.thread.id}/state`,
      body: createUpdateBody(scene),
    })
  },
}

const [historyLength, searchLimit] = [12, 1_000]

/** Goes back to an earlier checkpoint and continues from there with an update. */
const forkThread: Operation = {
  name: 'thread.fork',
  weight: 2,
  async execute(scene) {
    const { thread: { id }, client: { chance } } = scene
    const path = `/threads/${id}/history?limit=${historyLength}`
    const { status, response } = await send('thread.history', scene, { method: 'GET', path })
    if (status !== 200) return
    const history = response as readonly { readonly checkpoint: { checkpoint_id: string } }[]
    if (history.length === 0) return
    await send('thread.fork', scene, {
      method: 'POST',
      path: `/threads/${id}/state`,
      body: {
        ...createUpdateBody(scene),
        checkpoint_id: chance.pick(history).checkpoint.checkpoint_id,
      },
    })
  },
}

/** Sets the metadata of the client, which no other client sets. */
const patchThread: Operation = {
  name: 'thread.patch',
  weight: 3,
  async execute(scene) {
    const { session, client, thread } = scene
    await send('thread.patch', scene, {
      method: 'PATCH',
      path: `/threads/${thread.id}`,
      body: { metadata: { [`client-${client.number}`]: session.createToken() } },
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
    if (reply.status === 200 && copy !== undefined) session.addThread(copy, thread.base)
  },
}

/** Removes all but the last checkpoint of a thread. */
const pruneThread: Operation = {
  name: 'thread.prune',
  weight: 1,
  async execute(scene) {
    await send('thread.prune', scene, {
      method: 'POST',
      path: '/threads/prune',
      body: { thread_ids: [scene.thread.id], strategy: 'keep_latest' },
    })
  },
}

/** Deletes a thread that has no unfinished run, as a member of a bulk deletion. */
const removeThread: Operation = {
  name: 'thread.remove',
  weight: 0.7,
  async execute(scene) {
    const { session, thread } = scene
    if (!session.deletions.startDeletion(thread.id)) return
    const reply = await send('thread.remove', scene, {
      method: 'POST',
      path: '/threads/prune',
      body: { thread_ids: [thread.id], strategy: 'delete' },
    })
    const { pruned_count: count } = (reply.response ?? {}) as { pruned_count?: number }
    if (count === 0) session.deletions.cancelDeletion(thread.id)
    else session.removeThread(thread.id)
    await getThread.execute(scene)
  },
}

/** Lists the threads of the session. */
const searchThreads: Operation = {
  name: 'thread.search',
  weight: 3,
  async execute({ session, client, thread }) {
    await session.call(client.number, {
      operation: 'thread.search',
      method: 'POST',
      path: `${thread.base}/threads/search`,
      body: { metadata: { verify: session.name }, limit: searchLimit },
    }, client.signal)
  },
}

/** Deletes a thread. Clients that have not noticed yet continue to use it. */
const deleteThread: Operation = {
  name: 'thread.delete',
  weight: 1,
  async execute(scene) {
    const { session, thread } = scene
    if (!session.deletions.startDeletion(thread.id)) return
    session.removeThread(thread.id)
    await send('thread.delete', scene, { method: 'DELETE', path: `/threads/${thread.id}` })
    await getThread.execute(scene)
    await updateState.execute(scene)
  },
}

/** Creates a thread that all clients use. */
export async function createThread(session: Session, client: Client): Promise<void> {
  const base = client.chance.pick(session.bases)
  const { status, response } = await session.call(client.number, {
    operation: 'thread.create',
    method: 'POST',
    path: `${base}/threads`,
    body: { metadata: { verify: session.name } },
  }, client.signal)
  if (status === 200) session.addThread((response as { thread_id: string }).thread_id, base)
}

export const threadOperations: readonly Operation[] = [getThread, getState, updateState, forkThread,
  patchThread, copyThread, pruneThread, removeThread, searchThreads, deleteThread]
