/**
 * One pass over a version of the LangSmith client, in a process of its own, so that what it prints
 * is seen. Prints a line of JSON for each check: its name, and what went wrong.
 *
 * Usage: node langsmith-driver.mjs <package> <base URL> <name of the project>
 */

import assert from 'node:assert/strict'

import { check, collect } from './report.mjs'

const [name, apiUrl, project] = process.argv.slice(2)
const { Client, RunTree } = await import(name)
const { traceable } = await import(`${name}/traceable`)
const hasV2 = name === 'langsmith'

const client = new Client({ apiUrl, apiKey: 'a key', autoBatchTracing: true })
const options = { client, project_name: project, tracingEnabled: true }

const listed = (question) => collect(client.listRuns(question))

const metadata = { user: 'ada', thread_id: 'thread 1' }
const model = traceable(
  async (text) => ({ role: 'assistant', content: text.toUpperCase(),
    usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } }),
  { ...options, name: 'model', run_type: 'llm', metadata: { ls_model_name: 'small' } },
)
const agent = traceable(async ({ question }) => {
  const answer = await model(question)
  return { answer: answer.content }
}, { ...options, name: 'agent', run_type: 'chain', tags: ['first'], metadata })
const broken = traceable(async () => {
  throw new Error('This is meant to fail.')
}, { ...options, name: 'broken' })

let root
let projectId

await check('traceable', async () => {
  assert.deepEqual(await agent({ question: 'why?' }), { answer: 'WHY?' })
  await assert.rejects(broken({}))
  await client.awaitPendingTraceBatches()
  const runs = await listed({ projectName: project })
  assert.deepEqual(runs.map((run) => run.name).sort(), ['agent', 'broken', 'model'])
  root = runs.find((run) => run.name === 'agent')
  const child = runs.find((run) => run.name === 'model')
  assert.deepEqual(root.outputs, { answer: 'WHY?' })
  assert.deepEqual(root.inputs, { question: 'why?' })
  assert.equal(root.extra.metadata.user, 'ada')
  assert.deepEqual(root.tags, ['first'])
  assert.equal(root.status, 'success')
  assert.equal(child.parent_run_id, root.id)
  assert.equal(child.trace_id, root.id)
  assert.equal(child.total_tokens, 7)
  assert.match(runs.find((run) => run.name === 'broken').error, /meant to fail/)
  projectId = root.session_id
})

await check('filters', async () => {
  const names = async (question) =>
    (await listed({ projectName: project, ...question }))
      .map((run) => run.name).sort()
  assert.deepEqual(await names({ filter: 'eq(name, "agent")' }), ['agent'])
  assert.deepEqual(await names({ isRoot: true }), ['agent', 'broken'])
  assert.deepEqual(await names({ error: true }), ['broken'])
  assert.deepEqual(await names({ runType: 'llm' }), ['model'])
  assert.deepEqual(await names({ traceId: root.id }), ['agent', 'model'])
  assert.deepEqual(await names({ parentRunId: root.id }), ['model'])
  assert.deepEqual(await names({ id: [root.id] }), ['agent'])
  assert.deepEqual(await names({ filter: 'has(tags, "first")' }), ['agent'])
  assert.deepEqual(await names({
    filter: "and(eq(metadata_key, 'user'), eq(metadata_value, 'ada'))",
    isRoot: true,
  }), ['agent'])
  assert.deepEqual(await names({ traceFilter: 'eq(name, "agent")', runType: 'llm' }), ['model'])
  assert.deepEqual(await names({ treeFilter: 'eq(run_type, "llm")', isRoot: true }), ['agent'])
  assert.deepEqual(await names({ filter: 'eq(thread_id, "thread 1")', isRoot: true }), ['agent'])
  await assert.rejects(names({ filter: 'eq(nothing, 1)' }), /nothing/)
})

await check('one run', async () => {
  const run = await client.readRun(root.id, { loadChildRuns: true })
  assert.equal(run.name, 'agent')
  assert.deepEqual(run.child_runs.map((child) => child.name), ['model'])
  assert.match(await client.getRunUrl({ runId: root.id }), new RegExp(root.id))
  await assert.rejects(client.readRun('00000000-0000-4000-8000-000000000000'))
})

