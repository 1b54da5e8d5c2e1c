/** `/internal/truncate`, which only the suite's own server has, by public operations. */

import { address, deleteItems, deleteThreads } from './address.mjs'

const { fetch } = globalThis

globalThis.fetch = async (input, init) => {
  const url = typeof input === 'string' ? input : input.url ?? input.href
  if (!url.endsWith('/internal/truncate')) return fetch(input, init)
  const { threads, store } = JSON.parse(init.body)
  if (await hasLogin()) return Response.json({ ok: true })
  if (threads) await deleteThreads()
  if (store) await deleteItems()
  return Response.json({ ok: true })
}

/** True for a server with a login, which lets nobody delete without one: it starts empty. */
async function hasLogin() {
  const { status } = await fetch(`${address}/threads/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  return status === 401
}
