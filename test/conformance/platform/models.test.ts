/** Models of customers at a real server: the playground, its settings, and secrets that stay so. */

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { openModel } from '../../support/model-server.ts'
import type { ModelServer } from '../../support/model-server.ts'
import { useServer } from '../../support/server.ts'
import { ask, framesOf } from '../../support/wire.ts'

const folder = mkdtempSync(join(tmpdir(), 'heddle-secrets-'))
const keyFile = join(folder, 'key')
writeFileSync(keyFile, randomBytes(32))

const server = useServer({
  project: 'telling',
  args: ['--secrets-key', keyFile, '--egress-allow', '127.0.0.1', '--log-level', 'debug',
    '--workers', '1'],
})
const value = `sk-${randomBytes(24).toString('hex')}`
const own = `own-${randomBytes(24).toString('hex')}`

let model: ModelServer
beforeAll(async () => {
  model = await openModel()
  await send('POST', '/workspaces/current/secrets', [{ key: 'MODEL_KEY', value }])
})
afterAll(() => model.close())
beforeEach(() => model.does({ pieces: ['Hello', ' there'] }))

const send = (method: string, path: string, body?: unknown) =>
  ask(server.url, method, `/api/v1${path}`, body)

const endpoint = (more: object = {}) => ({ dialect: 'openai', base_url: `${model.url}v1`,
  model: 'tiny', secret: 'MODEL_KEY', temperature: 0, ...more })
const messages = [{ role: 'user', content: 'Hi' }]

interface Event {
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
}

async function* played(body: object, signal?: AbortSignal): AsyncGenerator<Event> {
  const answer = await fetch(`${server.url}/api/v1/playground/stream`, { method: 'POST',
    body: JSON.stringify(body), ...signal && { signal } })
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
  expect(answer.headers.get('content-type')).toContain('text/event-stream')
  for await (const { text } of framesOf(answer.body!)) {
    const [, name, data] = /event: (\w+)\ndata: (.*)\n/.exec(`${text}\n`) ?? []
    if (name !== undefined) yield { name, data: JSON.parse(data!) as Event['data'] }
  }
}

async function all(body: object): Promise<readonly Event[]> {
  const events: Event[] = []
  for await (const event of played(body)) events.push(event)
  return events
}

async function spanOf(id: unknown): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await send('GET', `/runs/${id}`)
  expect(status).toBe(200)
  return body as Readonly<Record<string, unknown>>
}

describe.each(['openai', 'anthropic'])('The playground with a model that speaks %s', (dialect) => {
  it('streams the answer and leaves a span', async () => {
    const events = await all({ messages, model: endpoint({ dialect }) })
    const { run_id: id } = events[0]!.data
    expect(events).toEqual([
      { name: 'start', data: { run_id: id, project: 'playground' } },
      { name: 'text', data: { text: 'Hello' } },
      { name: 'text', data: { text: ' there' } },
      { name: 'end',
        data: { run_id: id, text: 'Hello there', latency_ms: expect.any(Number),
          usage: { input_tokens: 12, output_tokens: 7, total_tokens: 19 },
          first_text_ms: expect.any(Number) } },
    ])
    expect(await spanOf(id)).toMatchObject({ name: 'tiny', run_type: 'llm', inputs: { messages },
      outputs: { messages: [{ role: 'assistant', content: 'Hello there' }] }, total_tokens: 19,
      extra: { metadata: { ls_provider: dialect } }, error: null })
  })

  it('answers by a schema', async () => {
    model.does({ pieces: ['{"a":', '1}'] })
    const schema = { type: 'object', properties: { a: { type: 'integer' } } }
    const events = await all({ messages, model: endpoint({ dialect }), schema })
    expect(events.at(-1)).toMatchObject({ name: 'end', data: { json: { a: 1 } } })
  })

  it('is given tools and images, of which the span keeps no bytes', async () => {
    const tool = { name: 'look_up', parameters: { type: 'object' } }
    const image = `data:image/png;base64,${'A'.repeat(4_000)}`
    const events = await all({ messages, model: endpoint({ dialect }), tools: [tool],
      images: [image] })
    expect(JSON.stringify(model.asked.at(-1))).toContain('A'.repeat(4_000))
    const span = await spanOf(events[0]!.data['run_id'])
    expect(span).toMatchObject({ inputs: { images: [{ media_type: 'image/png', bytes: 3_000 }] },
      extra: { invocation_params: { tools: [tool] } } })
    expect(JSON.stringify(span)).not.toContain('AAAA')
  })

  it('says what the endpoint says', async () => {
    model.does({ pieces: [],
      instead: (_, response) =>
        response.writeHead(404).end('{"error":{"message":"No model of this name."}}') })
    const events = await all({ messages, model: endpoint({ dialect }) })
    const { run_id: id } = events[0]!.data
    const detail = 'The endpoint of the model answered 404: No model of this name.'
    expect(events.slice(1)).toEqual([
      { name: 'error', data: { run_id: id, error: 'model_failed', detail, status: 404 } },
    ])
    expect(await spanOf(id)).toMatchObject({ error: detail, status: 'error' })
  })
})