await check('run trees', async () => {
  const parent = new RunTree({ name: 'tree', run_type: 'chain', inputs: { a: 1 }, client,
    project_name: project })
  await parent.postRun()
  const child = parent.createChild({ name: 'branch', run_type: 'tool', inputs: { b: 2 } })
  await child.postRun()
  await child.end({ c: 3 })
  await child.patchRun()
  await parent.end({ d: 4 })
  await parent.patchRun()
  await client.awaitPendingTraceBatches()
  const runs = await listed({ traceId: parent.id, projectName: project })
  assert.deepEqual(runs.map((run) => [run.name, run.outputs]).sort(), [['branch', { c: 3 }], [
    'tree',
    { d: 4 },
  ]])
})

await check('single runs', async () => {
  const single = new Client({ apiUrl, apiKey: 'a key', autoBatchTracing: false })
  const id = crypto.randomUUID()
  await single.createRun({ id, name: 'single', run_type: 'chain', inputs: { x: 1 },
    project_name: project, start_time: Date.now() })
  assert.equal((await client.readRun(id)).status, 'pending')
  await single.updateRun(id, { outputs: { y: 2 }, end_time: Date.now() })
  const run = await client.readRun(id)
  assert.deepEqual([run.name, run.inputs, run.outputs, run.status, run.trace_id], ['single', {
    x: 1,
  }, { y: 2 }, 'success', id])
})

await check('a large run beside a small one', async () => {
  const texts = ['small', 'x'.repeat(12 * 1024 * 1024)]
  const copied = traceable(async ({ text }) => ({ length: text.length }), { ...options,
    name: 'copied', project_name: `${project} large` })
  await Promise.all(texts.map((text) => copied({ text })))
  // The client writes large runs in a thread of its own, which keeps no process alive.
  const alive = setInterval(() => {}, 1_000)
  await client.awaitPendingTraceBatches()
  clearInterval(alive)
  const runs = await listed({ projectName: `${project} large` })
  assert.deepEqual(runs.map((run) => run.inputs.text.length).sort(), [5, 12 * 1024 * 1024].sort())
})

await check('feedback', async () => {
  const given = await client.createFeedback(root.id, 'helpful', { score: 0.75, comment: 'good' })
  await client.awaitPendingTraceBatches()
  const [one] = await collect(client.listFeedback({ runIds: [root.id] }))
  assert.deepEqual([one.key, one.score, one.comment], ['helpful', 0.75, 'good'])
  assert.equal(one.id, given.id)
  await client.updateFeedback(given.id, { score: 0.5 })
  assert.equal((await client.readFeedback(given.id)).score, 0.5)
  const run = await client.readRun(root.id)
  assert.equal(run.feedback_stats.helpful.n, 1)
  assert.equal(run.feedback_stats.helpful.avg, 0.5)
  assert.deepEqual(
    (await listed({ projectName: project,
      filter: 'and(eq(feedback_key, "helpful"), gt(feedback_score, 0.4))' })).map((r) => r.name),
    ['agent'],
  )
  const token = await client.createPresignedFeedbackToken(root.id, 'thumb')
  const answer = await fetch(new URL(token.url, apiUrl), { method: 'POST',
    headers: { 'content-type': 'application/json' }, body: '{"score":1}' })
  assert.ok(answer.ok, await answer.text())
  assert.equal(
    (await collect(client.listFeedback({ runIds: [root.id], feedbackKeys: ['thumb'] }))).length,
    1,
  )
  await client.deleteFeedback(given.id)
  assert.deepEqual((await collect(client.listFeedback({ runIds: [root.id] })))
    .map((each) => each.key), ['thumb'])
})

await check('statistics', async () => {
  const stats = await client.getRunStats({ projectNames: [project], isRoot: true })
  assert.equal(stats.run_count, 4)
  assert.ok(stats.latency_p50 >= 0)
  assert.ok(stats.error_rate > 0)
})

await check('projects', async () => {
  const read = await client.readProject({ projectName: project, includeStats: true })
  assert.equal(read.id, projectId)
  assert.ok(read.run_count > 0)
  assert.ok(await client.hasProject({ projectName: project }))
  assert.ok(!await client.hasProject({ projectName: `${project} of nobody` }))
  const made = await client.createProject({ projectName: `${project} made`, description: 'x',
    metadata: { a: 1 } })
  await assert.rejects(client.createProject({ projectName: `${project} made` }))
  await client.createProject({ projectName: `${project} made`, upsert: true })
  await client.updateProject(made.id, { description: 'y' })
  assert.equal((await client.readProject({ projectId: made.id })).description, 'y')
  const names = (await collect(client.listProjects({ nameContains: project })))
    .map((each) => each.name).sort()
  assert.deepEqual(names, [project, `${project} large`, `${project} made`])
  await client.deleteProject({ projectName: `${project} made` })
  assert.ok(!await client.hasProject({ projectName: `${project} made` }))
  assert.match(await client.getProjectUrl({ projectId }), new RegExp(projectId))
})

