/** Operations on the store item of a client. No other client writes it. */

import type { Operation } from './operation.ts'

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

/** Finds the items of all clients. */
const searchItems: Operation = {
  name: 'item.search',
  weight: 2,
  async execute({ session, client }) {
    await session.call(client.number, {
      operation: 'item.search',
      method: 'POST',
      path: '/store/items/search',
      body: { namespace_prefix: ['verify', session.name], limit: 100 },
    }, client.signal)
  },
}

export const itemOperations: readonly Operation[] = [
  onItem('item.put', 4, 'PUT'),
  onItem('item.get', 4, 'GET'),
  onItem('item.delete', 2, 'DELETE'),
  searchItems,
]
