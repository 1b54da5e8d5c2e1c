/** Operations on the thread of a client that has a time to live. No other client uses it. */

import { createRunBody } from './operation.ts'
import type { Operation, Scene } from './operation.ts'
import type { Request } from './session.ts'

/** Time to live in seconds: at least this, and below this more. */
const [minTtlS, moreTtlS] = [2, 6]

const createMortal: Operation = {
  name: 'mortal.create',
  weight: 2,
  async execute({ session, client }) {
    const { status, response } = await session.call(client.number, {
      operation: 'mortal.create',
      method: 'POST',
      path: '/threads',
      body: {
        metadata: { mortal: session.name },
        ttl: (minTtlS + client.chance.below(moreTtlS)) / 60,
      },
    }, client.signal)
    if (status !== 200) return
    session.mortals.set(client.number, (response as { thread_id: string }).thread_id)
  },
}

/** An operation on the newest such thread of the client. Does nothing if there is none. */
function onMortal(name: string, weight: number,
  toRequest: (scene: Scene) => Omit<Request, 'operation'>): Operation {
  return {
    name,
    weight,
    async execute(scene) {
      const { session, client } = scene
      const id = session.mortals.get(client.number)
      if (id === undefined) return
      const { path, ...request } = toRequest(scene)
      await session.call(client.number, { operation: name, path: `/threads/${id}${path}`,
        ...request }, client.signal)
    },
  }
}

const searchMortals: Operation = {
  name: 'mortal.search',
  weight: 1,
  async execute({ session, client }) {
    await session.call(client.number, {
      operation: 'mortal.search',
      method: 'POST',
      path: '/threads/search',
      body: { metadata: { mortal: session.name }, limit: 1_000 },
    }, client.signal)
  },
}

export const mortalOperations: readonly Operation[] = [
  createMortal,
  searchMortals,
  onMortal('mortal.get', 8, () => ({ method: 'GET', path: '' })),
  onMortal('mortal.run', 1, (scene) => ({
    method: 'POST',
    path: '/runs/wait',
    body: { assistant_id: 'verify', input: createRunBody(scene).input },
  })),
]
