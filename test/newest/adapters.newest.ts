/** Adapters of other frameworks, unmodified: the AI SDK and AG-UI. */

import { randomUUID } from 'node:crypto'

import { LangGraphAgent } from '@ag-ui/langgraph'
import { LangSmithDeploymentTransport } from '@ai-sdk/langchain'
import { firstValueFrom, toArray } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'

const server = useServer()

describe('the transport of the AI SDK', () => {
  it('streams an answer as parts of a message', async () => {
    const transport = new LangSmithDeploymentTransport({ url: server.url, graphId: 'tokens' })
    const stream = await transport.sendMessages({
      trigger: 'submit-message',
      chatId: randomUUID(),
      messageId: undefined,
      messages: [{ id: 'a', role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
      abortSignal: undefined,
    })
    const parts = await Array.fromAsync(stream)
    expect(parts.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta).join(''))
      .toBe('one two three')
    expect(parts.map(({ type }) => type)).not.toContain('error')
  })
})

describe('the agent of AG-UI', () => {
  it('streams an answer, and another one in the same thread', async () => {
    const threadId = randomUUID()
    for (const content of ['hello', 'again']) {
      const agent = new LangGraphAgent({ deploymentUrl: server.url, graphId: 'tokens' })
      const events = await firstValueFrom(agent.run({
        threadId,
        runId: randomUUID(),
        messages: [{ id: randomUUID(), role: 'user', content }],
        state: {},
        tools: [],
        context: [],
        forwardedProps: {},
      }).pipe(toArray()))
      const types = events.map(({ type }) => type)
      expect(types[0]).toBe('RUN_STARTED')
      expect(types.at(-1)).toBe('RUN_FINISHED')
      expect(events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
        .map(({ delta }) => delta).join('')).toBe('one two three')
    }
  })

  it('tells of an interrupt', async () => {
    const agent = new LangGraphAgent({ deploymentUrl: server.url, graphId: 'ask' })
    const events = await firstValueFrom(agent.run({
      threadId: randomUUID(),
      runId: randomUUID(),
      messages: [],
      state: { question: 'tea?' },
      tools: [],
      context: [],
      forwardedProps: {},
    }).pipe(toArray()))
    const asked = events.find(({ type, name }) => type === 'CUSTOM' && name === 'on_interrupt')
    expect(JSON.stringify(asked)).toContain('tea?')
  })
})
