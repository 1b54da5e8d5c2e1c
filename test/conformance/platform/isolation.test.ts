/** Tenants get and change nothing of each other by any route of the platform, with known ids. */

import { randomUUID } from 'node:crypto'

import { fastify } from 'fastify'
import { beforeAll, expect, it, vi } from 'vitest'

import { addPlatform } from '../../../src/frontdoor/platform-rest/app.ts'
import { openKeyMaker } from '../../support/keys.ts'
import { useServer } from '../../support/server.ts'
import { ask } from '../../support/wire.ts'
import type { JsonAnswer } from '../../support/wire.ts'
import { alertRule, casesOf } from './isolation-cases.ts'
import type { Belongings, Case } from './isolation-cases.ts'

const server = useServer('keys')
/** In every text that the first tenant sends. */
const mark = `mark${randomUUID().slice(0, 8)}`

/** Whatever a route is made with: none of them is called. */
const whatever: unknown = new Proxy(() => undefined, { get: () => whatever })

let [owner, reader, deployer, stranger] = ['', '', '', '']
let theirs: Belongings

beforeAll(async () => {
  const maker = await openKeyMaker(server.place)
  const [tenant, other] = [`of-owner-${randomUUID()}`, `of-others-${randomUUID()}`]
  owner = await maker.make(tenant)
  reader = await maker.make(tenant, 'reader')
  deployer = await maker.make(tenant, 'deployer')
  stranger = await maker.make(other)
  await maker.close()
  theirs = await belongings()
})

function send(key: string,
  { route, path, body, type }: Pick<Case, 'route' | 'path' | 'body' | 'type'>) {
  return ask(server.url, route.split(' ')[0]!, path, body, {
    ...key !== '' && { 'x-api-key': key },
    ...type !== undefined && { 'content-type': type },
  })
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
  const view = await made('POST', `/sessions/${project}/views`, { display_name: mark })
  const rule = await made('POST', '/runs/rules', { display_name: mark, session_id: project,
    webhooks: [{ url: 'https://example.com/' }] })
  const { rule: { id: alert } } = await made('POST', `/platform/alerts/${project}`,
    alertRule(mark)) as unknown as { rule: { id: string } }
  const { evaluator } = await made('POST', '/platform/evaluators', { name: mark,
    llm_evaluator: { prompt_repo_handle: mark } }) as unknown as { evaluator: { id: string } }
  const queue = await made('POST', '/annotation-queues', { name: mark, description: mark })
  const items = await made('POST', `/annotation-queues/${queue.id}/runs`, [trace])
  const [{ id: item }] = items as unknown as [{ id: string }]
  const owned = { ...await ownPrompt(), ...await ownDataset() }
  await made('POST', '/workspaces/current/secrets', [{ key: mark, value: `of-${mark}` }])
  const model = await made('POST', '/playground-settings', { name: mark,
    settings: { dialect: 'openai', base_url: 'https://model.invalid/v1', model: mark } })
  const price = await made('POST', '/model-price-map', { name: mark, match_pattern: mark,
    prompt_cost: 1, completion_cost: 2 })
  const deletion = await made('POST', '/bulk-deletions', { session: [project],
    filter: `eq(name, "not ${mark}")` })
  await vi.waitFor(async () => {
    const { body: shown } = await send(owner, { route: 'GET',
      path: `/api/v1/bulk-deletions/${deletion.id}` })
    expect(shown).toMatchObject({ status: 'Completed' })
  }, 10_000)
  const trial = await made('POST', '/experiments', { dataset_id: owned.dataset,
    manifest: { lc: 1, type: 'constructor', id: ['PromptTemplate'], kwargs: { template: mark } },
    model: { dialect: 'openai', base_url: 'https://model.invalid/v1', model: mark },
    project_name: `${mark}-trial` })
  await vi.waitFor(async () => {
    const path = `/api/v1/experiments/${trial.id}`
    expect((await send(owner, { route: 'GET', path })).body).toMatchObject({ status: 'Completed' })
  }, 30_000)
  return { ...owned, deletion: deletion.id, trial: trial.id, alert, rule: rule.id,
    evaluator: evaluator.id, queue: queue.id, item, secret: mark, model: model.id, price: price.id,
    project, projectName: mark, trace, child, thread, feedback, feedbackKey: mark, chart: chart.id,
    section: section.id, view: view.id }
}

/** A prompt and a directory of the first tenant. */
async function ownPrompt() {
  const [prompt, directory, tag] = [`${mark}-prompt`, `${mark}-directory`, `${mark}-tag`]
  await made('POST', '/repos', { repo_handle: prompt, is_public: false, description: mark })
  await made('POST', '/repos', { repo_handle: directory, is_public: false, repo_type: 'agent' })
  const { commit } = await made('POST', `/commits/-/${prompt}`, {
    manifest: { text: mark },
  }) as unknown as { readonly commit: { readonly commit_hash: string } }
  await made('POST', `/repos/-/${prompt}/tags`, { tag_name: tag, commit_id: commit.commit_hash })
  await made('POST', `/platform/hub/repos/-/${directory}/directories/commits`, {
    files: { 'a.md': { type: 'file', content: mark } },
  })
  const { id: comment } = await made('POST', `/comments/-/${prompt}`, { content: mark })
  await made('POST', `/comments/-/${prompt}/${comment}`, { content: mark })
  return { prompt, directory, tag, commit: commit.commit_hash, comment }
}

