/** The `tools_agent` of the Python suite: calls a tool once, then ends. */

import { createAgent, tool } from 'langchain'
import { z } from 'zod/v4'

import { ScriptedModel } from './model.mjs'

const search = tool(({ query }) => `result for ${query}`, {
  name: 'search',
  description: 'Looks something up.',
  schema: z.object({ query: z.string() }),
})

const model = new ScriptedModel((messages) =>
  messages.some(({ type }) => type === 'tool')
    ? { content: 'done.', id: 'ai-tools-done' }
    : {
      content: '',
      id: 'ai-tools-call',
      tool_calls: [{ id: 'tc-1', name: 'search', args: { query: 'v3' } }],
    }
)

/** The graph. */
export const graph = createAgent({ model, tools: [search] })
