/** Experiments that go on after the answer: what is asked, judged, limited and cancelled. */

import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'

import { experimentWire } from '../../support/experiments.ts'
import { openModel } from '../../support/model-server.ts'
import type { ModelServer } from '../../support/model-server.ts'
import { isNight } from '../../support/repeats.ts'
import { useServer } from '../../support/server.ts'

const server = useServer('judging')
const wire = experimentWire(server)
let model: ModelServer
beforeAll(async () => {
  model = await openModel()
})
afterAll(() => model.close())
beforeEach(() => model.does({ pieces: ['Hello', ' there'] }))

const chat = { assistant_id: 'answer', input_text: 'question', output_text: 'answer' }
const judge = { graph_id: 'judge' }
const manifest = { lc: 1, type: 'constructor',
  id: ['langchain_core', 'prompts', 'chat', 'ChatPromptTemplate'],
  kwargs: { input_variables: ['question'],
    messages: [{ lc: 1, type: 'constructor',
      id: ['langchain_core', 'prompts', 'chat', 'HumanMessagePromptTemplate'], kwargs: {
        prompt: { lc: 1, type: 'constructor',
          id: ['langchain_core', 'prompts', 'prompt', 'PromptTemplate'],
          kwargs: { template: 'Say {question}', template_format: 'f-string',
            input_variables: ['question'] } },
      } }] } }
const prompted = () => ({ manifest, output_text: 'answer',
  model: { dialect: 'openai', base_url: `${model.url}v1`, model: 'tiny' } })

it('Asks an assistant about each example as often as wished, and judges the answers', async () => {
  const dataset = await wire.dataset('asked', ['a', 'b', 'broken'])
  const made = await wire.begun({ ...chat, dataset_id: dataset, evaluators: [judge], repetitions: 2,
    project_name: 'first try' })
  expect(made).toMatchObject({ status: 'Created', total_runs: 6, project_name: 'first try',
    finished_at: null })
  const over = await wire.over(made.id)
  expect(over).toMatchObject({ status: 'Completed', finished_runs: 6, failed_runs: 2, verdicts: 4,
    failed_verdicts: 0, error: expect.stringContaining('I do not know.') as string })
  const runs = await wire.runs(over)
  expect(runs).toHaveLength(6)
  const byExample = Map.groupBy(runs, ({ reference_example_id: id }) => id)
  expect([...byExample.values()].map((each) => each.length)).toEqual([2, 2, 2])
  const good = runs.filter(({ error }) => error === null)
  expect(good).toHaveLength(4)
  for (const { inputs, outputs, feedback_stats: feedback, total_tokens: tokens, extra } of good) {
    expect(outputs).toEqual({ answer: `Answer to ${String(inputs['question'])}` })
    expect(feedback).toMatchObject({ short: { n: 1, avg: 0 } })
    expect(tokens).toBe(7)
    const { thread_id: thread, run_id: run } = extra.metadata
    const { status } = await wire.send('GET', `/runs/${String(run)}`)
    expect(status).toBe(200)
    expect(thread).toEqual(expect.any(String))
  }
  // The client of LangSmith sees an ordinary experiment.
  const { body: session } = await wire.send('GET', `/sessions/${over.session_id}`)
  expect(session).toMatchObject({ name: 'first try', reference_dataset_id: dataset,
    end_time: expect.any(String) as string, extra: { metadata: { num_repetitions: 2 } } })
  const { body: compared } = await wire.send('POST', `/datasets/${dataset}/runs`, {
    session_ids: [over.session_id],
    limit: 10,
    offset: 0,
  })
  expect((compared as readonly { readonly runs: readonly unknown[] }[])
    .map((each) => each.runs.length)).toEqual([2, 2, 2])
})

it('Asks a prompt, and waits for a limit as long as that says', async () => {
  const dataset = await wire.dataset('prompted', ['a', 'b', 'c'])
  let refusals = 0
  model.does({ pieces: [], instead: (_, response) => {
    if (refusals++ < (isNight ? 2 : 1)) {
      response.writeHead(429, { 'retry-after': '1' })
      response.end('{"error":{"message":"Slow down."}}')
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ choices: [{ message: { content: 'Fine' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 2, completion_tokens: 1 } }),
    )
  } })
  const made = await wire.begun({ ...prompted(), dataset_id: dataset, max_concurrency: 1 })
  expect(made.project_name).toMatch(/^tiny-/)
  await vi.waitFor(
    async () =>
      expect(await wire.get(made.id)).toMatchObject({ status: 'Running', failed_runs: 0,
        waits_until: expect.any(String) as string,
        error: expect.stringContaining('Slow down.') as string }),
    { timeout: 60_000, interval: 20 },
  )
  const over = await wire.over(made.id)
  expect(over).toMatchObject({ status: 'Completed', finished_runs: 3, failed_runs: 0, error: null,
    waits_until: null })
  const runs = await wire.runs(over)
  expect(runs.map(({ outputs }) => outputs)).toEqual(
    [1, 2, 3].map(() => expect.objectContaining({ answer: 'Fine' }) as object),
  )
  expect(refusals).toBe(isNight ? 5 : 4)
})