await check('shares', async () => {
  assert.equal(await client.readRunSharedLink(root.id), undefined)
  const link = await client.shareRun(root.id)
  assert.equal(await client.readRunSharedLink(root.id), link)
  const token = /public\/([^/]+)\/r$/.exec(link)[1]
  const names = (await client.listSharedRuns(token)).map((run) => run.name).sort()
  assert.deepEqual(names, ['agent', 'model'])
  await client.unshareRun(root.id)
  await assert.rejects(client.listSharedRuns(token))
  const dataset = await client.createDataset(`${project} shared`)
  const shared = await client.shareDataset(dataset.id)
  assert.equal((await client.readSharedDataset(shared.share_token)).id, dataset.id)
  assert.equal((await client.readDatasetSharedSchema(dataset.id)).share_token, shared.share_token)
  assert.deepEqual(await client.listSharedExamples(shared.share_token), [])
  await client.unshareDataset(dataset.id)
  await client.deleteDataset({ datasetId: dataset.id })
})

await check('annotation queues', async () => {
  const queue = await client.createAnnotationQueue({ name: `${project} queue`,
    description: 'first' })
  await client.updateAnnotationQueue(queue.id, { name: `${project} queue`, description: 'second' })
  assert.equal((await client.readAnnotationQueue(queue.id)).description, 'second')
  assert.equal((await collect(client.listAnnotationQueues({ queueIds: [queue.id] }))).length, 1)
  await client.addRunsToAnnotationQueue(queue.id, [root.id])
  assert.deepEqual(await client.getSizeFromAnnotationQueue(queue.id), { size: 1 })
  assert.equal((await client.getRunFromAnnotationQueue(queue.id, 0)).id, root.id)
  await client.deleteRunFromAnnotationQueue(queue.id, root.id)
  assert.deepEqual(await client.getSizeFromAnnotationQueue(queue.id), { size: 0 })
  await client.deleteAnnotationQueue(queue.id)
})

if (hasV2) await newer()

await check('closing', () => client.awaitPendingTraceBatches())

