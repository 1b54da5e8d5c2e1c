/** Tenants get and change nothing of each other by any route of the platform, with known ids. */

import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, expect, it } from 'vitest'

import { openKeyMaker } from '../../support/keys.ts'
import { useServer } from '../../support/server.ts'
import { root } from '../../support/source-tree.ts'
import { ask } from '../../support/wire.ts'
import type { JsonAnswer } from '../../support/wire.ts'
import { casesOf } from './isolation-cases.ts'
import type { Belongings, Case } from './isolation-cases.ts'

const server = useServer({ project: 'conformance', args: ['--auth', 'keys'] })
/** In every text that the first tenant sends. */
const mark = `mark${randomUUID().slice(0, 8)}`

let [owner, reader, stranger] = ['', '', '']
let theirs: Belongings

beforeAll(async () => {
  const { process: { dataDir } } = server
  const maker = await openKeyMaker({ dataDir })
  owner = await maker.make('acme')
  reader = await maker.make('acme', 'reader')
  stranger = await maker.make('other')
  await maker.close()
  theirs = await belongings()
})

function send(key: string, { route, path, body }: Pick<Case, 'route' | 'path' | 'body'>) {
  return ask(server.url, route.split(' ')[0]!, path, body, key === '' ? {} : { 'x-api-key': key })
}

async function made(route: string, path: string, body?: unknown): Promise<{ readonly id: string }> {
  const answer = await send(owner, { route, path: `/api/v1${path}`, body })
  expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
  return answer.body as { id: string }
}

/** A trace with feedback, a chart and a section of the first tenant. */
async function belongings(): Promise<Belongings> {
  const [trace, child, feedback, thread] = [randomUUID(), randomUUID(), randomUUID(), mark]
  const above = `20261126T200000000000Z${trace}`
  const post = [trace, child].map((id) => ({ id, trace_id: trace, name: mark, run_type: 'chain',
    session_name: mark, inputs: { text: mark }, tags: [mark], start_time: 1_764_187_200_000,
    end_time: Date.now(), extra: { metadata: { thread_id: thread, user: mark } },
    dotted_order: id === trace ? above : `${above}.20261126T200000000001Z${child}` })
  )
  await made('POST', '/runs/batch', { post, patch: [] })
  const { body } = await send(owner, { route: 'GET /sessions', path: '/api/v1/sessions' })
  const [{ id: project }] = body as [{ id: string }]
  await made('POST', '/feedback', { id: feedback, run_id: trace, session_id: project, key: mark,
    score: 1, comment: mark })
  await made('POST', '/feedback-configs', { feedback_key: mark,
    feedback_config: { type: 'continuous', min: 0, max: 1 } })
  const section = await made('POST', '/charts/section', { title: mark })
  const chart = await made('POST', '/charts/create', { title: mark, chart_type: 'line',
    section_id: section.id,
    series: [{ name: mark, metric: 'run_count', filters: { session: [project] } }] })
  return { project, projectName: mark, trace, child, thread, feedback, feedbackKey: mark,
    chart: chart.id, section: section.id }
}

/** All that the first tenant reads. Times of questions are not in it. */
async function seenBy(key: string): Promise<readonly JsonAnswer['body'][]> {
  const reads = casesOf(theirs).filter(({ access }) => access === 'read')
  const answers = []
  for (const each of reads) {
    const { body } = await send(key, each)
    const { execution_time_ms: _, ...rest } = body as Record<string, unknown>
    answers.push(Array.isArray(body) ? body : rest)
  }
  return answers
}

it('all routes are called here', () => {
  const folder = join(root, 'src/frontdoor/platform-rest')
  const code = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8')).join(
    '\n',
  )
  const routes = [...code.matchAll(/app\.(\w+)(?:<[^>]*>+)?\(\s*'(\/[^']*)'/g)]
    .map(([, method, path]) => `${method!.toUpperCase()} ${path}`)
  expect(routes.length).toBeGreaterThan(45)
  const called = new Set(casesOf(theirs).map(({ route }) => route))
  expect(routes.filter((route) => !called.has(route))).toEqual([])
})

it('the owner gets what is asked for', async () => {
  const empty = casesOf(theirs).filter(({ access }) => access === 'read')
    .filter(({ route }) =>
      /^(GET|POST) \/(runs|traces|threads|sessions|feedback|charts)/.test(route)
    )
  for (const each of empty) {
    const { status } = await send(owner, each)
    expect(status, each.path).toBe(each.route === 'GET /sessions/resolutions' ? 404 : 200)
  }
})

it('nobody gets anything without a key, and a reader changes nothing', async () => {
  for (const each of casesOf(theirs)) {
    const { status } = await send('', each)
    if (each.access === 'public') expect(status, each.path).not.toBe(401)
    else expect(status, `${each.route} ${each.path}`).toBe(401)
    if (each.access === 'change') {
      expect((await send(reader, each)).status, `${each.route} ${each.path}`).toBe(403)
    }
  }
})

it('another tenant gets nothing, and changes nothing', async () => {
  const before = await seenBy(owner)
  expect(JSON.stringify(before).split(mark).length).toBeGreaterThan(20)
  for (const each of casesOf(theirs)) {
    const { body, status } = await send(stranger, each)
    expect(status, `${each.route} ${each.path}`).toBeLessThan(500)
    // What a change answers is what the stranger said.
    if (each.access === 'change') continue
    expect(JSON.stringify(body) ?? '', `${each.route} ${each.path}`).not.toContain(mark)
  }
  expect(await seenBy(owner)).toEqual(before)
})
