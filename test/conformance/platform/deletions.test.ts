/** Traces that a question finds are deleted behind the answer: no reader finds them any more. */

import { randomUUID } from 'node:crypto'

import { expect, it, vi } from 'vitest'

import { useServer } from '../../support/server.ts'
import { ask } from '../../support/wire.ts'

const server = useServer()

const send = (method: string, path: string, body?: object) =>
  ask(server.url, method, `/api/v1${path}`, body)

async function made(path: string, body: object): Promise<{ readonly id: string }> {
  const answer = await send('POST', path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body as { readonly id: string }
}

const newProject = async () => (await made('/sessions', { name: `deleted ${randomUUID()}` })).id

interface Sent {
  readonly root: string
  readonly child: string
}

/** A trace of two runs for each tag of the child. */
async function trace(session: string, tags: readonly string[]): Promise<readonly Sent[]> {
  const [now, ids] = [Date.now(),
    tags.map((): Sent => ({ root: randomUUID(), child: randomUUID() }))]
  const stamp = `${new Date(now).toISOString().replaceAll(/[-:.Z]/g, '')}000Z`
  const common = { session_id: session, start_time: now, end_time: now + 10 }
  const post = ids.flatMap(({ root, child }, at) => [
    { ...common, id: root, trace_id: root, name: 'root', run_type: 'chain', inputs: {}, outputs: {},
      dotted_order: stamp + root },
    { ...common, id: child, trace_id: root, parent_run_id: root, name: 'child', run_type: 'llm',
      tags: [tags[at]], inputs: { word: `${tags[at]}word` },
      outputs: { usage_metadata: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } },
      dotted_order: `${stamp}${root}.${stamp}${child}` },
  ])
  expect((await send('POST', '/runs/batch', { post, patch: [] })).status).toBe(202)
  return ids
}

/** The deletion when it has ended. */
async function ended(id: string) {
  return await vi.waitFor(async () => {
    const { body } = await send('GET', `/bulk-deletions/${id}`)
    expect(body).toMatchObject({ finished_at: expect.any(String) as string })
    return body as Readonly<Record<string, unknown>>
  }, { timeout: 60_000, interval: 50 })
}

it('Every reader forgets the traces, and no others', async () => {
  const [session, other] = [await newProject(), await newProject()]
  const bad = Array.from({ length: 250 }, () => 'bad')
  const [first] = await trace(session, bad)
  const kept = await trace(session, ['good', 'good', 'good'])
  const elsewhere = await trace(other, ['bad'])
  const { id: dataset } = await made('/datasets', { name: randomUUID() })
  const { id: example } = await made('/examples', { dataset_id: dataset, inputs: {},
    source_run_id: first!.child })
  const { id: feedback } = await made('/feedback', { run_id: first!.root, key: 'right', score: 1,
    session_id: session })
  const { body: share } = await send('PUT', `/runs/${first!.root}/share`)
  const { share_token: token } = share as { readonly share_token: string }
  const stats = async () => (await send('POST', '/runs/stats', { session: [session] })).body
  const search = async (word: string) => {
    const { body } = await send('POST', '/runs/query', { session: [session],
      filter: `search("${word}")`, select: ['id'] })
    return (body as { readonly runs: readonly unknown[] }).runs.length
  }
  const chart = async () => {
    const { body } = await send('POST', '/charts/preview', {
      bucket_info: { start_time: new Date(Date.now() - 3_600e3).toISOString(),
        end_time: new Date(Date.now() + 3_600e3).toISOString(), stride: { hours: 1 } },
      chart: { series: [{ name: 's', metric: 'run_count', filters: { session: [session] } }] },
    })
    const { data } = body as { readonly data: readonly { readonly value: number }[] }
    return data.reduce((sum, { value }) => sum + value, 0)
  }
  expect(await stats()).toMatchObject({ run_count: 506 })
  expect(await chart()).toBe(506)
  expect(await search('badword')).toBe(100)

  const asked = { session: [session], filter: 'has(tags, "bad")', start_time: Date.now() - 3_600e3 }
  const answer = await send('POST', '/bulk-deletions', asked)
  expect(answer).toMatchObject({ status: 202,
    body: { ...asked, status: 'Created', deleted_traces: 0 } })
  const { id } = answer.body as { readonly id: string }
  expect(await ended(id)).toMatchObject({ id, status: 'Completed', deleted_traces: 250,
    matched_runs: 250, error: null })

  expect(await stats()).toMatchObject({ run_count: 6, total_tokens: 6 })
  expect(await chart()).toBe(6)
  expect([await search('badword'), await search('goodword')]).toEqual([0, 3])
  for (const gone of [first!.root, first!.child]) {
    expect((await send('GET', `/runs/${gone}`)).status).toBe(404)
  }
  for (const { root } of [...kept, ...elsewhere]) {
    expect((await send('GET', `/runs/${root}`)).status).toBe(200)
  }
  expect((await send('GET', `/feedback/${feedback}`)).status).toBe(404)
  expect((await send('GET', `/public/${token}/run`)).status).toBe(404)
  const { body: lines } = await send('POST', '/runs/query', { trace: first!.root })
  expect(lines).toMatchObject({ runs: [] })
  expect((await send('GET', `/examples/${example}`)).body).toMatchObject({ id: example })
  const { body: list } = await send('GET', '/bulk-deletions')
  expect(list).toContainEqual(expect.objectContaining({ id, status: 'Completed' }))

  // What comes later stays, also if it would match.
  const [later] = await trace(session, ['bad'])
  expect((await send('GET', `/runs/${later!.root}`)).status).toBe(200)
}, 60_000)

it('Refuses what would delete more than was meant, and what nobody can read', async () => {
  const session = [await newProject()]
  const refused = async (body: object) => (await send('POST', '/bulk-deletions', body)).status
  expect(await refused({ session })).toBe(422)
  expect(await refused({ session, is_root: true, filter: '' })).toBe(422)
  expect(await refused({ session, fliter: 'eq(name, "x")' })).toBe(422)
  expect(await refused({ session, filter: 'eq(name, "x")', limit: 1 })).toBe(422)
  expect(await refused({ session, filter: 'eq(name' })).toBe(400)
  expect(await refused({ session, end_time: 'soon' })).toBe(422)
  expect(await refused({ session: [], filter: 'eq(name, "x")' })).toBe(422)
  expect(await refused({ filter: 'eq(name, "x")' })).toBe(422)
  expect(await refused({ session: [...session, randomUUID()], filter: 'eq(name, "x")' })).toBe(404)
  const unknown = `/bulk-deletions/${randomUUID()}`
  expect((await send('GET', unknown)).status).toBe(404)
  expect((await send('PATCH', unknown, { status: 'Cancelled' })).status).toBe(404)
})

it('One that has ended is not cancelled any more, and traces are deleted by their ids too',
  async () => {
    const session = await newProject()
    const [one, two] = await trace(session, ['a', 'b'])
    const { id } = await made('/bulk-deletions', { session: [session], filter: 'has(tags, "a")' })
    await ended(id)
    const { body } = await send('PATCH', `/bulk-deletions/${id}`, { status: 'Cancelled' })
    expect(body).toMatchObject({ status: 'Completed' })
    expect((await send('PATCH', `/bulk-deletions/${id}`, { status: 'Running' })).status).toBe(422)
    expect((await send('GET', `/runs/${one!.root}`)).status).toBe(404)
    expect(
      (await send('POST', '/runs/delete/traces', { session_id: session, trace_ids: [two!.root] }))
        .status,
    ).toBe(202)
    expect((await send('GET', `/runs/${two!.root}`)).status).toBe(404)
  })