/** A dataset of the first tenant: an example in two versions, an experiment and a comparison. */
async function ownDataset() {
  const { id: dataset } = await made('POST', '/datasets', { name: mark, description: mark,
    metadata: { of: mark } })
  const { id: example } = await made('POST', '/examples', { dataset_id: dataset,
    inputs: { text: mark }, outputs: { text: mark }, metadata: { of: mark } })
  const version = `${mark}-version`
  await made('PUT', `/datasets/${dataset}/tags`, { as_of: 'latest', tag: version })
  await made('PUT', `/datasets/${dataset}/splits`, { split_name: mark, examples: [example] })
  const { id: experiment } = await made('POST', '/sessions', { name: `${mark}-experiment`,
    reference_dataset_id: dataset })
  const { id: comparison } = await made('POST', '/datasets/comparative', { name: mark,
    experiment_ids: [experiment] })
  return { dataset, example, version, experiment, comparison }
}

/** All that the first tenant reads, but how often it did. Times of questions are not in it. */
async function seenBy(key: string): Promise<readonly JsonAnswer['body'][]> {
  const reads = casesOf(theirs).filter(({ access }) => access === 'read' || access === 'shown')
  return await inBatches(reads, async (each) => {
    const { body } = await send(key, each)
    const { execution_time_ms: _, ...rest } = (body ?? {}) as Record<string, unknown>
    const text = JSON.stringify(Array.isArray(body) ? body : rest)
    return JSON.parse(text.replaceAll(/"num_(views|downloads)":\d+/g, '"$1":0')) as unknown
  })
}

/** What each item gives, in their order: twelve at a time, to leave the server no pauses. */
async function inBatches<Item, Result>(items: readonly Item[],
  ask: (item: Item) => Promise<Result>): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += 12) {
    results.push(...await Promise.all(items.slice(at, at + 12).map(ask)))
  }
  return results
}

it('all routes are called here', async () => {
  const routes = new Set<string>()
  const app = fastify({ exposeHeadRoutes: false })
  app.addHook('onRoute', ({ method, url, routePath }) => {
    expect(url).toMatch(/^\/api\/v[12]\//)
    for (const each of [method].flat()) routes.add(`${each} ${routePath}`)
  })
  await addPlatform(app as never, whatever as never)
  expect(routes.size).toBeGreaterThan(150)
  const called = new Set(casesOf(theirs).map(({ route }) => route))
  expect([...routes].filter((route) => !called.has(route))).toEqual([])
})

it('the owner gets what is asked for', async () => {
  const read =
    /^(GET|POST) \/(repos|settings|runs|traces|threads|sessions|feedback|charts|datasets|examples)/
  const empty = casesOf(theirs).filter(({ access }) => access === 'read')
    .filter(({ route }) => read.test(route))
  await inBatches(empty, async (each) => {
    const { status } = await send(owner, each)
    expect(status, each.path).toBe(each.route === 'GET /sessions/resolutions' ? 404 : 200)
  })
})

it('nobody gets anything without a key, and a reader changes nothing', async () => {
  await inBatches(casesOf(theirs), async (each) => {
    const { status } = await send('', each)
    if (each.access === 'public') expect(status, each.path).not.toBe(401)
    // What nobody shows is not there.
    else if (each.access === 'shown') expect(status, each.path).toBe(404)
    else expect(status, `${each.route} ${each.path}`).toBe(401)
    if (each.access === 'change') {
      expect((await send(reader, each)).status, `${each.route} ${each.path}`).toBe(403)
    }
  })
})

it('whoever may only deploy gets nothing, and changes nothing', async () => {
  await inBatches(casesOf(theirs).filter(({ access }) => access !== 'public'),
    async (each) =>
      expect((await send(deployer, each)).status, `${each.route} ${each.path}`).toBe(403))
})

it('another tenant gets nothing, and changes nothing', async () => {
  const before = await seenBy(owner)
  expect(JSON.stringify(before).split(mark).length).toBeGreaterThan(20)
  const [changes, looks] = [[], []] as [Case[], Case[]]
  for (const each of casesOf(theirs)) (each.access === 'change' ? changes : looks).push(each)
  await inBatches(looks, async (each) => {
    const { body, status } = await send(stranger, each)
    expect(status, `${each.route} ${each.path}`).toBeLessThan(500)
    expect(JSON.stringify(body) ?? '', `${each.route} ${each.path}`).not.toContain(mark)
  })
  // What a change answers is what the stranger said. What it makes, a later one removes.
  for (const each of changes) {
    const { status } = await send(stranger, each)
    expect(status, `${each.route} ${each.path}`).toBeLessThan(500)
  }
  expect(await seenBy(owner)).toEqual(before)
})

it('what another tenant has is not there', async () => {
  const { dataset, example, experiment, comparison, project, feedback, chart, section } = theirs
  const ids = [dataset, example, experiment, comparison, project, feedback, chart, section]
  const named = casesOf(theirs).filter(({ route, path }) =>
    /datasets|examples|\/(sessions|feedback|charts)\b.*:/.test(route)
    && ids.some((id) => path.includes(id))
  )
  expect(named.length).toBeGreaterThan(40)
  await inBatches(named, async (each) => {
    const { status, body } = await send(stranger, each)
    const name = `${each.route} ${each.path}`
    // Lists of what has these ids are empty.
    if (/[?&](id|reference_dataset)=/.test(each.path)) {
      expect([200, JSON.stringify((body as { items?: unknown }).items ?? body)], name)
        .toEqual([200, '[]'])
    } else expect(status, name).toBe(404)
  })
})
