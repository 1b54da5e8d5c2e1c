/** The starter project, which a new user begins with. */

import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { openLibrary } from '../project/open-library.ts'
import { isNight } from '../../../support/repeats.ts'

const starter = fileURLToPath(new URL('../../../../deploy/starter', import.meta.url))

/** Offline: the environment of the worker has no API key. */
const converse = async (text: string, context: Record<string, string> = {}) => {
  const ask = await openLibrary(starter)
  return ask(async (library, question, given) => {
    const graph = await library.get('agent', { access: 'threads.create_run' })
    const input = { messages: [{ role: 'user', content: question }] }
    const tokens: string[] = []
    const ids = new Set<string>()
    let state: { messages: { type: string; text: string; id: string; tool_calls?: object[] }[] } = {
      messages: [],
    }
    const stream = await graph.stream(input, {
      streamMode: ['messages', 'values'],
      context: given,
    })
    for await (const part of stream) {
      const [mode, data] = part as unknown as [string, never]
      if (mode === 'values') state = data
      const [chunk] = mode === 'messages' ? data as (typeof state)['messages'] : []
      if (chunk?.type !== 'ai') continue
      tokens.push(chunk.text)
      ids.add(chunk.id)
    }
    const messages = state.messages.map(({ type, text, tool_calls = [] }) => ({ type, text,
      calls: tool_calls.length })
    )
    return { messages, tokens, ids: ids.size }
  }, text, context)
}

describe('the starter, offline', () => {
  it('calls its tool once if the question needs it, and answers with the result', async () => {
    const { messages } = await converse('What is the weather like in San Francisco?')
    expect(messages).toEqual([
      { type: 'human', text: 'What is the weather like in San Francisco?', calls: 0 },
      { type: 'ai', text: '', calls: 1 },
      { type: 'tool', text: expect.stringMatching(/^It is \w+ in San Francisco, at \d+ °C\.$/),
        calls: 0 },
      { type: 'ai', text: expect.stringMatching(/^I looked it up\. It is \w+ in San/), calls: 0 },
    ])
  })

  it.runIf(isNight)('streams its answer word by word, as one message', async () => {
    const { messages, tokens, ids } = await converse('Hello!')
    expect(messages.map(({ type }) => type)).toEqual(['human', 'ai'])
    expect(tokens.length).toBeGreaterThan(10)
    expect(tokens.join('')).toBe(messages[1]?.text)
    expect(ids).toBe(1)
  })

  it.runIf(isNight)('answers the same to the same, and follows the context of its assistant',
    async () => {
      const answer = async (context = {}) => (await converse('Hello!', context)).messages[1]?.text
      expect(await answer()).toBe(await answer())
      expect(await answer({ system_prompt: 'You are a pirate.' })).toContain('You are a pirate.')
    })

  it.runIf(isNight)('has a second graph whose subgraph is drawn as well', async () => {
    const ask = await openLibrary(starter)
    const { nodes } = await ask((library) => library.drawable('desk', true)) as {
      nodes: { id: string }[]
    }
    expect(nodes.map(({ id }) => id)).toEqual(['__start__', 'triage', 'research:plan',
      'research:search', 'research:rank', 'write', 'review', 'publish', '__end__'])
  })

  it.runIf(isNight)('has a schema of its context, and a drawing', async () => {
    const ask = await openLibrary(starter)
    expect(await ask((library) => library.schemas('agent'))).toMatchObject({
      context_schema: { properties: {
        model_name: { type: 'string' },
        system_prompt: { type: 'string' },
      } },
    })
    const { nodes } = await ask((library) => library.drawable('agent', false)) as {
      nodes: { id: string }[]
    }
    expect(nodes.map(({ id }) => id)).toEqual(['__start__', 'model', 'tools', '__end__'])
  })
})
