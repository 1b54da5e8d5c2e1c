/** Judges by prompt on a real server: an inline prompt, one of the hub, and what they leave. */

import { randomUUID } from 'node:crypto'

import { Client } from 'langsmith'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { openModel } from '../../support/model-server.ts'
import type { ModelServer } from '../../support/model-server.ts'
import { isNight } from '../../support/repeats.ts'
import { eventually, ruleWire } from '../../support/rules.ts'
import { useServer } from '../../support/server.ts'

const server = useServer('judging')
const wire = ruleWire(server)
let model: ModelServer

beforeAll(async () => {
  model = await openModel()
})
afterAll(() => model.close())

const schema = { type: 'object',
  properties: { polite: { type: 'boolean' }, comment: { type: 'string' } }, required: ['polite'] }
const serialised = () => ({ dialect: 'openai', base_url: `${model.url}v1`, model: 'tiny' })
const inline = () => ({
  structured: { prompt: [['system', 'Is this polite?'], ['human', '{text}']],
    variable_mapping: { text: 'output.answer' }, schema, model: serialised() },
})

it.runIf(isNight)('A prompt judges; its call is a span of its own, and examples are made of runs',
  async () => {
    model.does({ pieces: [JSON.stringify({ polite: true, comment: 'It says please.' })] })
    const project = await wire.project('polite')
    const dataset = (await wire.send('POST', '/datasets', { name: 'kept' })).body as { id: string }
    const queue = (await wire.send('POST', '/annotation-queues', { name: 'seen' })).body as {
      id: string
    }
    const rule = await wire.rule({ display_name: 'Polite', session_id: project,
      add_to_annotation_queue_id: queue.id, add_to_dataset_id: dataset.id, evaluators: [inline()] })
    const id = randomUUID()
    await wire.end(project, [{ id, inputs: { q: 1 }, outputs: { answer: 'Please {sit} down.' } }])
    await eventually(async () => expect(await wire.log(rule)).toHaveLength(1))
    const [line] = await wire.log(rule)
    expect(line).toMatchObject({ outcome: 'done',
      actions: [{ kind: 'queue' }, { kind: 'dataset' }, { kind: 'evaluator',
        message: 'Judged: polite: true.' }] })
    expect(await wire.feedback(id)).toMatchObject([{ key: 'polite', score: true,
      comment: 'It says please.',
      feedback_source: { metadata: { __run: { run_id: line!.actions[2]!.judge_run_id } } } }])
    expect(JSON.stringify(model.asked.at(-1))).toContain('Please {sit} down.')
    const judged = await wire.send('GET', `/runs/${line!.actions[2]!.judge_run_id}`)
    expect(judged.body).toMatchObject({ run_type: 'llm', name: 'Polite', total_tokens: 19 })
    const examples = await wire.send('GET', `/examples?dataset=${dataset.id}`)
    expect(examples.body).toMatchObject([{ inputs: { q: 1 }, source_run_id: id }])
    const size = await wire.send('GET', `/annotation-queues/${queue.id}/size`)
    expect(size.body).toMatchObject({ size: 1 })
  }, 60_000)

it.runIf(isNight)('A judge that fails or talks nonsense leaves a sentence, and holds up nothing',
  async () => {
    const project = await wire.project('nonsense')
    model.does({ pieces: ['I would rather not.'] })
    const rule = await wire.rule({ display_name: 'Nonsense', session_id: project,
      evaluators: [inline()] })
    const [first, second] = [randomUUID(), randomUUID()]
    await wire.end(project, [{ id: first }])
    await eventually(async () =>
      expect(await wire.log(rule)).toMatchObject([{ outcome: 'failed' }])
    )
    model.does({ pieces: [], instead: (_, response) => {
      response.statusCode = 400
      response.end('{"error":{"message":"No."}}')
    } })
    await wire.end(project, [{ id: second }])
    await eventually(async () => expect(await wire.log(rule)).toHaveLength(2))
    for (const id of [first, second]) expect(await wire.feedback(id)).toEqual([])
    expect((await wire.log(rule)).map(({ message }) => message)).toEqual([
      'The endpoint of the model answered 400: No.',
      'The answer of the model is not the JSON that its schema asks for.',
    ])
    const dry = await wire.send('POST', '/runs/rules/judge', { evaluator: inline(), run_id: first })
    expect(dry.status).toBeLessThan(500)
    model.does({ pieces: [JSON.stringify({ polite: false })] })
    const again = await wire.send('POST', '/runs/rules/judge', { evaluator: inline(),
      run_id: first })
    expect(again.body).toMatchObject({ feedback: [{ key: 'polite', score: false }] })
    expect(await wire.feedback(first)).toEqual([])
  }, 60_000)

