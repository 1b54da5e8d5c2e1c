/** Tokens are read from recorded answers in the forms of the usual APIs, whole and streamed. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { modelsMax, tokensByModel,
  tokensOfCall } from '../../../../src/graph/replay/model-tokens.ts'
import { recordedCall } from './recorded-calls.ts'

const bodyOf = (...texts: readonly string[]) => ({ bytes: 1, isCut: false,
  chunks: texts.map((text) => Buffer.from(text)) })
const answered = (...texts: readonly string[]) =>
  recordedCall(0, '{"model":"asked"}', { answer: bodyOf(...texts) })
const stream = (...documents: readonly object[]) =>
  documents.map((each) => `event: a\ndata: ${JSON.stringify(each)}\n\n`).join('') + 'data: [DONE]\n'

const chat = { model: 'gpt',
  usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14,
    prompt_tokens_details: { cached_tokens: 6 } } }
const responses = { model: 'gpt',
  usage: { input_tokens: 10, output_tokens: 4, input_tokens_details: { cached_tokens: 6 } } }
const gemini = { modelVersion: 'gemini',
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 3, thoughtsTokenCount: 1,
    totalTokenCount: 14, cachedContentTokenCount: 6 } }
const gpt = { model: 'gpt', input: 10, output: 4, cacheRead: 6, cacheCreation: 0 }

describe('the tokens of a call', () => {
  it.each([
    ['an answer of chat completions', JSON.stringify({ choices: [], ...chat }), gpt],
    ['its stream', stream({ model: 'gpt', choices: [1], usage: null }, chat), gpt],
    ['an answer of responses', JSON.stringify(responses), gpt],
    ['its stream', stream({ type: 'response.completed', response: responses }), gpt],
    ['a message',
      JSON.stringify({ model: 'claude',
        usage: { input_tokens: 3, cache_read_input_tokens: 6, cache_creation_input_tokens: 1,
          output_tokens: 4 } }), { model: 'claude', input: 10, output: 4, cacheRead: 6,
      cacheCreation: 1 }],
    ['its stream', stream({ type: 'message_start', message: { model: 'claude', usage: {
      input_tokens: 3,
      cache_read_input_tokens: 6,
      output_tokens: 1,
    } } }, { type: 'message_delta', usage: { output_tokens: 4 } }), { model: 'claude', input: 9,
      output: 4, cacheRead: 6, cacheCreation: 0 }],
    ['generated content', JSON.stringify(gemini), { ...gpt, model: 'gemini' }],
    ['its stream as events', stream(gemini, gemini), { ...gpt, model: 'gemini' }],
    ['its stream as a list', JSON.stringify([gemini, gemini]), { ...gpt, model: 'gemini' }],
    ['an embedding', '{"usage":{"prompt_tokens":8,"total_tokens":8}}', { model: 'asked', input: 8,
      output: 0, cacheRead: 0, cacheCreation: 0 }],
  ])('are known from %s', (_, text, tokens) => {
    expect(tokensOfCall(answered(text))).toEqual(tokens)
  })

  it('are known from a stream in any chunks', () => {
    const bytes = Buffer.from(stream({ model: 'gpt', delta: 'zwölf' }, chat))
    fc.assert(fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      const chunks = places.slice(1).map((to, at) => bytes.subarray(places[at], to))
      expect(tokensOfCall({ ...answered(), answer: { bytes: 1, chunks, isCut: false } }))
        .toEqual(gpt)
    }), { numRuns: 30 })
  })

  it('are not known from anything else, and no number is believed that cannot be', () => {
    for (const text of ['', 'usage', '"usage"', '{"usage":"much"}', '{"usage":{}}',
      '{"usage":null}', '{"usage":{"input_tokens":-1}}', '{"usage":{"input_tokens":1e300}}',
      '["usage"', 'data: {"usage":\n']) {
      expect(tokensOfCall(answered(text))).toBeUndefined()
    }
    fc.assert(fc.property(fc.json(), (text) => void tokensOfCall(answered(`{"usage":${text}}`))))
  })
})

it('Tokens are summed by model, and a few models are kept apart.', () => {
  const call = (model: string) =>
    answered(JSON.stringify({ model, usage: { input_tokens: 2, output_tokens: 1 } }))
  const none = { cacheRead: 0, cacheCreation: 0 }
  expect(tokensByModel([call('a'), call('b'), call('a'), answered('{}')])).toEqual([
    { model: 'a', input: 4, output: 2, ...none },
    { model: 'b', input: 2, output: 1, ...none },
  ])
  const many = tokensByModel(Array.from({ length: 50 }, (_, no) => call(`m${no}`)))
  expect(many.length).toBe(modelsMax)
  expect(many.reduce((sum, { input }) => sum + input, 0)).toBe(100)
})
