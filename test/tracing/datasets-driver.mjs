/**
 * One pass over the datasets and the evaluation of a version of the LangSmith client, in a process
 * of its own, so that what it prints is seen. Prints a line of JSON for each check.
 *
 * Usage: node datasets-driver.mjs <package> <base URL> <name that nothing else has>
 */

import assert from 'node:assert/strict'

import { check, collect } from './report.mjs'

const [name, apiUrl, prefix] = process.argv.slice(2)
const { Client } = await import(name)
const { evaluate, evaluateComparative } = await import(`${name}/evaluation`)

const client = new Client({ apiUrl, apiKey: 'a key' })
const datasetName = `${prefix} questions`
const idsOf = (list) => list.map(({ id }) => id).sort()
const listed = (question = {}) => collect(client.listExamples({ datasetName, ...question }))

let dataset
let made

await check('a dataset', async () => {
  dataset = await client.createDataset(datasetName, { description: 'd', metadata: { team: 'a' },
    inputsSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] } })
  assert.equal(dataset.name, datasetName)
  await assert.rejects(client.createDataset(datasetName))
  assert.ok(await client.hasDataset({ datasetName }))
  assert.ok(!await client.hasDataset({ datasetName: `${prefix} nothing` }))
  const found = await collect(
    client.listDatasets({ datasetNameContains: prefix, metadata: { team: 'a' } }),
  )
  assert.deepEqual(idsOf(found), [dataset.id])
  await client.updateDataset({ datasetId: dataset.id, description: 'changed' })
  assert.equal((await client.readDataset({ datasetId: dataset.id })).description, 'changed')
})

await check('examples', async () => {
  made = await client.createExamples(['one', 'two', 'three', 'four'].map((q, index) => ({
    inputs: { q },
    outputs: { a: q.toUpperCase() },
    metadata: { index },
    dataset_id: dataset.id,
    ...index === 3 && { split: 'test' },
  })))
  assert.equal(made.length, 4)
  const all = await listed()
  assert.deepEqual(all.map(({ inputs }) => inputs.q), ['one', 'two', 'three', 'four'])
  assert.deepEqual(all.map(({ outputs }) => outputs.a), ['ONE', 'TWO', 'THREE', 'FOUR'])
  assert.ok(all.every((each) => typeof each.modified_at === 'string'))
  assert.deepEqual((await listed({ metadata: { index: 2 } })).map(({ inputs }) => inputs.q), [
    'three',
  ])
  assert.deepEqual((await listed({ splits: ['test'] })).map(({ inputs }) => inputs.q), ['four'])
  assert.deepEqual((await listed({ limit: 2, offset: 1 })).map(({ inputs }) => inputs.q), ['two',
    'three'])
  const [{ id }] = all
  assert.deepEqual((await listed({ exampleIds: [id] })).map((each) => each.id), [id])
  assert.equal((await client.readExample(id)).inputs.q, 'one')
  await assert.rejects(client.createExample({ inputs: { no: 1 }, dataset_id: dataset.id }),
    /inputs\.q is missing/)
  assert.equal((await client.readDataset({ datasetName })).example_count, 4)
})

await check('attachments', async () => {
  const data = new Uint8Array(20 * 1024 * 1024).map((_, index) => index % 251)
  const example = await client.createExample({ inputs: { q: 'file' }, dataset_id: dataset.id,
    attachments: { large: { mimeType: 'image/png', data },
      small: ['text/plain', new Uint8Array([104, 105])] } })
  const [one] = await listed({ exampleIds: [example.id], includeAttachments: true })
  assert.deepEqual(Object.keys(one.attachments).sort(), ['large', 'small'])
  assert.equal(one.attachments.large.mime_type, 'image/png')
  const { presigned_url: link } = one.attachments.large
  assert.match(link, /public\/download\?jwt=/)
  // The link works without a key.
  const answer = await fetch(new URL(link, apiUrl))
  assert.equal(answer.headers.get('content-type'), 'image/png')
  assert.ok(Buffer.from(await answer.arrayBuffer()).equals(data))
  const lengths = []
  await evaluate(
    async (_, { attachments }) => {
      const file = await fetch(new URL(attachments.large.presigned_url, apiUrl))
      lengths.push((await file.arrayBuffer()).byteLength)
      return { a: 'seen' }
    },
    {
      data: client.listExamples({ datasetName, exampleIds: [example.id],
        includeAttachments: true }),
      client,
      experimentPrefix: `${prefix} files`,
      includeAttachments: true,
      evaluators: [],
    },
  )
  assert.deepEqual(lengths, [data.byteLength])
  await client.updateExample({ id: example.id, dataset_id: dataset.id,
    attachments_operations: { rename: { small: 'note' }, retain: [] } })
  const [changed] = await listed({ exampleIds: [example.id], includeAttachments: true })
  assert.deepEqual(Object.keys(changed.attachments), ['note'])
  await client.deleteExample(example.id)
})

