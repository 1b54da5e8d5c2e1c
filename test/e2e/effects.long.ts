/** Effects that happen once, on a server that is killed at random times. */

import { setTimeout as pause } from 'node:timers/promises'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { Chance } from '../simulation/chance.ts'
import { eventually } from '../support/eventually.ts'
import { openReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { clientOf } from '../support/server.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'

let receiver: Receiver
let server: ServerProcess
/** Milliseconds that the receiver takes to answer. */
let delayMs = 0

beforeAll(async () => {
  receiver = await openReceiver((_, response) =>
    void setTimeout(() => response.end('{"id":1}'), delayMs)
  )
  server = await startServer({ project: 'effects', args: oneWorker,
    env: { RECEIVER: receiver.url } })
}, 120_000)
afterAll(async () => {
  await server.close()
  await receiver.close()
})

/** The requests about an order: their keys, in their order. */
function sentFor(path: string, order: string): string[] {
  return receiver.received
    .filter(({ path: to, body }) => to === `/${path}` && body === JSON.stringify({ order }))
    .map(({ headers }) => String(headers['idempotency-key']))
}

/** Waits until the thread's runs are over. Starts one if the server knows of none. */
async function settled(threadId: string, graphId: string, order: string): Promise<string> {
  const { threads, runs } = clientOf(server.url)
  if ((await runs.list(threadId)).length === 0) {
    await runs.create(threadId, graphId, { input: { order } })
  }
  return eventually(async () => {
    const { status } = await threads.get(threadId)
    expect(status).not.toBe('busy')
    return status
  })
}

const graphs = ['shop', 'asking', 'mailing'] as const

const seed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)
/** The test of the night has a thousand. */
const kills = 1

it(`${kills} kills repeat no effect (HEDDLE_SEED=${seed})`, async () => {
  const chance = new Chance(seed)
  delayMs = 300
  let cutOff = 0
  for (let kill = 0; kill < kills; kill++) {
    const { threads, runs } = clientOf(server.url)
    const orders = await Promise.all(graphs.flatMap((graphId) => [graphId, graphId]).map(
      async (graphId, i) => {
        const { thread_id: threadId } = await threads.create()
        return { graphId, threadId, order: `${kill}-${i}` }
      },
    ))
    const begun = orders.map(({ threadId, graphId, order }) =>
      runs.create(threadId, graphId, { input: { order },
        ...chance.flip(0.3) && { durability: 'exit' as const } }).catch(() => {})
    )
    await pause(chance.between(20, 900))
    await server.kill('SIGKILL')
    await Promise.all(begun)
    await server.restart()
    for (const { threadId, graphId, order } of orders) {
      const ended = await settled(threadId, graphId, order)
      const requests = sentFor(graphId === 'mailing' ? 'mail' : 'charge', order)
      const waits = ended === 'interrupted'
      if (graphId === 'mailing') {
        // Nobody has decided yet.
        expect(requests.length, `${order} ${ended}`).toBeLessThanOrEqual(1)
        if (!waits) expect(requests, order).toHaveLength(1)
        if (waits) cutOff++
        continue
      }
      expect(new Set(requests).size, `${order} ${ended}`).toBe(1)
      if (requests.length > 1) cutOff++
      if (graphId !== 'asking') continue
      expect(waits, order).toBe(true)
      await clientOf(server.url).runs.wait(threadId, graphId, { command: { resume: 'yes' } })
      expect(sentFor('charge', order), order).toHaveLength(requests.length)
    }
  }
  console.log(`${kills} kills cut ${cutOff} effects off`)
}, 100_000 + kills * 60_000)

