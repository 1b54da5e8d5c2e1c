/** Operations by protocol v2: commands to a thread, and the events of all its runs. */

import { createRunBody, send } from './operation.ts'
import type { Operation, Scene } from './operation.ts'
import type { Reply } from './session.ts'
import { readEvents, runOnSocket } from './thread-events.ts'
import type { SeenEvent } from './thread-events.ts'
import { getThread } from './thread-operations.ts'

const channels = ['lifecycle', 'values', 'input'] as const
/** Milliseconds for which a stream of events is read: at least this, and below this more. */
const [minReadMs, moreReadMs] = [50, 600]
/** Longest time for which a socket waits for the end of its run, in milliseconds. */
const maxRunMs = 3_000
const checkpointLimit = 12

function toPath({ thread: { id } }: Scene, suffix: string): string {
  return `/threads/${id}/${suffix}`
}

/** Sends a command. */
function sendCommand(operation: string, scene: Scene, method: string,
  params: object): Promise<Reply> {
  return send(operation, scene, { method: 'POST', path: toPath(scene, 'commands'),
    body: { id: 1, method, params } })
}

/** Starts a run. If an interrupt is open, the input is the answer to it. */
const startRun: Operation = {
  name: 'v2.start',
  weight: 6,
  async execute(scene) {
    const { session: { deletions }, thread } = scene
    await deletions.create(thread.id,
      () => sendCommand('v2.start', scene, 'run.start', createRunBody(scene)))
  },
}

/** Starts a run on a WebSocket, and reads its events. */
const runOnThread: Operation = {
  name: 'v2.socket',
  weight: 3,
  async execute(scene) {
    const { session, client, thread } = scene
    const path = `${thread.base}${toPath(scene, 'stream/events')}`
    const command = { id: 1, method: 'run.start', params: createRunBody(scene) }
    await session.deletions.create(thread.id,
      () =>
        session.record(client.number, { operation: 'v2.socket', threadId: thread.id, method: 'GET',
          path, body: command }, (door) =>
          runOnSocket({ door, path, command, channels, ms: maxRunMs })))
  },
}

/** Answers an interrupt that a client has seen. */
const respond: Operation = {
  name: 'v2.respond',
  weight: 4,
  async execute(scene) {
    const { thread, session, client: { chance } } = scene
    await getThread.execute(scene)
    if (thread.interrupts.size === 0) return
    const [id, question] = chance.pick([...thread.interrupts])
    await sendCommand('v2.respond', scene, 'input.respond', { namespace: [], interrupt_id: id,
      response: session.createToken(), metadata: { question } })
  },
}

interface Checkpoints {
  readonly result?: { readonly checkpoints: readonly { readonly id: string }[] }
}

/** Starts a run at an earlier checkpoint. */
const forkRun: Operation = {
  name: 'v2.fork',
  weight: 1,
  async execute(scene) {
    const { response } = await sendCommand('v2.checkpoints', scene, 'state.listCheckpoints', {
      limit: checkpointLimit,
    })
    const { checkpoints = [] } = (response as Checkpoints | undefined)?.result ?? {}
    if (checkpoints.length === 0) return
    const { id } = scene.client.chance.pick(checkpoints)
    await sendCommand('v2.fork', scene, 'state.fork', { checkpoint_id: id,
      input: createRunBody(scene).input })
  },
}

/** Reads the events of the thread, and then once more after one of them. */
const followThread: Operation = {
  name: 'v2.events',
  weight: 3,
  async execute(scene) {
    const { chance } = scene.client
    const { response } = await sendEvents(scene, {}, {})
    const { events = [] } = (response ?? {}) as { events?: readonly SeenEvent[] }
    if (events.length === 0) return
    const { id, seq } = chance.pick(events)
    if (chance.flip(0.5)) await sendEvents(scene, { since: seq }, {})
    else await sendEvents(scene, {}, { 'last-event-id': id })
  },
}

async function sendEvents(scene: Scene, filter: object,
  headers: Readonly<Record<string, string>>): Promise<Reply> {
  const { session, client: { number, chance }, thread } = scene
  const path = `${thread.base}${toPath(scene, 'stream/events')}`
  const body = { channels, ...filter }
  const ms = minReadMs + chance.below(moreReadMs)
  return await session.record(number, { operation: 'v2.events', threadId: thread.id, method: 'POST',
    path, headers, body }, (door) => readEvents({ door, path, body, headers, ms }))
}

export const protocolOperations: readonly Operation[] = [startRun, runOnThread, respond, forkRun,
  followThread, {
  name: 'v2.state',
  weight: 3,
  execute: async (scene: Scene) => {
    await sendCommand('v2.state', scene, 'state.get', {})
  },
}, {
  name: 'v2.tree',
  weight: 2,
  execute: async (scene: Scene) => {
    const { thread: { runs }, client: { chance } } = scene
    if (runs.length === 0) return
    await sendCommand('v2.tree', scene, 'agent.getTree', { run_id: chance.pick(runs) })
  },
}]
