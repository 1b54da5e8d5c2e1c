/** The server that the streaming suite makes: passes every request on to the one under test. */

import { Hono } from 'hono'

import { address, ask, deleteThreads } from './address.mjs'

/** Takes the suite's graphs and stores for those of the server. */
export function createEmbedServer({ threads, checkpointer }) {
  threads.truncate = deleteThreads
  checkpointer.list = checkpoints
  return new Hono().all('*', ({ req }) => passOn(req.raw))
}

/** The checkpoints of a thread, newest first, as the suite reads them from its own saver. */
async function* checkpoints({ configurable }) {
  const states = await ask(`/threads/${configurable.thread_id}/history`, { limit: 100 })
  for (const { checkpoint, parent_checkpoint: parent, metadata } of states) {
    yield {
      config: { configurable: checkpoint },
      checkpoint: { id: checkpoint.checkpoint_id },
      metadata,
      parentConfig: parent ? { configurable: parent } : undefined,
    }
  }
}

/** Sends the same request to the server under test. */
async function passOn(request) {
  const { pathname, search } = new URL(request.url)
  const body = request.body === null ? undefined : await request.text()
  const { method, headers, signal } = request
  return globalThis.fetch(`${address}${pathname}${search}`, { method, headers, body, signal })
}