describe('The playground', () => {
  it('refuses in words images that are none, and too many bytes of them', async () => {
    const png = (bytes: number) => `data:image/png;base64,${'A'.repeat(bytes / 3 * 4)}`
    const cases: readonly [readonly string[], string][] = [
      [['https://example.com/a.png'], 'images: number 1 is no data URL'],
      [[png(3), 'data:image/svg+xml;base64,AAAA'], 'images: number 2'],
      [[png(1_800_000), png(1_800_000)], 'The images have more than 3 MB together'],
    ]
    for (const [images, words] of cases) {
      const { status, body } = await send('POST', '/playground/stream', { messages, images,
        model: endpoint() })
      expect(status).toBe(422)
      expect(JSON.stringify(body)).toContain(words)
    }
    // As much as may be is taken.
    const events = await all({ messages, model: endpoint(), images: [png(3_000_000)] })
    expect(events.at(-1)).toMatchObject({ name: 'end' })
    expect(
      (await send('POST', '/playground/stream', { messages, images: [png(6_000_000)],
        model: endpoint() })).status,
    ).toBe(413)
  })

  it('asks what a manifest or a stored prompt says, with the model behind it', async () => {
    const template = (role: string, text: string) => ({ lc: 1, type: 'constructor',
      id: ['langchain_core', 'prompts', 'chat', `${role}MessagePromptTemplate`], kwargs: {
        prompt: { lc: 1, type: 'constructor',
          id: ['langchain_core', 'prompts', 'prompt', 'PromptTemplate'],
          kwargs: { template: text, input_variables: ['who'], template_format: 'f-string' } },
      } })
    const prompt = { lc: 1, type: 'constructor',
      id: ['langchain_core', 'prompts', 'chat', 'ChatPromptTemplate'],
      kwargs: { input_variables: ['who'],
        messages: [template('System', 'Be kind.'), template('Human', 'Greet {who}')] } }
    const last = { lc: 1, type: 'constructor', id: ['langchain', 'chat_models', 'ChatOpenAI'],
      kwargs: { model: 'behind', base_url: `${model.url}v1`,
        openai_api_key: { lc: 1, type: 'secret', id: ['MODEL_KEY'] } } }
    const manifest = { lc: 1, type: 'constructor',
      id: ['langchain_core', 'runnables', 'RunnableSequence'],
      kwargs: { first: prompt, middle: [], last } }
    const variables = { who: 'Ada' }
    const asked = [{ role: 'system', content: 'Be kind.' }, { role: 'user', content: 'Greet Ada' }]
    await all({ manifest, variables })
    expect(model.asked.at(-1)).toMatchObject({ model: 'behind', messages: asked })
    await send('POST', '/repos', { repo_handle: 'greeting', is_public: false })
    expect((await send('POST', '/commits/-/greeting', { manifest })).status).toBeLessThan(300)
    await all({ prompt: { name: 'greeting' }, variables, model: endpoint() })
    expect(model.asked.at(-1)).toMatchObject({ model: 'tiny', messages: asked })
    const { status, body } = await send('POST', '/playground/stream', { manifest })
    expect([status, (body as { detail: string }).detail])
      .toEqual([422, expect.stringContaining('who')])
    expect((await send('POST', '/playground/stream', { prompt: { name: 'none' } })).status).toBe(
      404,
    )
    expect((await send('POST', '/playground/stream', { messages, manifest })).status).toBe(422)
  })

  it('streams several calls at once, each as it comes', async () => {
    const more = Promise.withResolvers<void>()
    model.does({ pieces: ['one', 'two'], between: () => more.promise })
    const streams = Array.from({ length: 6 }, () => played({ messages, model: endpoint() }))
    for (const stream of streams) {
      expect((await stream.next()).value).toMatchObject({ name: 'start' })
      expect((await stream.next()).value).toMatchObject({ data: { text: 'one' } })
    }
    more.resolve()
    for (const stream of streams) {
      expect((await stream.next()).value).toMatchObject({ data: { text: 'two' } })
      expect((await stream.next()).value).toMatchObject({ name: 'end' })
    }
  })

  it('asks 16 models of a tenant at a time', async () => {
    model.does({ pieces: [], instead: () => {} })
    const stop = new AbortController()
    const streams = Array.from({ length: 16 },
      () => played({ messages, model: endpoint() }, stop.signal))
    for (const stream of streams) await stream.next()
    await expect(all({ messages, model: endpoint() })).rejects.toThrow('429')
    stop.abort()
    // A turn is given back when the server sees that its reader left.
    model.does({ pieces: ['again'] })
    await expect.poll(() => all({ messages, model: endpoint() }).then(() => 'asked', () => 'full'))
      .toBe('asked')
  })

  it('cuts the call and ends the span when its reader leaves', async () => {
    const cut = Promise.withResolvers<void>()
    model.does({ pieces: [], instead: (_, response) => {
      response.once('close', cut.resolve)
      response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
    } })
    const stop = new AbortController()
    const stream = played({ messages, model: endpoint() }, stop.signal)
    const { run_id: id } = ((await stream.next()).value as Event).data
    await stream.next()
    stop.abort()
    await cut.promise
    await expect.poll(async () => (await send('GET', `/runs/${id}`)).body)
      .toMatchObject({ error: 'The reader left.', status: 'error' })
  })

  it('refuses what cannot be asked, before it streams', async () => {
    const refused = async (body: object) => {
      const { status, body: answer } = await send('POST', '/playground/stream', body)
      expect(status, JSON.stringify(answer)).toBe(422)
      return (answer as { detail: string }).detail
    }
    expect(await refused({ messages })).toContain('the workspace has no default model')
    expect(await refused({ model: endpoint() })).toContain('`messages`')
    expect(await refused({ messages, model: endpoint({ secret: 'NONE' }) }))
      .toContain('no secret NONE')
    expect(await refused({ messages, model: endpoint({ base_url: 'http://10.0.0.1/v1' }) }))
      .toContain('The URL of the model')
    expect(await refused({ messages, model: { lc: 1, id: ['ChatOther'], kwargs: {} } }))
      .toContain('ChatOpenAI')
    expect(await refused({ messages, model: endpoint(), secrets: { A: 1 } })).toBeTruthy()
  })

  it('asks the default model where none is named', async () => {
    const path = '/playground-settings'
    const { body: made } = await send('POST', path, { name: 'one', settings: endpoint() })
    const { id } = made as { id: string }
    expect(made).toMatchObject({ name: 'one', is_default: true, settings: { model: 'tiny' } })
    expect((await all({ messages })).at(-1)).toMatchObject({ name: 'end' })
    const { body: second } = await send('POST', path, { name: 'two', is_default: true,
      settings: endpoint({ model: 'second' }) })
    expect((await all({ messages })).length).toBe(4)
    expect(model.asked.at(-1)).toMatchObject({ model: 'second' })
    expect((await send('POST', path, { name: 'two', settings: endpoint() })).status).toBe(409)
    expect((await send('PATCH', `${path}/${id}`, { is_default: true })).body)
      .toMatchObject({ is_default: true })
    expect((await send('GET', path)).body).toMatchObject([{ name: 'one', is_default: true }, {
      name: 'two',
      is_default: false,
    }])
    for (const each of [id, (second as { id: string }).id]) {
      expect((await send('DELETE', `${path}/${each}`)).status).toBe(204)
    }
    expect((await send('PATCH', `${path}/${id}`, { name: 'x' })).status).toBe(404)
  })
})

