/** Requests that are wrong. The server rejects them with 4xx, and they have no effect. */

import { createRunBody, createUpdateBody, send } from './operation.ts'
import type { Operation } from './operation.ts'

const unknownId = '00000000-0000-4000-8000-000000000000'

export const wrongRequest: Operation = {
  name: 'wrong',
  weight: 5,
  async execute(scene) {
    const { thread: { id }, session, client: { chance } } = scene
    const body = createRunBody(scene)
    const post = (path: string, wrong: unknown) => ({ method: 'POST' as const, path, body: wrong })
    const requests = [
      ['thread', post(`/threads/${unknownId}/runs`, body)],
      ['run', { method: 'GET' as const, path: `/threads/${id}/runs/${unknownId}` }],
      ['cancel', { method: 'POST' as const, path: `/threads/${id}/runs/${unknownId}/cancel` }],
      ['assistant', post(`/threads/${id}/runs`, { ...body, assistant_id: 'missing' })],
      ['strategy', post(`/threads/${id}/runs`, { ...body, multitask_strategy: 'never' })],
      ['json', post(`/threads/${id}/runs`, '{"assistant_id":')],
      ['channel', post(`/threads/${id}/state`, { values: { missing: session.createToken() } })],
      ['node', post(`/threads/${id}/state`, { ...createUpdateBody(scene), as_node: 'missing' })],
      ['checkpoint', post(`/threads/${id}/state`, {
        ...createUpdateBody(scene),
        checkpoint_id: unknownId,
      })],
    ] as const
    const offered = requests.filter(([kind]) => session.offers(`wrong.${kind}`))
    const [name, request] = chance.pick(offered)
    await send(`wrong.${name}`, scene, request)
  },
}
