/** `/internal/truncate`, which only the suite's own server has, by public operations. */

import { deleteItems, deleteThreads } from './address.mjs'

const { fetch } = globalThis

globalThis.fetch = async (input, init) => {
  const url = typeof input === 'string' ? input : input.url ?? input.href
  if (!url.endsWith('/internal/truncate')) return fetch(input, init)
  const { threads, store } = JSON.parse(init.body)
  if (threads) await deleteThreads()
  if (store) await deleteItems()
  return Response.json({ ok: true })
}
