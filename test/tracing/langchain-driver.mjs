/**
 * What LangChain traces by itself: a sequence of three steps, a streamed model, a tool and a
 * failure, with the tracer that it makes of the environment, and with one that is given.
 *
 * Usage: node langchain-driver.mjs <name of the project>
 */

import assert from 'node:assert/strict'

import { AIMessage } from '@langchain/core/messages'
import { StringOutputParser } from '@langchain/core/output_parsers'
import { ChatPromptTemplate } from '@langchain/core/prompts'
import { RunnableLambda, RunnableSequence } from '@langchain/core/runnables'
import { tool } from '@langchain/core/tools'
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { Client } from 'langsmith'
import { traceable } from 'langsmith/traceable'

import { check, collect } from './report.mjs'

const [project] = process.argv.slice(2)
const client = new Client()
const tracer = (projectName) => new LangChainTracer({ client, projectName })

/** A model that says how many tokens it used, as those of vendors do. */
class CountingModel extends FakeListChatModel {
  _formatGeneration(text) {
    const usage = { input_tokens: 11, output_tokens: 5, total_tokens: 16 }
    return { text, message: new AIMessage({ content: text, usage_metadata: usage }) }
  }

  getLsParams() {
    return { ls_provider: 'fake', ls_model_name: 'small', ls_model_type: 'chat' }
  }
}

const chain = (model) =>
  RunnableSequence.from([
    ChatPromptTemplate.fromMessages([['system', 'Be short.'], ['human', '{question}']]),
    model,
    new StringOutputParser(),
  ]).withConfig({ runName: 'answering' })

async function runsIn(projectName, more = {}) {
  await client.awaitPendingTraceBatches()
  return collect(client.listRuns({ projectName, ...more }))
}

const shape = (runs) => runs.map((run) => `${run.run_type} ${run.name}`).sort()

await check('a sequence of three steps', async () => {
  const here = `${project} sequence`
  const given = await chain(new CountingModel({ responses: ['Because.'] })).invoke(
    { question: 'Why?' },
    { callbacks: [tracer(here)], tags: ['asked'], metadata: { user: 'ada', session_id: 's1' } },
  )
  assert.equal(given, 'Because.')
  const runs = await runsIn(here)
  assert.deepEqual(shape(runs), ['chain answering', 'llm CountingModel', 'parser StrOutputParser',
    'prompt ChatPromptTemplate'])
  const root = runs.find((run) => run.name === 'answering')
  const model = runs.find((run) => run.run_type === 'llm')
  assert.deepEqual(root.inputs, { question: 'Why?' })
  assert.deepEqual(root.outputs, { output: 'Because.' })
  assert.deepEqual(root.tags, ['asked'])
  assert.equal(root.status, 'success')
  assert.deepEqual([...new Set(runs.map((run) => run.trace_id))], [root.id])
  assert.deepEqual([...new Set(runs.filter((run) => run !== root)
    .map((run) => run.parent_run_id))], [root.id])
  assert.equal(model.inputs.messages[0][1].kwargs.content, 'Why?')
  assert.equal(model.outputs.generations[0][0].text, 'Because.')
  assert.deepEqual([model.prompt_tokens, model.completion_tokens, model.total_tokens], [11, 5, 16])
  const [trace] = await collect(
    client.traces.query({ project_id: root.session_id,
      min_start_time: new Date(Date.now() - 3_600_000).toISOString(), selects: ['NAME'] }),
  )
  assert.deepEqual([trace.root_run.name, trace.trace_aggregates.total_tokens], ['answering', 16])
  assert.equal(root.total_tokens, 16)
  assert.equal(model.extra.metadata.ls_model_name, 'small')
  assert.equal(model.extra.metadata.user, 'ada')
  const tree = await client.readRun(root.id, { loadChildRuns: true })
  assert.deepEqual(tree.child_runs.map((run) => run.run_type), ['prompt', 'llm', 'parser'])
  const threads = await runsIn(here, { filter: 'eq(thread_id, "s1")', isRoot: true })
  assert.deepEqual(shape(threads), ['chain answering'])
})

await check('a model that streams', async () => {
  const here = `${project} streamed`
  const chunks = await collect(await chain(new FakeListChatModel({ responses: ['Because.'] }))
    .stream({ question: 'Why?' }, { callbacks: [tracer(here)] }))
  assert.equal(chunks.join(''), 'Because.')
  const [model] = await runsIn(here, { runType: 'llm' })
  assert.equal(model.outputs.generations[0][0].text, 'Because.')
  assert.ok(model.events.some((event) => event.name === 'new_token'))
  assert.ok(Date.parse(model.first_token_time) >= Date.parse(model.start_time))
})

await check('a failure', async () => {
  const here = `${project} failed`
  const step = RunnableLambda.from(() => {
    throw new TypeError('This is meant to fail.')
  }).withConfig({ runName: 'failing' })
  const whole = RunnableSequence.from([RunnableLambda.from((x) => x), step])
    .withConfig({ runName: 'whole' })
  await assert.rejects(whole.invoke({}, { callbacks: [tracer(here)] }))
  const runs = await runsIn(here, { error: true })
  assert.deepEqual(shape(runs), ['chain failing', 'chain whole'])
  for (const run of runs) {
    assert.equal(run.status, 'error')
    assert.match(run.error, /TypeError: This is meant to fail/)
  }
})

await check('a tool below traceable, by the environment alone', async () => {
  const here = `${project} traceable`
  process.env.LANGSMITH_PROJECT = here
  const add = tool(({ a, b }) => String(a + b), { name: 'add', description: 'Adds.',
    schema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } })
  const agent = traceable(async (a) => add.invoke({ a, b: 2 }), { name: 'agent', client,
    project_name: here })
  assert.equal(await agent(1), '3')
  const runs = await runsIn(here)
  assert.deepEqual(shape(runs), ['chain agent', 'tool add'])
  assert.equal(runs.find((run) => run.name === 'add').trace_id,
    runs.find((run) => run.name === 'agent').id)
})

await check('many at once', async () => {
  const here = `${project} many`
  const asked = Array.from({ length: 100 }, (_, index) => ({ question: `Question ${index}` }))
  await chain(new CountingModel({ responses: ['Because.'] }))
    .batch(asked, { callbacks: [tracer(here)], maxConcurrency: 20 })
  const roots = await runsIn(here, { isRoot: true })
  assert.deepEqual(roots.map((run) => run.inputs.question).sort(),
    asked.map((each) => each.question).sort())
  assert.equal((await runsIn(here)).length, 400)
})
