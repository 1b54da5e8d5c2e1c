/**
 * The LangSmith client in its mode for OpenTelemetry: what it traces goes out as OTLP. Its
 * environment names the project, or the agent that has it.
 *
 * Usage: node driver.mjs <name of the project>
 */

import assert from 'node:assert/strict'

import { trace } from '@opentelemetry/api'
import { Client, RunTree } from 'langsmith'
import { initializeOTEL } from 'langsmith/experimental/otel/setup'
import { traceable } from 'langsmith/traceable'

import { check, collect } from '../report.mjs'

const [project] = process.argv.slice(2)
const { DEFAULT_LANGSMITH_SPAN_PROCESSOR: processor } = initializeOTEL()
const client = new Client()

const model = traceable(
  async (text) => ({ role: 'assistant', content: text.toUpperCase(),
    usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } }),
  { name: 'model', run_type: 'llm', metadata: { ls_model_name: 'small' } },
)
const agent = traceable(async ({ question }) => ({ answer: (await model(question)).content }), {
  name: 'agent',
  tags: ['first'],
  metadata: { user: 'ada', thread_id: 'talk 1' },
})
const broken = traceable(async () => {
  throw new Error('This is meant to fail.')
}, { name: 'broken' })

await check('traceable as spans of OpenTelemetry', async () => {
  assert.deepEqual(await agent({ question: 'why?' }), { answer: 'WHY?' })
  await assert.rejects(broken({}))
  await trace.getTracer('own').startActiveSpan('own span', async (span) => {
    await agent({ question: 'below?' })
    span.end()
  })
  await RunTree.getSharedClient().awaitPendingTraceBatches()
  await processor.forceFlush()
  const runs = await collect(client.listRuns({ projectName: project }))
  assert.deepEqual(runs.map((run) => run.name).sort(), ['agent', 'agent', 'broken', 'model',
    'model'])
  const root = runs.find((run) => run.inputs.question === 'why?')
  const child = runs.find((run) => run.parent_run_id === root.id)
  assert.equal(root.parent_run_id, null)
  assert.deepEqual(root.outputs, { answer: 'WHY?' })
  assert.deepEqual(root.tags, ['first'])
  assert.equal(root.extra.metadata.user, 'ada')
  assert.deepEqual([child.name, child.run_type, child.trace_id, child.total_tokens], ['model',
    'llm', root.trace_id, 7])
  assert.match(runs.find((run) => run.name === 'broken').error, /meant to fail/)
  const roots = await collect(client.listRuns({ projectName: project, isRoot: true }))
  assert.deepEqual(roots.map((run) => run.name).sort(), ['agent', 'agent', 'broken'])
  const tree = await client.readRun(root.id, { loadChildRuns: true })
  assert.deepEqual(tree.child_runs.map((run) => run.name), ['model'])
})

await check('feedback for a run', async () => {
  const [run] = await collect(
    client.listRuns({ projectName: project, filter: 'eq(thread_id, "talk 1")', isRoot: true }),
  )
  await client.createFeedback(run.id, 'helpful', { score: 1, traceId: run.trace_id })
  assert.equal((await client.readRun(run.id)).feedback_stats.helpful.n, 1)
})
