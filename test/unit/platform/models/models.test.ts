/** Calls to models in both dialects: what is asked, what is answered, and how they fail. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { openEgress } from '../../../../src/egress/index.ts'
import type { Egress } from '../../../../src/egress/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { ModelCall, ModelEndpoint, ModelPiece,
  Models } from '../../../../src/platform/evaluate/models/model.ts'
import { modelsOver } from '../../../../src/platform/evaluate/models/models.ts'
import { virtualEnv } from '../../../support/env.ts'
import { openModel } from '../../../support/model-server.ts'
import type { ModelServer } from '../../../support/model-server.ts'

const key = 'sk-secret-of-acme-0123456789'
const forever = new AbortController().signal
const dialects = ['openai', 'anthropic'] as const
const schema = { type: 'object', properties: { ok: { type: 'boolean' } } }

let model: ModelServer
let egress: Egress
let models: Models
const late = new Map<() => void, number>()

beforeAll(async () => {
  const env = { ...virtualEnv(), after: (ms: number, fn: () => void) => {
    late.set(fn, ms)
    return () => void late.delete(fn)
  } }
  model = await openModel()
  egress = openEgress({ env, version: '1', allowed: ['127.0.0.1'] })
  models = modelsOver({ egress, reveal: async (_, name) => {
    if (name === 'KEY') return key
    throw new HeddleError('invalid', `There is no secret ${name}.`)
  } })
})
afterAll(async () => {
  await egress.close()
  await model.close()
})
beforeEach(() => model.does({ pieces: ['Hello', ' there'] }))

const call = (endpoint: Partial<ModelEndpoint> = {}, more: Partial<ModelCall> = {}): ModelCall => ({
  endpoint: { dialect: 'openai', url: `${model.url}v1`, model: 'm', secret: 'KEY', parameters: {},
    ...endpoint },
  messages: [{ role: 'system', content: 'Be kind.' }, { role: 'user', content: 'Hi' }],
  ...more,
})

async function piecesOf(asked: ModelCall): Promise<readonly ModelPiece[]> {
  const pieces: ModelPiece[] = []
  for await (const piece of models.stream('acme', asked, forever)) pieces.push(piece)
  return pieces
}

/** What both ways of asking throw. */
async function failures(asked: ModelCall): Promise<readonly HeddleError[]> {
  const caught = (work: Promise<unknown>) =>
    work.then(() => expect.fail('it was answered'), (error: unknown) => error as HeddleError)
  return [await caught(models.ask('acme', asked, forever)), await caught(piecesOf(asked))]
}

const usage = { inputTokens: 12, outputTokens: 7 }

/** An answer that calls a tool, its arguments in two pieces where it is streamed. */
function toolAnswer(dialect: typeof dialects[number], isStreamed: boolean, args: string): string {
  const [first, rest] = [args.slice(0, 15), args.slice(15)]
  const sent = (events: readonly object[]) =>
    events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  if (dialect === 'openai') {
    const called = (more: object) => ({ index: 0, ...more })
    if (!isStreamed) {
      return JSON.stringify({
        choices: [{ finish_reason: 'tool_calls',
          message: { content: null,
            tool_calls: [{ id: 'c', function: { name: 'look_up', arguments: args } }] } }],
      })
    }
    return sent([{ choices: [{ delta: { tool_calls: [
      called({ id: 'c', function: { name: 'look_up', arguments: '' } }),
    ] } }] }, ...[first, rest].map((part) => ({ choices: [{ delta: { tool_calls: [
      called({ function: { arguments: part } }),
    ] } }] })), { choices: [{ delta: {}, finish_reason: 'tool_calls' }] }])
  }
  if (!isStreamed) {
    return JSON.stringify({ stop_reason: 'tool_use',
      content: [{ type: 'tool_use', id: 'c', name: 'look_up',
        input: JSON.parse(args) as object }] })
  }
  return sent([{ type: 'content_block_start', index: 0,
    content_block: { type: 'tool_use', id: 'c', name: 'look_up', input: {} } },
    ...[first, rest].map((part) => ({ type: 'content_block_delta', index: 0,
      delta: { type: 'input_json_delta', partial_json: part } })
    ), { type: 'message_delta', delta: { stop_reason: 'tool_use' } }, { type: 'message_stop' }])
}

