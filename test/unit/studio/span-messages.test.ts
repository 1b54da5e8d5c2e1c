/** Messages in payloads, in each of the forms that libraries write; and the rows of charts. */

import { describe, expect, it } from 'vitest'

import { chartRows, largestOf } from '../../../src/studio/traces/charts/chart-points.ts'
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

it('the rows of charts have all metrics of a time', () => {
  const at = (hour: number) => `2026-11-27T0${hour}:00:00.000000+00:00`
  const rows = chartRows([{ series_id: 'run_count', timestamp: at(1), value: 4 }, {
    series_id: 'latency_p50',
    timestamp: at(1),
    value: null,
  }, { series_id: 'run_count', timestamp: at(0), value: 9 }])
  expect(rows).toEqual([{ atMs: Date.parse(at(0)), run_count: 9 }, { atMs: Date.parse(at(1)),
    run_count: 4, latency_p50: null }])
  expect([largestOf(rows, 'run_count'), largestOf(rows, 'latency_p50')]).toEqual([9, null])
})
