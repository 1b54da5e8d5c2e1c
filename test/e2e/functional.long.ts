/** Effects in the functional API: in entrypoints, tasks, tasks of tasks, and in subgraphs. */

import type { ServerResponse } from 'node:http'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { eventually } from '../support/eventually.ts'
import { openReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { clientOf } from '../support/server.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'

let receiver: Receiver
let server: ServerProcess
/** Requests that get no answer for now. */
let holds: (path: string, what: string) => boolean = () => false

beforeAll(async () => {
  receiver = await openReceiver(({ path, body }, response: ServerResponse) => {
    const { what } = JSON.parse(body) as { readonly what: string }
    if (!holds(path.slice(1), what)) response.end(`${path.slice(1)} ${what}`)
  }, '127.0.0.1', 8_473)
  server = await startServer({ project: 'functional', args: oneWorker })
}, 120_000)
afterAll(async () => {
  await server?.close()
  await receiver.close()
})

/** The keys of the requests about an order, by `path what`, in their order. */
function sentFor(order: string): Record<string, string[]> {
  const sent = receiver.received.map(({ path, body, headers }) => ({
    at: `${path.slice(1)} ${(JSON.parse(body) as { readonly what: string }).what}`,
    key: String(headers['idempotency-key']),
  })).filter(({ at }) => at.split(' ')[1] === order)
  return Object.fromEntries(Object.entries(Object.groupBy(sent, ({ at }) => at))
    .map(([at, all]) => [at, all!.map(({ key }) => key)]))
}

/** All that an errand pays, in its order. */
const paidFor = (order: string) =>
  ['direct', 'a', 'b', 'outer', 'inner', 'asking'].flatMap((what) =>
    what === 'outer'
      ? [`coded ${order} ${what}`]
      : ['coded', 'charge', 'model'].map((path) => `${path} ${order} ${what}`)
  )

async function begun(graphId: string, order: string): Promise<string> {
  const { threads, runs } = clientOf(server.url)
  const { thread_id: threadId } = await threads.create()
  await runs.create(threadId, graphId, { input: { order } })
  return threadId
}

/** Waits until the thread is busy no more. */
async function settled(threadId: string) {
  return eventually(async () => {
    const thread = await clientOf(server.url).threads.get(threadId)
    expect(thread.status).not.toBe('busy')
    return thread
  })
}

describe.each(['errand', 'around'])('effects of the graph %s', (graphId) => {
  it('are done once, with a key each, and not again when a person answers', async () => {
    const order = `${graphId}-asked`
    const threadId = await begun(graphId, order)
    expect(await settled(threadId)).toMatchObject({ status: 'interrupted' })
    const sent = sentFor(order)
    expect(Object.keys(sent).toSorted()).toEqual(paidFor(order).toSorted())
    expect(Object.values(sent).filter(({ length }) => length > 1)).toEqual([])
    const keyed = Object.entries(sent).filter(([at]) => !at.startsWith('model'))
    expect(new Set(keyed.map(([, [key]]) => key)).size).toBe(keyed.length)
    for (const [at, [key]] of keyed) expect(key, at).toMatch(/^hdl_/)
    const values = await clientOf(server.url).runs.wait(threadId, graphId, {
      command: { resume: 'yes' },
    })
    expect(values).toMatchObject({ paid: [...paidFor(order), 'yes'] })
    expect(sentFor(order)).toEqual(sent)
  })

  it('are done again with their key after a death, if they were under way', async () => {
    const order = `${graphId}-killed`
    const isCut = (at: string) => / [ab]$/.test(at) && at.startsWith('coded')
    holds = (path, what) => what.startsWith(order) && isCut(`${path} ${what}`)
    const threadId = await begun(graphId, order)
    const both = [`coded ${order} a`, `coded ${order} b`]
    await eventually(() =>
      expect(Object.keys(sentFor(order))).toEqual(
        expect.arrayContaining(both),
      )
    )
    await server.kill('SIGKILL')
    holds = () => false
    await server.restart()
    expect(await settled(threadId)).toMatchObject({ status: 'interrupted' })
    const sent = sentFor(order)
    expect(Object.keys(sent).toSorted()).toEqual(paidFor(order).toSorted())
    for (const [at, keys] of Object.entries(sent)) {
      expect(keys, at).toHaveLength(isCut(at) ? 2 : 1)
      expect(new Set(keys).size, at).toBe(1)
    }
    expect(new Set(both.map((at) => sent[at]![0])).size).toBe(2)
  })
})

const decisions = ['done', 'do', 'fail'] as const

it('A mail that may have left is sent again only as a person decides, whoever catches errors.',
  async () => {
    const graphs = ['mailing', 'deep', 'writing'] as const
    holds = (path) => path === 'mail' || path === 'coded'
    const mails = await Promise.all(graphs.flatMap((graphId) =>
      decisions.map(async (decision) => {
        const order = `${graphId}-${decision}`
        return { graphId, decision, order, threadId: await begun(graphId, order) }
      })
    ))
    await eventually(() => {
      for (const { order } of mails) expect(Object.keys(sentFor(order))).toHaveLength(1)
    })
    await server.kill('SIGKILL')
    holds = () => false
    await server.restart()
    await Promise.all(mails.map(async ({ graphId, decision, order, threadId }) => {
      const at = `${graphId === 'writing' ? 'coded' : 'mail'} ${order}`
      const asking = await settled(threadId)
      expect(asking.status, order).toBe('interrupted')
      expect(Object.values(asking.interrupts).flat()[0], order).toMatchObject({
        value: { reason: 'effect' },
      })
      expect(sentFor(order), order).toEqual({ [at]: [expect.anything()] })
      const { runs, threads } = clientOf(server.url)
      await runs.wait(threadId, graphId, { command: { resume: decision } }).catch(() => {})
      const { status, values } = await threads.get(threadId)
      // What a person lets fail has failed: code around it may do it another way.
      const other = decision === 'fail' && graphId !== 'writing' ? [`other ${order}`] : []
      expect(Object.keys(sentFor(order)), order).toEqual([at, ...other])
      expect(sentFor(order)[at], order).toHaveLength(decision === 'do' ? 2 : 1)
      // The engine fails each graph of which a task of the functional API has failed.
      const fails = decision === 'fail' && graphId !== 'deep'
      expect(status, order).toBe(fails ? 'error' : 'idle')
      if (decision === 'do') expect(values, order).toMatchObject({ sent: at })
    }))
  })