describe.each(dialects)('a model that speaks %s', (dialect) => {
  it('answers whole or in pieces, with its usage', async () => {
    const end = { text: 'Hello there', usage }
    expect(await models.ask('acme', call({ dialect }), forever)).toEqual(end)
    expect(await piecesOf(call({ dialect })))
      .toEqual([{ text: 'Hello' }, { text: ' there' }, { end }])
  })

  it('answers by a schema', async () => {
    model.does({ pieces: ['{"ok":', 'true}'] })
    const asked = call({ dialect }, { schema })
    const end = { text: '{"ok":true}', json: { ok: true }, usage }
    expect(await models.ask('acme', asked, forever)).toEqual(end)
    expect((await piecesOf(asked)).at(-1)).toEqual({ end })
    expect(JSON.stringify(model.asked.at(-1))).toContain('"properties":{"ok"')
  })

  it('is shown images with the last message of the user', async () => {
    const image = { mediaType: 'image/png', base64: 'iVBO' }
    await models.ask('acme', call({ dialect }, { images: [image] }), forever)
    const { messages } = model.asked.at(-1) as { readonly messages: readonly unknown[] }
    const text = { type: 'text', text: 'Hi' }
    expect(messages.at(-1)).toEqual({ role: 'user', content: dialect === 'openai'
      ? [text, { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }]
      : [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
        text] })
  })

  it('wants tools called, whole or in pieces, and never shows a secret', async () => {
    const tool = { name: 'look_up', description: 'Looks.', parameters: { type: 'object' } }
    const asked = call({ dialect }, { tools: [tool] })
    const args = JSON.stringify({ key, city: 'Ulm' })
    model.does({ pieces: [], instead: ({ body }, response) => {
      const { stream } = JSON.parse(body) as { readonly stream: boolean }
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json')
      response.end(toolAnswer(dialect, stream, args))
    } })
    const end = { text: '',
      toolCalls: [{ name: 'look_up',
        args: { key: expect.not.stringContaining(key) as string, city: 'Ulm' } }], usage: null }
    expect(await models.ask('acme', asked, forever)).toEqual(end)
    expect(await piecesOf(asked)).toEqual([{ end }])
    const { tools } = model.asked.at(-1) as { readonly tools: unknown }
    expect(tools).toEqual(dialect === 'openai'
      ? [{ type: 'function', function: tool }]
      : [{ name: 'look_up', description: 'Looks.', input_schema: { type: 'object' } }])
    await expect(piecesOf({ ...asked, schema })).rejects.toMatchObject({ code: 'invalid' })
  })

  it.each(['no JSON', '[]', '"text"', '{"ok":'])(
    'fails if it answers a schema with %s',
    async (text) => {
      model.does({ pieces: [text] })
      const asked = call({ dialect }, { schema })
      await expect(piecesOf(asked)).rejects.toMatchObject({ code: 'model_failed',
        message: 'The answer of the model is not the JSON that its schema asks for.' })
    },
  )

  it('gets the messages, the parameters and its key', async () => {
    await piecesOf(call({ dialect, parameters: { temperature: 0, model: undefined } }))
    const { headers } = model.received.at(-1)!
    const asked = model.asked.at(-1)!
    expect(asked).toMatchObject({ model: 'm', temperature: 0, stream: true })
    if (dialect === 'openai') {
      expect(headers.authorization).toBe(`Bearer ${key}`)
      expect(asked['messages']).toEqual([{ role: 'system', content: 'Be kind.' }, { role: 'user',
        content: 'Hi' }])
    } else {
      expect(headers['x-api-key']).toBe(key)
      expect(asked).toMatchObject({ system: 'Be kind.', max_tokens: 4_096,
        messages: [{ role: 'user', content: 'Hi' }] })
    }
  })

  it.each([
    ['nonsense', 'data: nonsense\n\n', 'what is no JSON object'],
    ['nothing', '', ''],
    ['a page', '<html>hello</html>', ''],
    ['a list', '[1,2]', ''],
    ['an empty object', '{}', ''],
    ['half an answer', 'data: {"choices":[{"delta":{"content":"He"}}]}\n\n', ''],
  ])('fails with a sentence if it answers %s', async (_, body) => {
    model.does({ pieces: [], instead: (_, response) => response.end(body) })
    for (const error of await failures(call({ dialect }))) {
      expect(error.code).toBe('model_failed')
      expect(error.httpStatus).toBe(422)
      expect(error.message).toMatch(/^The (answer|endpoint) of the model .*\.$/)
    }
  })

  it('gives on what its errors say, bounded and without the key', async () => {
    const bodies: [number, string, string][] = [
      [400, JSON.stringify({ error: { message: 'No such model.', type: 'x' } }), 'No such model.'],
      [401, JSON.stringify({ error: { message: `Wrong key ${key}` } }), 'Wrong key ***.'],
      [404, JSON.stringify({ detail: [{ msg: 'nothing here' }] }), 'nothing here.'],
      [422, 'plain words', 'plain words.'],
      [500, JSON.stringify({ error: 'z'.repeat(5_000) }), `${'z'.repeat(500)}…`],
    ]
    for (const [status, body, said] of bodies) {
      model.does({ pieces: [], instead: (_, response) => response.writeHead(status).end(body) })
      for (const error of await failures(call({ dialect }))) {
        expect(error.message).toBe(`The endpoint of the model answered ${status}: ${said}`)
        expect(error.details.answeredStatus).toBe(status)
        expect(error.details.retryAfterSeconds).toBe(status === 500 ? 1 : undefined)
      }
    }
    model.does({ pieces: [],
      instead: (_, response) => response.writeHead(502).end('<html>Bad gateway</html>') })
    const [first] = await failures(call({ dialect }))
    expect(first!.message).toBe('The endpoint of the model answered 502.')
  })

  it('says when to come back', async () => {
    model.does({ pieces: [],
      instead: (_, response) =>
        response.writeHead(429, { 'retry-after': '17' }).end(
          '{"error":{"message":"Slow down."}}',
        ) })
    for (const error of await failures(call({ dialect }))) {
      expect(error.details).toMatchObject({ answeredStatus: 429, retryAfterSeconds: 17 })
    }
  })

  it('never gives its key back, in pieces or whole', async () => {
    model.does({ pieces: ['I know sk-secret-of', '-acme-0123', `456789 and ${key}.`, ' sk-', 'x'] })
    const pieces = await piecesOf(call({ dialect }))
    const texts = pieces.map((piece) => 'text' in piece ? piece.text : '').join('')
    expect(texts).toBe('I know *** and ***. sk-x')
    expect(pieces.at(-1)).toMatchObject({ end: { text: texts } })
    expect((await models.ask('acme', call({ dialect }), forever)).text).toBe(texts)
  })

  it('is cut when its reader leaves', async () => {
    const closed = Promise.withResolvers<void>()
    const stop = new AbortController()
    model.does({ pieces: [], instead: (_, response) => {
      response.once('close', closed.resolve)
      response.write(dialect === 'openai'
        ? 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
        : 'data: {"type":"content_block_delta","delta":{"text":"a"}}\n\n')
    } })
    const read = (async () => {
      for await (const _ of models.stream('acme', call({ dialect }), stop.signal)) {
        stop.abort(new Error('gone'))
      }
    })()
    await expect(read).rejects.toThrow('gone')
    await closed.promise
  })

  it('has two minutes', async () => {
    model.does({ pieces: [], instead: () => {
      for (const [fn, ms] of late) if (ms === 120_000) fn()
    } })
    for (const error of await failures(call({ dialect }))) {
      expect(error).toMatchObject({ code: 'model_failed', details: { retryAfterSeconds: 1 },
        message: 'The endpoint of the model cannot be called: it took longer than 120 seconds.' })
    }
  })
})

