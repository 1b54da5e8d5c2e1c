/** The server under test. */

/** Its address. */
export const address = process.env.HEDDLE_URL ?? 'http://localhost:2024'

/** Posts to it, and gives the answer's JSON. */
export async function ask(path, body) {
  const response = await globalThis.fetch(`${address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return response.json()
}

/** Deletes the threads of now: suites do not wait for it before they make others. */
export async function deleteThreads() {
  const now = new Date().toISOString()
  for (;;) {
    const page = { limit: 100, select: ['thread_id', 'created_at'], sort_by: 'created_at' }
    const found = await ask('/threads/search', { ...page, sort_order: 'asc' })
    const old = found.filter(({ created_at: at }) => new Date(at).toISOString() < now)
    if (old.length === 0) return
    await Promise.all(
      old.map(({ thread_id: id }) =>
        globalThis.fetch(`${address}/threads/${id}`, { method: 'DELETE' })
      ),
    )
  }
}

/** Deletes all items of the store. */
export async function deleteItems() {
  for (;;) {
    const { items } = await ask('/store/items/search', { namespace_prefix: [], limit: 100 })
    if (items.length === 0) return
    await Promise.all(items.map(({ namespace, key }) =>
      globalThis.fetch(`${address}/store/items`, {
        method: 'DELETE',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ namespace, key }),
      })
    ))
  }
}