async function newer() {
  await check('an agent as the address', async () => {
    const { AgentAddress } = await import(name)
    const id = `agent-${crypto.randomUUID().slice(0, 8)}`
    const addressed = traceable(async () => 1, { client, tracingEnabled: true, name: 'addressed',
      address: new AgentAddress(id, 'production') })
    await addressed()
    await client.awaitPendingTraceBatches()
    const [run] = await listed({ projectName: `${id}/production` })
    assert.equal(run.name, 'addressed')
  })
  await check('runs of v2', async () => {
    const runs = await collect(
      client.runs.query({ project_ids: [projectId], is_root: true,
        selects: ['NAME', 'STATUS', 'RUN_TYPE', 'INPUTS', 'TOTAL_TOKENS'] }),
    )
    const names = runs.map((run) => run.name).sort()
    assert.deepEqual(names, ['agent', 'broken', 'single', 'tree'])
    assert.equal(runs.find((run) => run.name === 'agent').run_type, 'CHAIN')
    const run = await client.runs.retrieve(root.id, { project_id: projectId,
      start_time: new Date(root.start_time).toISOString(), selects: ['NAME', 'OUTPUTS'] })
    assert.deepEqual([run.name, run.outputs], ['agent', { answer: 'WHY?' }])
  })
  await check('traces of v2', async () => {
    const traces = await collect(
      client.traces.query({ project_id: projectId,
        min_start_time: new Date(Date.now() - 3_600_000).toISOString(), selects: ['NAME'] }),
    )
    assert.equal(traces.length, 4)
  })
  await check('costs by the prices of the workspace', async () => {
    const headers = { 'content-type': 'application/json', 'x-api-key': 'a key' }
    const prices = `${apiUrl}/model-price-map`
    const made = await fetch(prices, { method: 'POST', headers,
      body: JSON.stringify({ name: `${project} price`, match_pattern: `^${project}`,
        prompt_cost: 0.001, completion_cost: 0.01,
        prompt_cost_details: { cache_read: 0.0001, cache_creation: 0.002 } }) })
    const { id } = await made.json()
    // Prices that were read before hold so long.
    await new Promise((resolve) => setTimeout(resolve, 5_100))
    const priced = traceable(
      async () => ({
        usage_metadata: { input_tokens: 1_000, output_tokens: 10, total_tokens: 1_010,
          input_token_details: { cache_read: 900, cache_creation: 50 } },
      }),
      { ...options, project_name: `${project} priced`, name: 'priced', run_type: 'llm',
        metadata: { ls_model_name: `${project} model` } },
    )
    await priced()
    await client.awaitPendingTraceBatches()
    const [{ id: run }] = await listed({ projectName: `${project} priced` })
    const { prompt_cost: prompt, completion_cost: completion, total_cost: total,
      prompt_token_details: tokens, prompt_cost_details: costs } = await client.readRun(run)
    assert.deepEqual([prompt, completion, total].map(Number), [0.24, 0.1, 0.34])
    assert.deepEqual(tokens, { cache_read: 900, cache_creation: 50 })
    assert.deepEqual(costs, { cache_read: '0.09', cache_creation: '0.1' })
    await client.deleteProject({ projectName: `${project} priced` })
    await fetch(`${prices}/${id}`, { method: 'DELETE', headers })
  })
  await check('threads of v2', async () => {
    const threads = await collect(
      client.threads.query({ project_id: projectId,
        min_start_time: new Date(Date.now() - 3_600_000).toISOString() }),
    )
    assert.deepEqual(threads.map((thread) => thread.thread_id), ['thread 1'])
    const one = await client.threads.stats('thread 1', { session_id: projectId,
      selects: ['TURNS', 'TOTAL_TOKENS'] })
    assert.deepEqual(one, { turns: 1, total_tokens: 7 })
    const all = await client.threads.aggregateStats({ project_id: projectId,
      select: ['THREAD_COUNT', 'TRACE_COUNT', 'TOTAL_TOKENS'] })
    assert.deepEqual(all, { thread_count: 1, trace_count: 1, total_tokens: 7 })
  })
  await check('shares of v2', async () => {
    const { share_token: token } = await client.runs.share.create(root.id, {
      session_id: projectId,
      trace_id: root.id,
    })
    const { items } = await client.public.runs.query(token, { selects: ['NAME'] })
    assert.deepEqual(items.map((run) => run.name).sort(), ['agent', 'model'])
    const run = await client.public.runs.retrieve(root.id, { share_token: token, selects: ['NAME'],
      start_time: new Date(root.start_time).toISOString() })
    assert.equal(run.name, 'agent')
    const { share_url: url } = await client.runs.retrieve(root.id, { project_id: projectId,
      selects: ['SHARE_URL'] })
    assert.ok(url.endsWith(token))
    await client.runs.share.delete(root.id, { session_id: projectId })
    await assert.rejects(client.public.runs.query(token, {}))
    const thread = await client.threads.share.create('thread 1', { project_id: projectId })
    const found = await client.threads.share.retrieve('thread 1', { project_id: projectId })
    assert.deepEqual(found, thread)
    await client.threads.share.delete('thread 1', { project_id: projectId })
  })
  await check('items of annotation queues', async () => {
    const queue = await client.annotationQueues.annotationQueues({ name: `${project} items` })
    const { items: [item] } = await client.annotationQueues.items.create(queue.id, {
      items: [{ item_type: 'RUN', run_id: root.id, project_id: projectId }],
    })
    const list = (status) => collect(client.annotationQueues.items.list(queue.id, { status }))
    assert.deepEqual((await list('needs_my_review')).map((each) => each.run_id), [root.id])
    await client.annotationQueues.items.createStatus(item.id, { status: 'completed' })
    assert.deepEqual(await list('needs_my_review'), [])
    assert.equal((await list('archived')).length, 1)
    const counted = await client.annotationQueues.items.retrieveCount(queue.id, { status: 'all' })
    assert.deepEqual(counted, { count: 1 })
    await client.annotationQueues.items.deleteAll(queue.id, { item_ids: [item.id] })
    await client.annotationQueues.delete(queue.id)
  })
}
