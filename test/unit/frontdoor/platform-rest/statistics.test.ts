/** Statistics over HTTP: their routes, and that tenants see only their own. */

import { expect, it } from 'vitest'

import { noFields } from '../../../../src/platform/index.ts'
import { platformDoor } from './platform-door.ts'

const id = 'bbbbbbbb-0000-4000-8000-000000000001'
const startTime = '2025-12-31T22:00:00Z'
const startUs = Date.parse(startTime) * 1_000

/** A door to a project with one trace of the thread `a "b"`. */
async function opened() {
  const door = await platformDoor()
  const { json } = await door.send('POST', '/sessions', { name: 'one' })
  const project = String(json['id'])
  await door.store.write({ tenant: 'acme', blocks: [], files: [], timeToLiveS: new Map(), spans: [{
    place: { tenant: 'acme', project, startUs, id, trace: id, traceStartUs: startUs },
    kind: 'post',
    arrivedUs: startUs,
    terms: [],
    indexed: 0,
    block: null,
    fields: { ...noFields, root: true, name: 'agent', thread: 'a "b"', totalTokens: 5 },
  }] })
  return { ...door, project }
}

it('Threads have statistics, alone and together.', async () => {
  const { send, project } = await opened()
  const path = `/api/v2/threads/${encodeURIComponent('a "b"')}/stats?session_id=${project}`
  expect((await send('GET', `${path}&selects=TURNS&selects=TOTAL_TOKENS`)).json)
    .toEqual({ turns: 1, total_tokens: 5 })
  expect(
    (await send('GET', `${path}&selects=TURNS&filter=${encodeURIComponent('eq(name, "other")')}`))
      .json,
  ).toEqual({ turns: 0 })
  const asked = { project_id: project, select: ['THREAD_COUNT'], min_start_time: startTime }
  expect((await send('POST', '/api/v2/threads/stats', asked)).json).toEqual({ thread_count: 1 })
  const narrowed = { ...asked, thread_filter: 'gt(count, 1)' }
  expect((await send('POST', '/api/v2/threads/stats', narrowed)).status).toBe(422)
  expect((await send('POST', '/api/v2/threads/query', narrowed)).status).toBe(422)
})

it('Statistics of a stranger are those of nothing.', async () => {
  const { as, send, project } = await opened()
  const stranger = await as('other')
  const whole = { session: [project], is_root: true, select: ['run_count', 'total_tokens'] }
  expect((await send('POST', '/runs/stats', whole)).json).toEqual({ run_count: 1, total_tokens: 5 })
  expect((await stranger('POST', '/runs/stats', whole)).json)
    .toEqual({ run_count: 0, total_tokens: 0 })
  const refused = [
    ['POST', '/runs/group', { session_id: project, group_by: 'conversation' }],
    ['POST', '/runs/group/stats', { session_id: project, group_by: 'conversation' }],
    ['POST', '/api/v2/threads/stats', { project_id: project, select: ['THREAD_COUNT'] }],
    ['GET', `/api/v2/threads/x/stats?session_id=${project}&selects=TURNS`, undefined],
    ['POST', `/sessions/${project}/dashboard`, {}],
    ['GET', `/sessions/${project}?include_stats=true`, undefined],
  ] as const
  for (const [method, path, body] of refused) {
    expect((await send(method, path, body)).status, path).toBe(200)
    expect((await stranger(method, path, body)).status, path).toBe(404)
  }
})
