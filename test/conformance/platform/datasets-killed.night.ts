/** Servers that are killed while datasets grow: what was answered is there, nothing is twice. */

import { randomUUID } from 'node:crypto'

import { expect, it } from 'vitest'

import { useServer } from '../../support/server.ts'
import { oneWorker } from '../../support/server-process.ts'
import { ask } from '../../support/wire.ts'
import { bodyOf, partsType } from './dataset-cases.ts'

const server = useServer({ project: 'conformance', args: oneWorker })

const send = (method: string, path: string, body?: unknown, type?: string) =>
  ask(server.url, method, `/api/v1${path}`, body,
    type === undefined ? {} : { 'content-type': type })

async function good<Body>(...request: Parameters<typeof send>): Promise<Body> {
  const { status, body } = await send(...request)
  expect(status, JSON.stringify(body).slice(0, 500)).toBeLessThan(300)
  return body as Body
}

async function kill(): Promise<void> {
  await server.process.kill('SIGKILL')
  await server.process.restart()
}

interface Example {
  readonly id: string
  readonly inputs: { readonly q: unknown }
}

async function all(dataset: string): Promise<readonly Example[]> {
  const found: Example[] = []
  for (;;) {
    const page = await good<readonly Example[]>('GET',
      `/examples?dataset=${dataset}&limit=1000&offset=${found.length}`)
    found.push(...page)
    if (page.length < 1_000) return found
  }
}

const newDataset = () => good<{ readonly id: string }>('POST', '/datasets', { name: randomUUID() })

/** A request for each example, with an attachment, as clients send it. */
function upload(dataset: string, id: string, q: number) {
  return send('POST', `/platform/datasets/${dataset}/examples`,
    bodyOf({ [id]: {}, [`${id}.inputs`]: { q },
      [`${id}.attachment.f`]: `file ${q} ${'f'.repeat(30_000)}` }), partsType)
}

it('Examples that were answered are there, and those that are sent again are there once',
  async () => {
    const { id: dataset } = await newDataset()
    const ids = Array.from({ length: 150 }, () => randomUUID())
    const answered = new Set<string>()
    for (const least of [20, 60, 100]) {
      const waiting = ids.filter((id) => !answered.has(id))
      let killed: Promise<void> | undefined
      const sender = async () => {
        for (let id = waiting.shift(); id !== undefined && killed === undefined;
          id = waiting.shift()) {
          const answer = await upload(dataset, id, ids.indexOf(id)).catch(() => undefined)
          if (answer === undefined) return
          expect([201, 429, 503], JSON.stringify(answer.body)).toContain(answer.status)
          if (answer.status === 201) answered.add(id)
          if (answered.size >= least) killed ??= kill()
        }
      }
      await Promise.all([sender(), sender(), sender(), sender()])
      await killed
      const found = (await all(dataset)).map(({ id }) => id)
      expect(new Set(found).size).toBe(found.length)
      expect([...answered].filter((id) => !found.includes(id))).toEqual([])
    }
    for (const [q, id] of ids.entries()) expect((await upload(dataset, id, q)).status).toBe(201)
    const found = new Map((await all(dataset)).map(({ id, inputs }) => [id, inputs.q]))
    expect(found).toEqual(new Map(ids.map((id, q) => [id, q])))
    expect(await good('GET', `/examples/count?dataset=${dataset}`)).toBe(ids.length)
  }, 120_000)

it('A bulk of examples is there as a whole or not at all', async () => {
  const { id: dataset } = await newDataset()
  const bulk = Array.from({ length: 3_000 },
    (_, q) => ({ id: randomUUID(), dataset_id: dataset, inputs: { q, text: 'x'.repeat(500) } }))
  let whole = 0
  for (const afterMs of [15, 40, 80, 160]) {
    const sent = send('POST', '/examples/bulk', bulk).catch(() => undefined)
    await Promise.race([sent, new Promise((later) => setTimeout(later, afterMs))])
    await kill()
    const answer = await sent
    const found = await all(dataset)
    expect([0, bulk.length]).toContain(found.length)
    if (answer?.status === 200 || whole > 0) expect(found).toHaveLength(bulk.length)
    whole = found.length
  }
  await good('POST', '/examples/bulk', bulk)
  expect((await all(dataset)).map(({ id }) => id)).toEqual(bulk.map(({ id }) => id))
}, 120_000)

it('A file that is sent again after a kill becomes one dataset', async () => {
  const name = `file ${randomUUID()}`
  const rows = Array.from({ length: 20_000 }, (_, q) => `${q},${'x'.repeat(100)}`)
  const file = `q,text\r\n${rows.join('\r\n')}\r\n`
  const sendFile = () =>
    send('POST', '/datasets/upload', bodyOf({ name, input_keys: 'q', file }), partsType)
  const first = sendFile().catch(() => undefined)
  const named = () =>
    good<readonly { readonly id: string; readonly example_count: number }[]>('GET',
      `/datasets?name=${encodeURIComponent(name)}`)
  // It has its name now, and its examples are on their way.
  while ((await named()).length === 0);
  await kill()
  expect(await first).toBeUndefined()
  const { id, example_count: count } = await good<{ id: string; example_count: number }>('POST',
    '/datasets/upload', bodyOf({ name, input_keys: 'q', file }), partsType)
  expect(count).toBe(rows.length)
  expect((await all(id)).map(({ inputs }) => inputs.q)).toEqual(rows.map((_, q) => String(q)))
  expect(await named()).toMatchObject([{ id, example_count: rows.length }])
  // By now the name is taken.
  expect((await sendFile()).status).toBe(409)
}, 120_000)
