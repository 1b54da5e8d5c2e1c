/**
 * One pass over queues and shares of a version of the LangSmith client, in a process of its own, so
 * that what it prints is seen. Prints a line of JSON for each check.
 *
 * Usage: node shares-driver.mjs <package> <base URL> <name that nothing else has>
 */

import assert from 'node:assert/strict'

import { check, collect } from './report.mjs'

const [name, apiUrl, prefix] = process.argv.slice(2)
const { Client } = await import(name)
const { traceable } = await import(`${name}/traceable`)
const client = new Client({ apiUrl, apiKey: 'a key', webUrl: 'http://web.invalid' })
const isNewest = name === 'langsmith'

const options = { client, project_name: prefix, tracingEnabled: true }
const search = traceable(async (q) => ({ found: q }), { ...options, name: 'search' })
const agent = traceable(async ({ q }) => search(q), { ...options, name: 'agent' })

let queue
let runs

await check('a queue is made, changed and found', async () => {
  queue = await client.createAnnotationQueue({ name: prefix, description: 'A test',
    rubricInstructions: 'Be fair.' })
  const read = await client.readAnnotationQueue(queue.id)
  assert.deepEqual([read.name, read.description, read.rubric_instructions], [prefix, 'A test',
    'Be fair.'])
  await client.updateAnnotationQueue(queue.id, { name: `${prefix} queue`, description: 'Changed' })
  const found = await collect(client.listAnnotationQueues({ nameContains: prefix }))
  assert.deepEqual(found.map(({ id, description }) => [id, description]), [[queue.id, 'Changed']])
  assert.deepEqual(await collect(client.listAnnotationQueues({ name: `${prefix} nobody` })), [])
})

await check('runs are queued, seen one by one and taken out', async () => {
  for (const q of ['one', 'two', 'three']) await agent({ q })
  await client.awaitPendingTraceBatches()
  runs = await collect(client.listRuns({ projectName: prefix, isRoot: true }))
  assert.equal(runs.length, 3)
  await client.addRunsToAnnotationQueue(queue.id, runs.map(({ id }) => id))
  await client.addRunsToAnnotationQueue(queue.id, [runs[0].id])
  if (isNewest) {
    await client.addRunsToAnnotationQueue(queue.id,
      runs.map((run) => ({ runId: run.id, sessionId: run.session_id, startTime: run.start_time })))
  }
  assert.deepEqual(await client.getSizeFromAnnotationQueue(queue.id), { size: 3 })
  const first = await client.getRunFromAnnotationQueue(queue.id, 0)
  assert.equal(first.name, 'agent')
  assert.ok(first.added_at)
  assert.ok(runs.some(({ id }) => id === first.id))
  await client.deleteRunFromAnnotationQueue(queue.id, first.id)
  assert.deepEqual(await client.getSizeFromAnnotationQueue(queue.id), { size: 2 })
  await assert.rejects(client.getRunFromAnnotationQueue(queue.id, 9), /404|not found|no /i)
  await client.deleteAnnotationQueue(queue.id)
  await assert.rejects(client.readAnnotationQueue(queue.id), /404|not found|no such/i)
})

await check('a run is shared with what is below it, and no other', async () => {
  const [run, other] = runs
  assert.equal(await client.readRunSharedLink(run.id), undefined)
  const url = await client.shareRun(run.id)
  assert.equal(await client.shareRun(run.id), url)
  assert.equal(await client.readRunSharedLink(run.id), url)
  const token = url.split('/').at(-2)
  const shared = await client.listSharedRuns(token)
  assert.deepEqual(shared.map((each) => each.name).sort(), ['agent', 'search'])
  assert.deepEqual(shared.find((each) => each.id === run.id).inputs, run.inputs)
  assert.deepEqual(await client.listSharedRuns(token, { runIds: [other.id] }), [])
  await client.unshareRun(run.id)
  assert.equal(await client.readRunSharedLink(run.id), undefined)
  await assert.rejects(client.listSharedRuns(token), /404|not found|no /i)
})

await check('a dataset is shared, read and copied', async () => {
  const dataset = await client.createDataset(`${prefix} data`, { description: 'Shared' })
  await client.createExamples(
    Array.from({ length: 120 },
      (_, n) => ({ inputs: { n }, outputs: { m: n * n }, dataset_id: dataset.id })),
  )
  const { share_token: token, url } = await client.shareDataset(dataset.id)
  assert.ok(url.endsWith(`/public/${token}/d`))
  assert.equal((await client.readDatasetSharedSchema(dataset.id)).share_token, token)
  assert.equal((await client.readSharedDataset(token)).name, `${prefix} data`)
  const examples = await client.listSharedExamples(token)
  const ids = examples.slice(0, 2).map(({ id }) => id)
  assert.deepEqual((await client.listSharedExamples(token, { exampleIds: ids }))
    .map(({ id }) => id).sort(), ids.toSorted())
  await client.clonePublicDataset(token, { datasetName: `${prefix} copy` })
  const copied = await collect(client.listExamples({ datasetName: `${prefix} copy` }))
  assert.equal(copied.length, examples.length)
  await client.unshareDataset(dataset.id)
  await assert.rejects(client.readSharedDataset(token), /404|not found|no /i)
})