describe('A filter in words', () => {
  const path = '/runs/generate-query'

  it('is written by the model, and checked', async () => {
    const answers = ['{"filter":"eq(name, "}', '{"filter":"eq(run_type, \\"llm\\")"}']
    const said = (answer: string) => ({ choices: [{ message: { content: answer } }] })
    model.does({ pieces: [],
      instead: (_, response) => response.end(JSON.stringify(said(answers.shift()!))) })
    const { status, body } = await send('POST', path, { query: 'models', model: endpoint() })
    expect([status, body]).toEqual([200, { filter: 'eq(run_type, "llm")', feedback_urls: {} }])
    expect(JSON.stringify(model.asked.at(-1)!['messages'])).toContain('That cannot be read: ')
  })

  it('is refused with a sentence if the model writes none', async () => {
    model.does({ pieces: ['{"filter":"nonsense("}'] })
    const { status, body } = await send('POST', path, { query: 'models', model: endpoint() })
    expect(status).toBe(422)
    expect((body as { detail: string }).detail).toMatch(/^The model wrote no filter/)
    const { body: none } = await send('POST', path, { query: 'models' })
    expect((none as { detail: string }).detail).toContain('the workspace has no default model')
  })
})

describe('The examples of a dataset', () => {
  let dataset: string
  beforeAll(async () => {
    const { body } = await send('POST', '/datasets', { name: 'colours' })
    dataset = (body as { id: string }).id
    const examples = [...Array.from({ length: 20 }, (_, number) => ({
      inputs: { who: `person ${number}` },
      outputs: { answer: 'Hi' },
    })), { inputs: { other: 1 } }]
    await send('POST', '/examples/bulk', examples.map((each) => ({ dataset_id: dataset, ...each })))
  })
  const manifest = { lc: 1, type: 'constructor',
    id: ['langchain_core', 'prompts', 'prompt', 'PromptTemplate'],
    kwargs: { template: 'Greet {who}', input_variables: ['who'], template_format: 'f-string' } }
  const path = '/datasets/playground_experiment'
  const asked = (more: object) => ({ manifest, model: endpoint(), dataset_id: dataset, ...more })

  it('are asked about eight at a time, each with a span of the experiment', async () => {
    let [now, most] = [0, 0]
    const more = Promise.withResolvers<void>()
    model.does({ pieces: ['Hello', '!'], between: async () => {
      most = Math.max(most, ++now)
      if (now === 8) more.resolve()
      await more.promise
      now--
    } })
    const { status, body } = await send('POST', `${path}/batch`, asked({ project_name: 'first' }))
    expect([status, body]).toEqual([200, { session_id: expect.any(String), project_name: 'first',
      runs: 20, errors: 1 }])
    expect(most).toBe(8)
    const { session_id: id } = body as { session_id: string }
    expect((await send('GET', `/sessions/${id}`)).body)
      .toMatchObject({ reference_dataset_id: dataset, end_time: expect.any(String) })
    const { body: found } = await send('POST', '/runs/query', { session: [id], limit: 100 })
    const { runs } = found as { runs: readonly { reference_example_id: string }[] }
    expect(new Set(runs.map(({ reference_example_id: example }) => example)).size).toBe(20)
    expect((await send('POST', `${path}/batch`, asked({ project_name: 'first' }))).status).toBe(409)
  })

  it('are asked about by no model that cannot be called, and in no project then', async () => {
    const refused = async (more: object) => {
      const { status } = await send('POST', `${path}/batch`,
        asked({ project_name: 'none', ...more }))
      return status
    }
    expect(await refused({ model: endpoint({ secret: 'NONE' }) })).toBe(422)
    expect(await refused({ model: endpoint({ base_url: 'http://10.0.0.1' }) })).toBe(422)
    expect(await refused({ evaluator_rules: [dataset] })).toBe(422)
    expect(await refused({ dataset_id: '00000000-0000-4000-8000-000000000000' })).toBe(404)
    expect((await send('GET', '/sessions?name=none')).body).toEqual([])
  })

  it('are events as they end', async () => {
    const answer = await fetch(`${server.url}/api/v1${path}/stream`, { method: 'POST',
      body: JSON.stringify(asked({ project_name: 'second' })) })
    const names: string[] = []
    for await (const { text } of framesOf(answer.body!)) {
      names.push(/event: (\w+)/.exec(text)?.[1] ?? '')
    }
    expect(names).toEqual(['start', ...Array.from({ length: 21 }, () => 'run'), 'end'])
  })

  it('are asked about no more when the reader leaves', async () => {
    model.does({ pieces: [], instead: () => {} })
    const stop = new AbortController()
    const before = model.received.length
    const begin = (project_name: string) =>
      fetch(`${server.url}/api/v1${path}/batch`, { method: 'POST', signal: stop.signal,
        body: JSON.stringify(asked({ project_name })) })
    const sent = Promise.allSettled(['third', 'a', 'b', 'c'].map(begin))
    await model.arrived(before + 8)
    await expect.poll(async () => (await send('GET', '/sessions?name=c')).body).toHaveLength(1)
    expect((await send('POST', `${path}/batch`, asked({ project_name: 'fifth' }))).status).toBe(429)
    stop.abort()
    for (const { status } of await sent) expect(status).toBe('rejected')
    model.does({ pieces: ['Hi'] })
    let body: unknown
    await expect.poll(async () => {
      const answer = await send('POST', `${path}/batch`, asked({ project_name: 'fourth' }))
      body = answer.body
      return answer.status
    }).toBe(200)
    expect(body).toMatchObject({ runs: 20 })
    expect(model.received.length).toBe(before + 28)
  })

  it('are the pattern of those that a model makes up', async () => {
    const examples = [{ inputs: { who: 'Eve' }, outputs: { answer: 'Hi' } }, {
      inputs: { who: 'Bob' },
      outputs: 'none',
    }, 'no example']
    model.does({ pieces: [JSON.stringify({ examples })] })
    const ask = (body: object) => send('POST', `/datasets/${dataset}/generate`, body)
    const { status, body } = await ask({ num_examples: 5, model: endpoint(),
      instructions: 'Only short names.' })
    expect([status, body]).toEqual([200, {
      examples: [examples[0], { inputs: { who: 'Bob' }, outputs: null }],
    }])
    const prompt = JSON.stringify(model.asked.at(-1)!['messages'])
    expect(prompt).toContain('person 1')
    expect(prompt).toContain('Only short names.')
    expect((await ask({ num_examples: 51, model: endpoint() })).status).toBe(422)
    expect(((await ask({ num_examples: 5 })).body as { detail: string }).detail)
      .toContain('the workspace has no default model')
    model.does({ pieces: ['{"examples":[]}'] })
    expect((await ask({ num_examples: 5, model: endpoint() })).status).toBe(422)
  })
})

