/** Annotation queues as clients use them: what is added, who looks at it, and what is done. */

import { Client } from 'langsmith'
import { beforeAll, expect, it } from 'vitest'

import { isNight } from '../../support/repeats.ts'
import { useTenant } from '../../support/tenant.ts'

const server = useTenant({ kills: isNight })

let client: Client
const ids = Array.from({ length: 5 }, () => crypto.randomUUID())
let project = ''

const send = async (method: string, path: string, body?: unknown, headers = {}) =>
  server.ask(method, `/api/v1${path}`, body, headers)
const read = async (path: string) => (await send('GET', path)).body as Record<string, unknown>

async function all<Item>(list: AsyncIterable<Item>): Promise<readonly Item[]> {
  const items: Item[] = []
  for await (const item of list) items.push(item)
  return items
}

beforeAll(async () => {
  client = new Client({ apiUrl: `${server.url}/api/v1`, apiKey: server.key })
  const post = ids.map((id, index) => ({ id, trace_id: id, name: `run ${index}`, run_type: 'chain',
    session_name: 'queued', inputs: { index }, start_time: Date.now(), end_time: Date.now(),
    dotted_order: `20991126T20000000000${index}Z${id}` })
  )
  expect((await send('POST', '/runs/batch', { post, patch: [] })).status).toBe(202)
  project = (await read(`/runs/${ids[0]}`))['session_id'] as string
})

it('The client makes, reads, changes and deletes queues', async () => {
  const made = await client.createAnnotationQueue({ name: 'first', description: 'd',
    rubricInstructions: 'Look.' })
  const second = await client.createAnnotationQueue({ name: 'second',
    queueId: crypto.randomUUID() })
  await expect(client.createAnnotationQueue({ name: 'first' })).rejects.toThrow()
  const rubric = [{ feedback_key: 'good', description: 'Is it?' }]
  await client.updateAnnotationQueue(made.id, { name: 'renamed', description: 'e',
    rubricInstructions: 'Look again.' })
  await send('PATCH', `/annotation-queues/${made.id}`, { rubric_items: rubric, name: null })
  expect(await client.readAnnotationQueue(made.id)).toMatchObject({ name: 'renamed',
    description: 'e', rubric_instructions: 'Look again.', rubric_items: rubric })
  const names = async (query: Parameters<Client['listAnnotationQueues']>[0]) =>
    (await all(client.listAnnotationQueues(query))).map(({ name }) => name).sort()
  expect(await names({})).toEqual(['renamed', 'second'])
  expect(await names({ name: 'second' })).toEqual(['second'])
  expect(await names({ nameContains: 'NAME' })).toEqual(['renamed'])
  expect(await names({ queueIds: [second.id] })).toEqual(['second'])
  await client.deleteAnnotationQueue(second.id)
  await client.deleteAnnotationQueue(made.id)
  expect(await names({})).toEqual([])
  await expect(client.readAnnotationQueue(made.id)).rejects.toThrow()
})