await check('changes and versions', async () => {
  const [first, second] = made
  const before = new Date((await client.readDatasetVersion({ datasetName, asOf: 'latest' })).as_of)
  await client.updateExample({ id: first.id, dataset_id: dataset.id, inputs: { q: 'changed' },
    metadata: { index: 9 } })
  await client.updateExamples([{ id: second.id, dataset_id: dataset.id, outputs: { a: 'new' } }])
  assert.equal((await client.readExample(first.id)).inputs.q, 'changed')
  assert.equal((await client.readExample(second.id)).outputs.a, 'new')
  assert.equal((await client.readExample(second.id)).inputs.q, 'two')
  assert.equal((await listed({ asOf: before }))[0].inputs.q, 'one')
  const version = await client.readDatasetVersion({ datasetName, asOf: new Date() })
  assert.ok(version.as_of)
  await client.updateDatasetTag({ datasetName, asOf: before, tag: 'old' })
  assert.equal((await listed({ asOf: 'old' }))[0].inputs.q, 'one')
  assert.deepEqual((await client.readDatasetVersion({ datasetName, tag: 'old' })).tags, ['old'])
  const diff = await client.diffDatasetVersions({ datasetName, fromVersion: 'old',
    toVersion: 'latest' })
  assert.deepEqual(diff.examples_modified.toSorted(), idsOf([first, second]))
  assert.deepEqual([diff.examples_added, diff.examples_removed], [[], []])
  await client.updateDatasetSplits({ datasetName, splitName: 'train',
    exampleIds: [first.id, second.id] })
  assert.deepEqual(await client.listDatasetSplits({ datasetName }), ['base', 'test', 'train'])
  assert.deepEqual(idsOf(await listed({ splits: ['train'] })), idsOf([first, second]))
  await client.updateDatasetSplits({ datasetName, splitName: 'train', exampleIds: [first.id],
    remove: true })
  assert.deepEqual(idsOf(await listed({ splits: ['train'] })), [second.id])
})

const target = async ({ q }) => ({ a: q.toUpperCase() })
const right = ({ outputs, referenceOutputs }) => ({ key: 'right',
  score: Number(outputs.a === referenceOutputs?.a) })
const long = ({ outputs }) => ({ key: 'long', score: outputs.a.length })
const mean = ({ outputs }) => ({ key: 'count', score: outputs.length })
const experiments = []

await check('evaluation', async () => {
  for (const experimentPrefix of [`${prefix} one`, `${prefix} two`]) {
    experiments.push(
      await evaluate(target, { data: datasetName, client, experimentPrefix,
        evaluators: [right, long], summaryEvaluators: [mean], metadata: { model: 'small' } }),
    )
  }
  await client.awaitPendingTraceBatches()
  const [{ experimentName, results }] = experiments
  assert.equal(results.length, 4)
  const runs = await collect(client.listRuns({ projectName: experimentName, isRoot: true }))
  assert.deepEqual(runs.map((run) => run.reference_example_id).sort(), idsOf(made))
  assert.ok(runs.every((run) => run.feedback_stats.right && run.feedback_stats.long))
  const project = await client.readProject({ projectName: experimentName, includeStats: true })
  assert.equal(project.reference_dataset_id, dataset.id)
  const found = await collect(client.listProjects({ referenceDatasetId: dataset.id }))
  assert.equal(found.length, 3)
  const { session_count: count } = await client.readDataset({ datasetName })
  assert.equal(count, 3)
  assert.match(await client.getDatasetUrl({ datasetId: dataset.id }), new RegExp(dataset.id))
  const test = await client.getTestResults?.({ projectName: experimentName })
  assert.ok(test === undefined || test.length === 4)
})

