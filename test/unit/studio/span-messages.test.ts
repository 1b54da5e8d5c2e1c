/** Messages in payloads, in each of the forms that libraries write. */

import { describe, expect, it } from 'vitest'

import { messagesIn } from '../../../src/studio/traces/span/span-messages.ts'

const said = (role: string, text: string) => ({ role, text, calls: [], name: undefined })
const langchain = (name: string, kwargs: object) => ({ lc: 1, type: 'constructor',
  id: ['langchain_core', 'messages', name], kwargs })

describe('messages', () => {
  it('are those of a state, of a call of a model and of its answer', () => {
    const expected = [said('user', 'Hello')]
    for (const value of [
      { messages: [{ role: 'user', content: 'Hello' }] },
      { messages: [{ type: 'human', content: [{ type: 'text', text: 'Hello' }] }] },
      { messages: [[langchain('HumanMessage', { content: 'Hello' })]] },
      { messages: [['user', 'Hello']] },
      [{ type: 'human', data: { content: 'Hello' } }],
      {
        generations: [[{ text: 'Hello',
          message: langchain('HumanMessage', { content: 'Hello' }) }]],
      },
      { choices: [{ message: { role: 'user', content: 'Hello' } }] },
      { output: { type: 'human', content: 'Hello' } },
      { role: 'user', content: 'Hello' },
    ]) expect(messagesIn(value), JSON.stringify(value)).toEqual(expected)
  })

  it('have calls of tools', () => {
    const calls = [{ name: 'get_weather', args: { city: 'Oslo' } }]
    expect(messagesIn([{ role: 'assistant', content: null, tool_calls: [{ function: {
      name: 'get_weather',
      arguments: '{"city":"Oslo"}',
    } }] }])).toMatchObject([{ calls }])
    expect(messagesIn({ messages: [langchain('AIMessage', { content: '', tool_calls: calls })] }))
      .toMatchObject([{ role: 'assistant', calls }])
  })

  it('are nothing else', () => {
    for (const value of [null, 7, 'Hello', {}, [], { messages: [] }, { messages: [1] }, {
      topic: 'x',
    }, { messages: [{ role: 'nobody', content: 'x' }] }, [{ role: 'user' }]]) {
      expect(messagesIn(value)).toBeUndefined()
    }
  })
})
