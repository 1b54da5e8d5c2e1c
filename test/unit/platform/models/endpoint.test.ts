/** Serialised models: which are understood, and which are refused with what sentence. */

import { describe, expect, it } from 'vitest'

import { endpointOf } from '../../../../src/platform/evaluate/models/endpoint.ts'
import { eventsIn } from '../../../../src/platform/evaluate/models/event-text.ts'

const secret = (name: string) => ({ lc: 1, type: 'secret', id: [name] })
const lc = (name: string, kwargs: object) => ({ lc: 1, type: 'constructor',
  id: ['langchain', 'chat_models', 'x', name], kwargs })

describe('a serialised model', () => {
  it.each([
    [{ dialect: 'openai', base_url: 'http://m.example/v1', model: 'm', secret: 'A', top_k: 3,
      stream: true }, { dialect: 'openai', url: 'http://m.example/v1', model: 'm', secret: 'A',
      parameters: { top_k: 3 } }],
    [{ dialect: 'anthropic', base_url: 'https://m.example', model: 'm' }, { dialect: 'anthropic',
      url: 'https://m.example', model: 'm', secret: null, parameters: {} }],
    [
      lc('ChatOpenAI', { model_name: 'gpt', openai_api_key: secret('MINE'), temperature: 0,
        streaming: true, model_kwargs: { seed: 1, messages: [] } }),
      { dialect: 'openai', url: 'https://api.openai.com/v1', model: 'gpt', secret: 'MINE',
        parameters: { temperature: 0, seed: 1 } },
    ],
    [
      lc('ChatOpenAI', { model: 'gpt', configuration: { baseURL: 'http://local.example:8000/v1' },
        top_p: null }),
      { dialect: 'openai', url: 'http://local.example:8000/v1', model: 'gpt',
        secret: 'OPENAI_API_KEY', parameters: {} },
    ],
    [
      lc('ChatAnthropic', { model: 'claude', stop: ['x'], max_tokens: 5,
        anthropic_api_url: 'https://a.example' }),
      { dialect: 'anthropic', url: 'https://a.example', model: 'claude',
        secret: 'ANTHROPIC_API_KEY', parameters: { max_tokens: 5, stop_sequences: ['x'] } },
    ],
  ])('%j is called at its endpoint', (serialised, endpoint) => {
    expect(endpointOf(serialised)).toEqual(endpoint)
  })

  it.each([
    null,
    'gpt',
    [],
    {},
    { dialect: 'other', base_url: 'http://a.example', model: 'm' },
    { dialect: 'openai', model: 'm' },
    { dialect: 'openai', base_url: 'file:///etc/passwd', model: 'm' },
    { dialect: 'openai', base_url: 'http://a.example', model: '' },
    { dialect: 'openai', base_url: 'http://a.example', model: 'm', secret: 'sk-1234 5' },
    { dialect: 'openai', base_url: 'http://a.example', model: 'm', x: 'y'.repeat(70_000) },
    { dialect: 'openai', base_url: 'http://a.example', model: 'm', api_key: 'sk-1234' },
    { dialect: 'openai', base_url: 'https://ann:sk-1234@a.example', model: 'm' },
    { dialect: 'openai', base_url: 'https:\\\\sk-1234@a.example', model: 'm' },
    { dialect: 'openai', base_url: 'http://a.example', model: 'm', proxy: ['http://x:sk-1234@b'] },
    lc('ChatOpenAI', { model: 'm', base_url: 'http://a.example',
      configuration: { baseURL: 'http://sk-1234@a.example' } }),
    { dialect: 'openai', base_url: 'http://a.example', model: 'm',
      x: JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`) as unknown },
    lc('ChatOther', { model: 'm' }),
    lc('ChatOpenAI', { model: 'm', model_kwargs: { api_key: 'sk-1234' } }),
    lc('toString', { model: 'm' }),
    lc('ChatOpenAI', { model: 'm', openai_api_key: 'sk-1234' }),
    lc('ChatOpenAI', { openai_api_key: secret('A') }),
  ])('%j is refused with a sentence', (serialised) => {
    expect(() => endpointOf(serialised)).toThrow(/^model: it .*\.$/)
    expect(() => endpointOf(serialised)).not.toThrow(/sk-1234/)
  })
})

describe('events', () => {
  const text = 'event: a\r\ndata: {"x":1}\r\n\r\n: comment\n\ndata:one\ndata: two ö\n\ndata: last'

  it('are the same however the bytes are cut', async () => {
    const bytes = Buffer.from(text)
    for (let size = 1; size <= bytes.length; size++) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.subarray(n * size, (n + 1) * size))
      const events: string[] = []
      for await (const event of eventsIn(streamOf(chunks))) events.push(event)
      expect(events).toEqual(['{"x":1}', 'one\ntwo ö', 'last'])
    }
  })

  it.each([['in one line', 'x'], ['in many lines', 'data: x\n']])(
    'are bounded %s',
    async (_, piece) => {
      const read = (async () => {
        const chunks = ['data: ', ...Array.from({ length: 300 }, () => piece.repeat(1_024))]
        for await (const _ of eventsIn(streamOf(chunks.map((chunk) => Buffer.from(chunk)))));
      })()
      await expect(read).rejects.toThrow('longer than 262144 characters')
    },
  )
})

async function* streamOf(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks
}