it('An answer to a question costs no model call and no charge again.', async () => {
  delayMs = 0
  const { threads, runs } = clientOf(server.url)
  const { thread_id: threadId } = await threads.create()
  await runs.wait(threadId, 'asking', { input: { order: 'q' } })
  const [{ run_id: runId } = { run_id: '' }] = await runs.list(threadId)
  expect(await (await fetch(`${server.url}/threads/${threadId}/runs/${runId}/effects`)).json())
    .toMatchObject({ truncated: false, effects: [
      { name: 'model', strength: 'keep', status: 'done', key: null },
      { name: 'charge', strength: 'once', status: 'done', key: expect.stringMatching(/^hdl_/) },
    ] })
  const values = await runs.wait(threadId, 'asking', { command: { resume: 'yes' } })
  expect(values).toMatchObject({ order: 'q', paid: { id: 1 }, said: 'yes' })
  expect(sentFor('charge', 'q')).toHaveLength(1)
  expect(sentFor('model', 'q')).toHaveLength(1)
})

it('HTTP calls that match a rule are answered in the next attempt, others are made.', async () => {
  let answers = 0
  const called = await openReceiver((_, response) => response.end(String(++answers)), '127.0.0.1',
    8_471)
  try {
    const { threads, runs } = clientOf(server.url)
    const { thread_id: threadId } = await threads.create()
    await runs.wait(threadId, 'calling', { input: { order: 'x' } })
    expect(await runs.wait(threadId, 'calling', { command: { resume: 'yes' } }))
      .toMatchObject({ paid: ['1', '2', '4'], said: 'yes' })
    expect(called.received.map(({ path, headers }) => [path, headers['idempotency-key']])).toEqual([
      ['/model/large', undefined],
      ['/charge', expect.stringMatching(/^hdl_/)],
      ['/other', undefined],
      ['/other', undefined],
    ])
  } finally {
    await called.close()
  }
})

it('A charge of a stateless run is made once, and a mail is sent as a person decides.',
  async () => {
    delayMs = 2_000
    const { threads, runs } = clientOf(server.url)
    const decisions = [['done', 1], ['do', 2]] as const
    const mails = await Promise.all(decisions.map(async ([decision, times]) => {
      const { thread_id: threadId } = await threads.create()
      await runs.create(threadId, 'mailing', { input: { order: decision } })
      return { decision, times, threadId }
    }))
    const alone = runs.wait(null, 'shop', { input: { order: 'lone' }, onDisconnect: 'continue' })
      .catch(() => {})
    await eventually(() => {
      expect(sentFor('charge', 'lone')).toHaveLength(1)
      for (const { decision } of mails) expect(sentFor('mail', decision)).toHaveLength(1)
    })
    await server.kill('SIGKILL')
    await alone
    await server.restart()
    delayMs = 0
    await eventually(() => expect(sentFor('charge', 'lone')).toHaveLength(2))
    expect(new Set(sentFor('charge', 'lone')).size).toBe(1)
    for (const { decision, times, threadId } of mails) {
      expect(await settled(threadId, 'mailing', decision)).toBe('interrupted')
      const [asking] = await threads.search({ ids: [threadId] })
      expect(Object.values(asking!.interrupts).flat()).toMatchObject([
        { value: { reason: 'effect', effect: 'mail', input: { order: decision } } },
      ])
      expect(sentFor('mail', decision)).toHaveLength(1)
      await runs.wait(threadId, 'mailing', { command: { resume: decision } })
      expect(sentFor('mail', decision)).toHaveLength(times)
      expect((await threads.get(threadId)).status).toBe('idle')
    }
  }, 240_000)

it('A server whose clients cannot be seen refuses calls that must happen once.', async () => {
  // A version of Node in which requests do not ask their agents.
  const other = `import { Agent } from 'node:http'
    const { addRequest } = Agent.prototype
    Object.defineProperty(Agent.prototype, 'addRequest', { get: () => addRequest, set() {} })`
  let printed = ''
  const started = startServer({ project: 'effects', args: oneWorker,
    env: { RECEIVER: receiver.url,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(other)}` },
    received: (output) => {
      printed = output
    } })
  // It may answer its first request before it ends.
  await started.then(async (unfit) => {
    await unfit.exited()
    await unfit.close()
  }, () => {})
  await eventually(() =>
    expect(printed).toContain('The effect "POST http://127.0.0.1:8471/charge" and 1 more cannot ' +
      'be kept from happening twice, because calls of node:http are not seen: no graph of this ' +
      'project')
  )
}, 60_000)
