/** Operations on the cron of a client, which is due each minute. No other client changes it. */

import type { Operation, Scene } from './operation.ts'
import type { KnownCron, Request } from './session.ts'

const createCron: Operation = {
  name: 'cron.create',
  weight: 3,
  async execute({ session, client }) {
    if (session.crons.has(client.number)) return
    const token = session.createToken()
    const { status, response } = await session.call(client.number, {
      operation: 'cron.create',
      method: 'POST',
      path: '/runs/crons',
      body: {
        assistant_id: 'verify',
        schedule: '* * * * *',
        input: { task: { token, action: 'plain', ms: 0 } },
        metadata: { verify: session.name },
        on_run_completed: 'keep',
        webhook: `${session.tickUrl}?cron=${token}`,
      },
    }, client.signal)
    if (status !== 200) return
    session.crons.set(client.number, { id: (response as { cron_id: string }).cron_id, token })
  },
}

/** An operation on the cron of the client. Does nothing if there is none. */
function onCron(name: string, weight: number,
  toRequest: (scene: Scene) => Pick<Request, 'method' | 'body'>): Operation {
  return {
    name,
    weight,
    async execute(scene) {
      const { session, client } = scene
      const cron = session.crons.get(client.number)
      if (cron !== undefined) await sendCron(name, scene, cron, toRequest(scene))
    },
  }
}

async function sendCron(operation: string, { session, client }: Scene, { id }: KnownCron,
  request: Pick<Request, 'method' | 'body'>): Promise<void> {
  await session.call(client.number, { operation, path: `/runs/crons/${id}`, ...request },
    client.signal)
}

const searchCrons: Operation = {
  name: 'cron.search',
  weight: 1,
  async execute({ session, client }) {
    await session.call(client.number, {
      operation: 'cron.search',
      method: 'POST',
      path: '/runs/crons/search',
      body: { metadata: { verify: session.name }, limit: 100 },
    }, client.signal)
  },
}

const deleteCron: Operation = {
  name: 'cron.delete',
  weight: 0.3,
  async execute(scene) {
    const { session, client } = scene
    const cron = session.crons.get(client.number)
    if (cron === undefined) return
    session.crons.delete(client.number)
    await sendCron('cron.delete', scene, cron, { method: 'DELETE' })
    await sendCron('cron.get', scene, cron, { method: 'GET' })
  },
}

export const cronOperations: readonly Operation[] = [
  createCron,
  searchCrons,
  deleteCron,
  onCron('cron.get', 1, () => ({ method: 'GET' })),
  onCron('cron.update', 0.5, ({ client: { chance } }) => ({
    method: 'PATCH',
    body: { enabled: chance.flip(0.7) },
  })),
]