it('What a model refuses for good is a failed run, and is not asked again', async () => {
  const dataset = await wire.dataset('refused', ['a'])
  model.does({ pieces: [], instead: (_, response) => {
    response.writeHead(400)
    response.end('{"error":{"message":"No such model."}}')
  } })
  const { id } = await wire.begun({ ...prompted(), dataset_id: dataset })
  const over = await wire.over(id)
  expect(over).toMatchObject({ status: 'Completed', failed_runs: 1,
    error: expect.stringContaining('No such model.') as string })
  expect((await wire.runs(over))[0]).toMatchObject({
    error: expect.stringContaining('No such model.') as string,
  })
})

it('A cancelled one stops: its runs stay, and others may begin', async () => {
  const dataset = await wire.dataset('cancelled',
    Array.from({ length: 40 }, (_, no) => `slowly ${no}`))
  const body = { ...chat, dataset_id: dataset, max_concurrency: 2 }
  const made = await wire.begun(body)
  await vi.waitFor(async () => expect((await wire.get(made.id)).finished_runs).toBeGreaterThan(1), {
    timeout: 60_000,
    interval: 20,
  })
  const { body: cancelled } = await wire.send('PATCH', `/experiments/${made.id}`, {
    status: 'Cancelled',
  })
  expect(cancelled).toMatchObject({ status: 'Cancelled',
    finished_at: expect.any(String) as string })
  await vi.waitFor(async () => {
    const { body: session } = await wire.send('GET', `/sessions/${made.session_id}`)
    expect(session).toMatchObject({ end_time: expect.any(String) as string })
  }, { timeout: 60_000, interval: 20 })
  const { finished_runs: finished } = await wire.get(made.id)
  expect((await wire.runs(made)).length).toBeLessThan(40)
  expect((await wire.get(made.id)).finished_runs).toBe(finished)
  const { body: listed } = await wire.send('GET', `/experiments?dataset=${dataset}`)
  expect(listed).toMatchObject([{ id: made.id }])
})

it('Of a tenant some may be open', async () => {
  const dataset = await wire.dataset('open', Array.from({ length: 60 }, (_, no) => `slowly ${no}`))
  const body = { ...chat, dataset_id: dataset, max_concurrency: 1 }
  const open = []
  for (let no = 0; no < 4; no++) open.push(await wire.begun(body))
  const full = await wire.send('POST', '/experiments', body)
  expect(full).toMatchObject({ status: 429,
    body: { detail: 'There may be 4 experiments that go on: wait for one, or cancel one.' } })
  for (const { id } of open) {
    await wire.send('PATCH', `/experiments/${id}`, { status: 'Cancelled' })
  }
})

it('Refuses in words what cannot be asked', async () => {
  const dataset = await wire.dataset('sound', ['a'])
  const empty = await wire.dataset('empty', []).catch(() => undefined)
  const cases: readonly [object, number, string][] = [
    [{ dataset_id: dataset }, 422, 'Name one of'],
    [{ ...chat, ...prompted(), dataset_id: dataset }, 422, 'Name one of'],
    [{ ...chat, dataset_id: crypto.randomUUID() }, 404, 'Dataset'],
    [{ ...chat, assistant_id: 'nobody', dataset_id: dataset }, 404, 'nobody'],
    [{ ...chat, dataset_id: dataset, evaluators: [{ graph_id: 'nobody' }] }, 422, 'nobody'],
    [{ ...chat, dataset_id: dataset, evaluators: [{}] }, 422, 'evaluators'],
    [{ ...chat, dataset_id: dataset, evaluator_ids: [crypto.randomUUID()] }, 422, 'evaluator_ids'],
    [{ ...chat, dataset_id: dataset, dataset_splits: ['none'] }, 422, 'no examples'],
    [{ ...chat, dataset_id: dataset, repetitions: 21 }, 422, 'repetitions'],
    ...empty === undefined ? [] : [[{ ...chat, dataset_id: empty }, 422, 'no examples']] as [
      object,
      number,
      string,
    ][],
  ]
  for (const [body, status, text] of cases) {
    const answer = await wire.send('POST', '/experiments', body)
    expect({ status: answer.status, text: JSON.stringify(answer.body) }, JSON.stringify(body))
      .toEqual({ status, text: expect.stringContaining(text) as string })
  }
  expect((await wire.send('GET', `/experiments/${crypto.randomUUID()}`)).status).toBe(404)
})