it.runIf(isNight)('An endpoint that never stops is left, and the log says so', async () => {
  const project = await wire.project('endless')
  const rule = await wire.rule({ display_name: 'Endless', session_id: project,
    evaluators: [inline()] })
  let left = 0
  const piece = JSON.stringify('x'.repeat(64 * 1024))
  model.does({ pieces: [], instead: (_, response) => {
    response.setHeader('content-type', 'application/json')
    response.write('{"choices":[')
    const more = () => {
      while (!response.destroyed && response.write(`${piece},`));
    }
    response.on('drain', more).on('close', () => left += 1)
    more()
  } })
  const id = randomUUID()
  await wire.end(project, [{ id }])
  await eventually(async () =>
    expect(await wire.log(rule)).toMatchObject([{ outcome: 'failed',
      message: 'The answer of the model broke off: it is longer than 1048576 bytes.' }])
  )
  expect(await wire.feedback(id)).toEqual([])
  expect(left).toBeGreaterThan(0)
}, 60_000)

it.runIf(isNight)('A kept evaluator names a prompt of the hub, by the generated client',
  async () => {
    model.does({ pieces: [JSON.stringify({ polite: true })] })
    const constructed = (name: string, kwargs: object) => ({ lc: 1, type: 'constructor',
      id: ['langchain_core', 'prompts', name], kwargs })
    const manifest = constructed('StructuredPrompt', { input_variables: ['output'], schema_: schema,
      messages: [constructed('HumanMessagePromptTemplate', {
        prompt: constructed('PromptTemplate', { template: 'Polite? {output}',
          input_variables: ['output'], template_format: 'f-string' }),
      })] })
    await wire.send('POST', '/repos', { repo_handle: 'polite', is_public: false })
    const commit = await wire.send('POST', '/commits/-/polite', { manifest })
    expect(commit.status).toBeLessThan(300)
    await wire.send('POST', '/playground-settings', { name: 'tiny', settings: serialised(),
      is_default: true })
    const client = new Client({ apiUrl: `${server.url}/api`, apiKey: 'none' })
    const { evaluators } = client as unknown as { readonly evaluators: Online }
    const { evaluator } = await evaluators.create({ name: 'polite', type: 'llm',
      llm_evaluator: { prompt_repo_handle: 'polite', commit_hash_or_tag: 'latest' } })
    const project = await wire.project('hub')
    const rule = await wire.rule({ display_name: 'Hub', session_id: project,
      evaluator_id: evaluator.id })
    const id = randomUUID()
    await wire.end(project, [{ id, outputs: { answer: 'Sit.' } }])
    await eventually(async () => expect(await wire.log(rule)).toMatchObject([{ outcome: 'done' }]))
    expect(await wire.feedback(id)).toMatchObject([{ key: 'polite' }])
    const found = []
    for await (const each of evaluators.list()) found.push(each)
    expect(found).toMatchObject([{ id: evaluator.id, run_rules: [{ id: rule }] }])
    expect(await evaluators.update(evaluator.id, { name: 'kind' }))
      .toMatchObject({ evaluator: { name: 'kind' } })
    await evaluators.delete(evaluator.id)
    await expect(evaluators.retrieve(evaluator.id)).rejects.toThrow('404')
  }, 60_000)

interface Kept {
  readonly id: string
  readonly name: string
}

interface Online {
  create(body: object): Promise<{ readonly evaluator: Kept }>
  retrieve(id: string): Promise<Kept>
  update(id: string, body: object): Promise<{ readonly evaluator: Kept }>
  list(): AsyncIterable<Kept>
  delete(id: string): Promise<void>
}