it('Runs are in a queue once, in the order in which they were added', async () => {
  const { id } = await client.createAnnotationQueue({ name: 'runs' })
  await client.addRunsToAnnotationQueue(id, ids.slice(0, 2))
  await client.addRunsToAnnotationQueue(id, [ids[1]!])
  await client.addRunsToAnnotationQueue(id, [{ runId: ids[2]!, sessionId: project,
    startTime: new Date() }])
  expect(await client.getSizeFromAnnotationQueue(id)).toEqual({ size: 3 })
  const listed = await all(client.listRunsFromAnnotationQueue(id))
  expect(listed.slice(0, 2).map((run) => run.id).sort()).toEqual(ids.slice(0, 2).sort())
  expect(listed[2]).toMatchObject({ id: ids[2], inputs: { index: 2 } })
  expect((await client.getRunFromAnnotationQueue(id, 2)).id).toBe(ids[2])
  await expect(client.getRunFromAnnotationQueue(id, 3)).rejects.toThrow(/404/)
  expect(await read(`/annotation-queues/${ids[2]}/queues`)).toMatchObject([{ id, total_runs: 3 }])
  await client.deleteRunFromAnnotationQueue(id, ids[0]!)
  const [{ queue_run_id: item }] = await read(`/annotation-queues/${id}/runs`) as unknown as [
    { queue_run_id: string },
  ]
  await client.deleteRunFromAnnotationQueue(id, item)
  await expect(client.deleteRunFromAnnotationQueue(id, item)).rejects.toThrow(/404/)
  expect((await all(client.listRunsFromAnnotationQueue(id))).map((run) => run.id))
    .toEqual([ids[2]])
  expect((await send('POST', `/annotation-queues/${id}/runs`, ['x'])).status).toBe(422)
  await send('POST', '/annotation-queues/populate', { queue_id: id, session_ids: [project] })
  expect(await read(`/annotation-queues/${id}/total_size`)).toEqual({ size: 5 })
  await send('POST', `/annotation-queues/${id}/runs/delete`, { delete_all: true,
    exclude_run_ids: [ids[4]] })
  expect((await all(client.listRunsFromAnnotationQueue(id))).map((run) => run.id))
    .toEqual([ids[4]])
  if (isNight) {
    await server.process.kill('SIGKILL')
    await server.process.restart()
  }
  expect(await read(`/annotation-queues/${id}`)).toMatchObject({ name: 'runs', total_runs: 1 })
  expect(await read(`/annotation-queues/${id}/size`)).toEqual({ size: 1 })
})

it('A run that is done leaves the list of its reviewer', async () => {
  const { id } = await client.createAnnotationQueue({ name: 'done' })
  const root = `/platform/annotation-queues/${id}/items`
  const { body } = await send('POST', root, {
    items: [{ run_id: ids[0] }, { run_id: ids[1], item_type: 'RUN', project_id: project }, {
      item_type: 'THREAD',
      thread_id: 't',
      project_id: project,
    }],
  })
  const [first, second, thread] = (body as { items: { id: string }[] }).items
    .map((item) => item.id)
  const counts = async () => {
    const one = async (status: string) => (await read(`${root}/count?status=${status}`))['count']
    return [await one('all'), await one('needs_my_review'), await one('needs_others_review'),
      await one('archived')]
  }
  expect(await counts()).toEqual([3, 3, 0, 0])
  expect(
    await send('POST', `/platform/annotation-queues/items/${first}/status`, {
      status: 'completed',
    }),
  ).toMatchObject({ status: 200, body: { is_archived: true } })
  expect(await counts()).toEqual([3, 2, 0, 1])
  await send('POST', `/annotation-queues/status/${first}`, { status: null })
  expect(await counts()).toEqual([3, 3, 0, 0])
  await send('PATCH', `/annotation-queues/${id}`, { num_reviewers_per_item: 2 })
  await send('POST', `/annotation-queues/status/${second}`, { status: 'completed' })
  expect(await counts()).toEqual([3, 2, 1, 0])
  const page = await read(`${root}?status=needs_my_review&page_size=1`)
  expect(page).toMatchObject({ items: [{ item_type: expect.any(String) }], next_cursor: '1' })
  const next = await read(`${root}?status=needs_my_review&page_size=1&cursor=1`)
  expect(next['next_cursor']).toBeNull()
  expect(await read(`${root}?item_type=THREAD`)).toMatchObject({
    items: [{ id: thread, thread_id: 't' }],
  })
  expect(await read(`${root}/${second}/placement`)).toMatchObject({ section: 'needs_others_review',
    position: 0 })
  await send('PATCH', `${root}/${thread}`, { added_at: '2020-01-01T00:00:00Z' })
  expect(await read(`${root}/${thread}/placement`)).toMatchObject({ section: 'needs_my_review',
    position: 0 })
  await send('POST', `${root}/delete`, { item_ids: [first, second, thread] })
  expect(await counts()).toEqual([0, 0, 0, 0])
  // Added again, it is to be looked at again.
  await send('POST', root, { items: [{ run_id: ids[1] }] })
  expect(await counts()).toEqual([1, 1, 0, 0])
  for (const [wrong, status] of [[{ items: [{ run_id: crypto.randomUUID() }] }, 404], [{
    items: [{}],
  }, 404], [{}, 422], [{ items: [{ item_type: 'X' }] }, 422]] as const) {
    expect((await send('POST', root, wrong)).status).toBe(status)
  }
})
