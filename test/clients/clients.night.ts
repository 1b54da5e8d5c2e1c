/** Clients of other people, unmodified: each call is kept byte for byte, and answered by itself. */

import { createServer } from 'node:http'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { callingThrough } from '../../src/graph/calls/call-scope.ts'
import { openDoors } from '../../src/graph/calls/doors.ts'
import { answeringGate, keepingGate } from '../support/call-recorder.ts'
import type { KeptCall } from '../support/call-recorder.ts'
import { installPackages } from '../support/installed-packages.ts'

const folder = import.meta.dirname
const load = createRequire(join(folder, 'package.json'))
/** A package without its types, which only this folder has. */
const modules = (name: string) => load(name) as Record<string, Callable>

type Maker = new(...given: unknown[]) => Callable

/** Whatever a package exports. */
interface Callable extends Maker {
  (...given: unknown[]): Callable & Promise<Callable>
  readonly [name: string]: Callable
}

let close = () => {}
let url = ''
let hits = 0
let sent = ''

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const about = { id: 'c1', created: 1, model: 'm' }
const gemini = {
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'hello' }] },
    finishReason: 'STOP' }],
}
const event = (type: string, more: object) => `event: ${type}\n${data({ type, ...more })}`
const message = { id: 'm1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 } }
/** Pieces of a streamed answer of OpenAI: many, as a long one has. */
const pieces = Array.from({ length: 1_000 }, (_, at) => `p${at} `)

/** Answers by path and kind. */
const answers: Readonly<Record<string, readonly string[]>> = {
  '/v1/chat/completions': [
    JSON.stringify({ ...about, object: 'chat.completion', usage,
      choices: [{ index: 0, message: { role: 'assistant', content: 'hello' },
        finish_reason: 'stop' }] }),
  ],
  '/v1/chat/completions streamed': [
    ...pieces.map((content) =>
      data({ ...about, object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] })
    ),
    data({ ...about, object: 'chat.completion.chunk', usage,
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    'data: [DONE]\n\n',
  ],
  '/v1/messages': [
    JSON.stringify({ ...message, content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn' }),
  ],
  '/v1/messages streamed': [
    event('message_start', { message: { ...message, content: [], stop_reason: null } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'hel' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'lo' } }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
    event('message_stop', {}),
  ],
  'gemini': [JSON.stringify(gemini)],
  'gemini streamed': [data(gemini)],
  '/plain': ['{"said":"hello"}'],
  '/pieces': pieces.map((piece) => data({ piece })),
}

const server = createServer((request, response) => {
  hits += 1
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
    const { pathname } = new URL(request.url ?? '/', 'http://stub.test')
    const isStream = Buffer.concat(chunks).includes('"stream":true')
      || pathname.includes(':streamGenerateContent')
    const name = pathname.includes(':') ? 'gemini' : pathname
    const parts = answers[isStream ? `${name} streamed` : name] ?? []
    sent = parts.join('')
    response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
    for (const part of parts) response.write(part)
    response.end()
  })
})

beforeAll(async () => {
  await installPackages(folder, 'clients')
  close = await openDoors(() => false)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}, 300_000)
afterAll(() => {
  close()
  server.close()
  server.closeAllConnections()
})

type Ask = () => Promise<unknown>

async function gathered(stream: unknown): Promise<unknown[]> {
  const parts: unknown[] = []
  for await (const part of await (stream as Promise<AsyncIterable<unknown>>)) parts.push(part)
  return parts
}

/** All bytes of a body that is read as it comes. */
async function textOf(body: unknown): Promise<string> {
  const parts = await gathered(body) as readonly Uint8Array[]
  return Buffer.concat(parts).toString()
}

const streamed = () => `${url}/pieces`
const plain = () => `${url}/plain`
const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const openai = () => {
  const { OpenAI } = modules('openai')
  return new OpenAI!({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 })
}
const anthropic = () => {
  const { Anthropic } = modules('@anthropic-ai/sdk')
  return new Anthropic!({ apiKey: 'k', baseURL: url, maxRetries: 0 })
}
const chat = (name: string, more: object) => {
  const { [name]: Chat } = modules(name === 'ChatOpenAI'
    ? '@langchain/openai'
    : '@langchain/anthropic')
  return new Chat!({ model: 'm', apiKey: 'k', maxRetries: 0, ...more })
}
const ofOpenai = () => chat('ChatOpenAI', { configuration: { baseURL: `${url}/v1` } })
const ofAnthropic = () => chat('ChatAnthropic', { anthropicApiUrl: url })
const contentOf = (said: unknown) => (said as { readonly content: unknown }).content
const genai = () => {
  const { GoogleGenAI } = modules('@google/genai')
  return new GoogleGenAI!({ apiKey: 'k', httpOptions: { baseUrl: url } })
}
const prompt = { model: 'm', contents: 'hi' }
const sdk = () => {
  const { createOpenAI } = modules('@ai-sdk/openai')
  const provider = createOpenAI!({ apiKey: 'k', baseURL: `${url}/v1` })
  return { model: provider.chat!('m'), prompt: 'hi', maxRetries: 0 }
}

const clients: Readonly<Record<string, Ask>> = {
  openai: async () => openai().chat!.completions!.create!(body),
  'openai, streamed': () =>
    gathered(openai().chat!.completions!.create!({ ...body, stream: true })),
  '@anthropic-ai/sdk': async () => anthropic().messages!.create!({ ...body, max_tokens: 9 }),
  '@anthropic-ai/sdk, streamed': () =>
    gathered(anthropic().messages!.create!({ ...body, max_tokens: 9, stream: true })),
  '@langchain/openai': async () => contentOf(await ofOpenai().invoke!('hi')),
  '@langchain/openai, streamed': async () =>
    (await gathered(ofOpenai().stream!('hi'))).map(contentOf),
  '@langchain/anthropic': async () => contentOf(await ofAnthropic().invoke!('hi')),
  '@langchain/anthropic, streamed': async () =>
    (await gathered(ofAnthropic().stream!('hi'))).map(contentOf),
  ai: async () => {
    const { generateText } = modules('ai')
    return (await generateText!(sdk())).text
  },
  'ai, streamed': () => {
    const { streamText } = modules('ai')
    return gathered((streamText!(sdk()) as Callable).textStream)
  },
  '@google/genai': async () => (await genai().models!.generateContent!(prompt)).text,
  '@google/genai, streamed': async () =>
    (await gathered(genai().models!.generateContentStream!(prompt)))
      .map((part) => (part as { readonly text: unknown }).text),
  'axios, streamed': async () =>
    textOf((await load('axios').get(streamed(), { responseType: 'stream' })).data),
  'got, streamed': () => textOf(load('got').default.stream(streamed())),
  'ky, streamed': async () => textOf((await load('ky').default.get(streamed())).body),
  'node-fetch, streamed': async () => textOf((await load('node-fetch').default(streamed())).body),
  axios: async () => (await load('axios').get(plain())).data as unknown,
  'axios with its fetch adapter': async () =>
    (await load('axios').get(plain(), { adapter: 'fetch' })).data as unknown,
  got: async () => JSON.parse((await load('got').default(plain())).body as string) as unknown,
  ky: async () => await load('ky').default.get(plain()).json() as unknown,
  'node-fetch': async () => await (await load('node-fetch').default(plain())).json() as unknown,
  ...Object.fromEntries(['undici5', 'undici6', 'undici7', 'undici8'].flatMap((name) => [
    [`${name}.fetch`, async () => await (await load(name).fetch(plain())).json() as unknown],
    [`${name}.request`,
      async () => await (await load(name).request(plain())).body.json() as unknown],
    [`${name}.fetch, streamed`, async () => textOf((await load(name).fetch(streamed())).body)],
    [`${name}.request, streamed`, async () => textOf((await load(name).request(streamed())).body)],
    [`${name}.Pool`, async () => {
      const pool = new (load(name).Pool)(url)
      return await (await pool.request({ path: '/plain', method: 'GET' })).body.json() as unknown
    }],
  ])),
}

describe('A call is kept byte for byte, and answered without a request', () => {
  it.each(Object.keys(clients))('%s', async (name) => {
    const ask = clients[name]!
    const expected = await ask()
    const kept: KeptCall[] = []
    expect(await callingThrough(keepingGate(kept), ask)).toEqual(expected)
    expect(kept).toHaveLength(1)
    expect(Buffer.concat(kept[0]!.chunks).toString()).toBe(sent)
    const before = hits
    expect(await callingThrough(answeringGate(kept), ask)).toEqual(expected)
    expect(hits).toBe(before)
  })
})