await check('evaluation of a version and of a split', async () => {
  const asked = []
  const seen = async (inputs) => {
    asked.push(inputs.q)
    return target(inputs)
  }
  for (const question of [{ asOf: 'old' }, { splits: ['test'] }]) {
    await evaluate(seen, { data: client.listExamples({ datasetName, ...question }), client,
      experimentPrefix: `${prefix} part`, evaluators: [right] })
  }
  assert.deepEqual(asked, ['one', 'two', 'three', 'four', 'four'])
})

await check('comparison', async () => {
  const names = experiments.map(({ experimentName }) => experimentName)
  const { results } = await evaluateComparative(names, { client, evaluators: [({ runs }) => ({
    key: 'better',
    scores: Object.fromEntries(runs.map((run, index) => [run.id, index])),
  })] })
  assert.equal(results.length, 4)
  await client.awaitPendingTraceBatches()
  const runs = await collect(client.listRuns({ projectName: names[1], isRoot: true }))
  const feedback = await collect(
    client.listFeedback({ runIds: idsOf(runs), feedbackKeys: ['better'] }),
  )
  assert.equal(feedback.length, 4)
  assert.equal(new Set(feedback.map((each) => each.comparative_experiment_id)).size, 1)
})

await check('a shared dataset', async () => {
  assert.equal((await client.shareDataset(dataset.id)).dataset_id, dataset.id)
  const { share_token: token } = await client.readDatasetSharedSchema(dataset.id)
  assert.equal((await client.readSharedDataset(token)).name, datasetName)
  const examples = await client.listSharedExamples(token)
  assert.deepEqual(idsOf(examples), idsOf(made))
  const [{ id }] = made
  assert.deepEqual(idsOf(await client.listSharedExamples(token, { exampleIds: [id] })), [id])
  await client.clonePublicDataset(token, { datasetName: `${prefix} copy` })
  const copies = await collect(client.listExamples({ datasetName: `${prefix} copy` }))
  assert.deepEqual(copies.map(({ inputs }) => inputs), examples.map(({ inputs }) => inputs))
  await client.unshareDataset(dataset.id)
  await assert.rejects(client.readSharedDataset(token), /404|not found/i)
})

await check('a file of values', async () => {
  const csv = 'q,a\r\n"with ""quotes"", and\nlines",x\r\nplain,y\r\n'
  const uploaded = await client.uploadCsv({ csvFile: new Blob([csv]), fileName: 'f.csv',
    inputKeys: ['q'], outputKeys: ['a'], name: `${prefix} csv` })
  const all = await collect(client.listExamples({ datasetId: uploaded.id }))
  assert.deepEqual(all.map(({ inputs, outputs }) => [inputs.q, outputs.a]), [[
    'with "quotes", and\nlines',
    'x',
  ], ['plain', 'y']])
  await assert.rejects(
    client.uploadCsv({ csvFile: new Blob(['q,a\n"open']), fileName: 'g.csv', inputKeys: ['q'],
      outputKeys: ['a'], name: `${prefix} broken` }),
    /line 2/,
  )
  assert.ok(!await client.hasDataset({ datasetName: `${prefix} broken` }))
  await client.deleteDataset({ datasetId: uploaded.id })
})

await check('chats', async () => {
  const chat = await client.createDataset(`${prefix} chat`, { dataType: 'chat' })
  await client.createChatExample([{ type: 'human', data: { content: 'hi' } }], { type: 'ai',
    data: { content: 'hello' } }, { datasetId: chat.id })
  const lines = await client.readDatasetOpenaiFinetuning({ datasetId: chat.id })
  assert.deepEqual(lines, [{
    messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'hello' }],
  }])
})

await check('removal', async () => {
  const [first, second, third] = made
  await client.deleteExamples([first.id, second.id])
  await client.deleteExamples([third.id], { hardDelete: true })
  assert.equal((await listed()).length, 1)
  const { examples_removed: removed } = await client.diffDatasetVersions({ datasetName,
    fromVersion: 'old', toVersion: 'latest' })
  assert.deepEqual(removed.toSorted(), idsOf([first, second, third]))
  await assert.rejects(client.readExample(third.id), /404|not found/i)
  await client.deleteDataset({ datasetName })
  assert.ok(!await client.hasDataset({ datasetName }))
})
