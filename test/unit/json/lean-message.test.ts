/** Messages without what they say, from JSON and from instances, and from anything else. */

import { AIMessage, HumanMessage } from '@langchain/core/messages'
import { expect, it } from 'vitest'

import { leanMessages } from '../../../src/json/index.ts'

const usage_metadata = { input_tokens: 3, output_tokens: 1, total_tokens: 4 }
const response_metadata = { model_name: 'm', model_provider: 'p', secret: 'x' }

it('Messages are found in what a task wrote, as JSON and as instances', () => {
  const ai = { id: 'a', type: 'ai', model: 'm', provider: 'p', usage_metadata }
  expect(
    leanMessages({
      messages: [new HumanMessage({ content: 'hi', id: 'h' }),
        new AIMessage({ content: 'long', id: 'a', usage_metadata, response_metadata })],
      other: 5,
    }),
  )
    .toEqual([{ id: 'h', type: 'human' }, ai])
  expect(
    leanMessages([{
      last: { type: 'ai', id: 'a', content: 'x', usage_metadata, response_metadata },
    }, null, { n: 1 }]),
  ).toEqual([ai])
})

it('What is no message, or says too much, is left out', () => {
  for (const result of [undefined, null, 5, 'text', [], {}, {
    a: [null, 'x', { type: 'circle' }],
  }]) {
    expect(leanMessages(result)).toEqual([])
  }
  const long = { ...usage_metadata, notes: 'x'.repeat(5_000) }
  const name = 'm'.repeat(201)
  expect(
    leanMessages({
      m: [{ type: 'ai', id: 7, usage_metadata: long }, { type: 'ai', id: 'b', usage_metadata,
        response_metadata: { model_name: name } }],
    }),
  )
    .toEqual([{ id: null, type: 'ai' }, { id: 'b', type: 'ai', usage_metadata }])
  const many = Array.from({ length: 2_000 }, (_, n) => ({ type: 'human', id: String(n) }))
  expect(leanMessages({ many })).toHaveLength(1_000)
})
