/** What an assistant is sent, and what is kept of its answer. */

import { expect, it } from 'vitest'

import { inputOf, outputsOf,
  usageOfMessages } from '../../../../src/platform/evaluate/experiments/experiment-span.ts'

it('A member of the inputs is the message of a user, or all of them are the input', () => {
  const inputs = { question: 'Why?', more: { a: 1 } }
  expect(inputOf(inputs, null)).toBe(inputs)
  expect(inputOf(inputs, 'question')).toEqual({ messages: [{ role: 'user', content: 'Why?' }] })
  expect(inputOf(inputs, 'more')).toEqual({ messages: [{ role: 'user', content: '{"a":1}' }] })
  expect(inputOf(inputs, 'none')).toEqual({ messages: [{ role: 'user', content: 'null' }] })
})

it('The outputs are the values of the state, or the text of the last message', () => {
  const parts = [{ type: 'text', text: 'Be' }, { type: 'image' }, { type: 'text', text: 'cause' }]
  expect(outputsOf({ a: 1 }, null)).toEqual({ a: 1 })
  expect(outputsOf('text', null)).toEqual({ output: 'text' })
  expect(outputsOf({ messages: [{ content: 'Hi' }, { content: 'Yes' }] }, 'answer'))
    .toEqual({ answer: 'Yes' })
  expect(outputsOf({ messages: [{ content: parts }] }, 'answer')).toEqual({ answer: 'Because' })
  for (const values of [null, 3, {}, { messages: [] }, { messages: [7] }]) {
    expect(outputsOf(values, 'answer')).toEqual({ answer: '' })
  }
})

it('Usage is summed over messages; a model is named if there is one', () => {
  const said = (input: unknown, model: string) => ({
    usage_metadata: { input_tokens: input, output_tokens: 2 },
    response_metadata: { model_name: model, model_provider: 'p' },
  })
  expect(usageOfMessages({ messages: [{ content: 'Hi' }, said(3, 'a'), said(-1, 'a')] })).toEqual({
    usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    ls_model_name: 'a',
    ls_provider: 'p',
  })
  expect(usageOfMessages({ messages: [said(1, 'a'), said(1, 'b')] })).not.toHaveProperty(
    'ls_model_name',
  )
  for (const values of [null, {}, { messages: 'no' }, { messages: [null, {}] }]) {
    expect(usageOfMessages(values)).toEqual({})
  }
})