it('Prices are kept as they were given', async () => {
  const price = { name: 'tiny', match_pattern: '^tiny', prompt_cost: 1e-6, completion_cost: 2e-6 }
  const { body: made } = await send('POST', '/model-price-map', { ...price, provider: 'p' })
  const { id } = made as { id: string }
  expect((await send('PUT', `/model-price-map/${id}`, { ...price, prompt_cost: 3e-6 })).status)
    .toBe(200)
  expect((await send('GET', '/model-price-map')).body)
    .toMatchObject([{ ...price, id, prompt_cost: 3e-6, provider: null }])
  expect((await send('DELETE', `/model-price-map/${id}`)).status).toBe(204)
  expect((await send('GET', '/model-price-map')).body).toEqual([])
  expect((await send('POST', '/model-price-map', { ...price, prompt_cost: -1 })).status).toBe(422)
  const { status, body } = await send('POST', '/model-price-map', { ...price,
    match_pattern: '(a)\\1' })
  expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('linear time')])
})

describe('Secrets', () => {
  const path = '/workspaces/current/secrets'

  it('are listed by name only, replaced and deleted', async () => {
    expect((await send('GET', path)).body).toEqual([{ key: 'MODEL_KEY' }])
    const { body } = await send('POST', path, [{ key: 'B', value: 'first-one' }, { key: 'A',
      value: 'second-one' }])
    expect(body).toEqual([{ key: 'A' }, { key: 'B' }, { key: 'MODEL_KEY' }])
    await send('POST', path, [{ key: 'B', value: 'third-one' }])
    await all({ messages, model: endpoint({ secret: 'B' }) })
    expect(model.received.at(-1)!.headers.authorization).toBe('Bearer third-one')
    const deleted = await send('POST', path, [{ key: 'A', value: null }, { key: 'B', value: null }])
    expect(deleted.body).toEqual([{ key: 'MODEL_KEY' }])
  })

  it.each([[{ key: 'a b', value: 'x' }], [{ key: 'A', value: 7 }], [{ key: 'A', value: '' }], ['A'],
    [{ value: 'x' }], [{ key: 'A', value: 'x'.repeat(9_000) }]])('are not %j', async (change) => {
      const { status, body } = await send('POST', path, [change])
      expect(status).toBe(422)
      expect(JSON.stringify(body).length).toBeLessThan(500)
    })

  it('are in nothing that the server wrote or answered', async () => {
    const tells = (key: string) =>
      model.does({ pieces: ['It is ', key.slice(0, 20), key.slice(20)] })
    const answers: unknown[] = []
    for (const dialect of ['openai', 'anthropic']) {
      const asked = { messages, model: endpoint({ dialect }) }
      tells(value)
      answers.push(await all(asked))
      tells(own)
      answers.push(await all({ ...asked, secrets: { MODEL_KEY: own } }))
    }
    expect(JSON.stringify(answers).split('It is ***').length).toBe(5)
    model.does({
      pieces: [],
      instead: ({ headers }, response) =>
        response.writeHead(401)
          .end(JSON.stringify({ error: { message: JSON.stringify(headers) } })),
    })
    const wrong = await all({ messages, model: endpoint() })
    expect(JSON.stringify(wrong)).toContain('Bearer ***')
    for (const { data } of wrong) answers.push(await spanOf(data['run_id']))
    const [{ id }] = (await send('GET', '/sessions?name=playground')).body as [{ id: string }]
    answers.push(wrong, (await send('GET', path)).body,
      (await send('POST', '/runs/query', { session: [id] })).body)
    expect(model.received.filter(({ headers }) => headers.authorization?.includes(value)).length)
      .toBeGreaterThan(5)
    await server.process.kill('SIGTERM')
    const { dataDir } = server.process
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    expect(files.length).toBeGreaterThan(1)
    const isHere = process.env['HEDDLE_TEST_STORE'] !== 'cassandra'
    expect(files.some((text) => text.includes('MODEL_KEY'))).toBe(isHere)
    for (const text of [...files, server.process.output(), JSON.stringify(answers)]) {
      expect(text.includes(value) || text.includes(own)).toBe(false)
      expect(text.includes(Buffer.from(value).toString('base64').slice(4, 30))).toBe(false)
    }
    await server.process.restart()
    model.does({ pieces: ['back'] })
    expect((await all({ messages, model: endpoint() })).at(-1)).toMatchObject({ name: 'end' })
    expect(model.received.at(-1)!.headers.authorization).toBe(`Bearer ${value}`)
  }, 60_000)
})

describe('A server without a key', () => {
  const without = useServer()

  it('makes one for its data directory; in a cluster it says what it needs', async () => {
    const { status, body } = await ask(without.url, 'POST', '/api/v1/workspaces/current/secrets', [
      { key: 'A', value: 'something' },
    ])
    if (process.env['HEDDLE_TEST_STORE'] !== 'cassandra') return expect(status).toBeLessThan(300)
    expect([status, (body as { detail: string }).detail])
      .toEqual([422, expect.stringContaining('--secrets-key')])
  })
})