describe('a call that is not made', () => {
  const asked = () => model.received.length

  it.each(['http://10.0.0.1/v1', 'http://127.0.0.2:9999/v1', 'http://[::1]/v1', 'ftp://a.example/',
    'http://169.254.169.254/latest'])('goes to %s', async (url) => {
      const before = asked()
      for (const error of await failures(call({ url }))) expect(error.httpStatus).toBe(422)
      expect(asked()).toBe(before)
    })

  it('is redirected to a closed address, or takes the key elsewhere', async () => {
    const other = await openModel()
    model.does({ pieces: [],
      instead: (_, response) =>
        response.writeHead(307, { location: 'http://127.0.0.2:9999/' }).end() })
    for (const { message } of await failures(call())) expect(message).toContain('is loopback')
    model.does({ pieces: [],
      instead: (_, response) =>
        response.writeHead(307, { location: `${other.url}v1/chat/completions` }).end() })
    await piecesOf(call())
    expect(other.received).toHaveLength(1)
    expect(JSON.stringify(other.received)).not.toContain(key)
    await other.close()
  })

  it.each(['http://PLACE.invalid/', 'http://a.invalid/PLACE', 'http://PLACE@127.0.0.2/',
    'http://PLACE/', 'http://[PLACE', 'gopher://PLACE'])(
      'is redirected to %s, and no word of that ' +
        'is repeated',
      async (to) => {
        model.does({ pieces: [], instead: ({ headers }, response) => {
          const sent = String(headers.authorization).replace('Bearer ', '')
          response.writeHead(302, { location: to.replace('PLACE', sent) }).end()
        } })
        for (const { message } of await failures(call())) {
          expect(message).toMatch(/cannot be called: (?:it redirects|must)/i)
          expect(message.toLowerCase()).not.toMatch(/sk-secret|acme|0123/)
        }
      },
    )

  it('names a secret that there is not, or that no header may have', async () => {
    for (const error of await failures(call({ secret: 'OTHER' }))) {
      expect(error).toMatchObject({ code: 'invalid', message: 'There is no secret OTHER.' })
    }
    const secrets = { OWN: 'two\nlines' }
    for (const error of await failures(call({ secret: 'OWN' }, { secrets }))) {
      expect(error.code).toBe('invalid')
      expect(error.message).not.toContain('two')
    }
  })

  it('is in no error, however its endpoint spells it', async () => {
    const secrets = { OWN: 'sk/with/slashes' }
    const spelled = '{"error":{"message":"Who is sk\\/with\\/slashes?"}}'
    for (const status of [401, 200]) {
      model.does({ pieces: [], instead: (_, response) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(status === 200
          ? '{"choices":[{"message":{"refusal":"sk\\/with\\/slashes"}}]}'
          : spelled)
      } })
      const [asked, streamed] = await failures(call({ secret: 'OWN' }, { secrets }))
      expect(asked!.message).toContain('***')
      expect(asked!.message + streamed!.message).not.toContain('slashes')
    }
    model.does({ pieces: [], instead: (_, response) => {
      response.end(`data: ${spelled}\n\n`)
    } })
    const [, streamed] = await failures(call({ secret: 'OWN' }, { secrets }))
    expect(streamed!.message).toContain('Who is ***?')
  })

  it('has its own secret, which comes before that of the workspace', async () => {
    await models.ask('acme', call({}, { secrets: { KEY: 'own-of-this-call' } }), forever)
    expect(model.received.at(-1)!.headers.authorization).toBe('Bearer own-of-this-call')
    await models.ask('acme', call({ secret: null }), forever)
    expect(model.received.at(-1)!.headers.authorization).toBeUndefined()
  })
})
