/** The `agent` of the Python suite: streams a message, answers for a tool, asks, has a subgraph. */

import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { Annotation, interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph'

import { ScriptedModel } from './model.mjs'

const model = new ScriptedModel(() => ({ content: 'Hello, world!', id: 'ai-msg-1' }))

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  value: Annotation(),
  items: Annotation({ reducer: (old, more) => old.concat(more), default: () => [] }),
})

const withProgress = (step, work) => async (state, config) => {
  const tell = (phase) => config.writer({ name: 'progress', step, phase })
  tell('start')
  const update = await work(state, config)
  tell('end')
  return update
}

const nested = new StateGraph(MessagesAnnotation)
  .addNode('sub', withProgress('sub_node', () => ({
    messages: [new AIMessage({ content: 'from subgraph', id: 'sub-msg-1' })],
  })))
  .addEdge('__start__', 'sub')
  .compile()

/** The graph. */
export const graph = new StateGraph(State)
  .addNode('stream_message', withProgress('stream_message', async () => ({
    messages: [await model.invoke([])],
    value: 'x',
    items: ['streamed'],
  })))
  .addNode('call_tool', withProgress('call_tool', () => ({
    messages: [
      new AIMessage({
        content: '',
        id: 'ai-msg-2',
        tool_calls: [{ id: 'tc-1', name: 'search', args: { query: 'v3' } }],
      }),
      new ToolMessage({ content: 'a result', tool_call_id: 'tc-1' }),
    ],
    items: ['tool'],
  })))
  .addNode('ask_human', withProgress('ask_human', () => {
    const answer = interrupt('Are we good?')
    return {
      messages: [new AIMessage({ content: `Human said: ${answer}`, id: 'ai-msg-3' })],
      items: ['asked'],
    }
  }))
  .addNode('run_subgraph', withProgress('run_subgraph', async () => {
    const { messages } = await nested.invoke({ messages: [] })
    return { messages, items: ['sub'] }
  }))
  .addEdge('__start__', 'stream_message')
  .addEdge('stream_message', 'call_tool')
  .addEdge('call_tool', 'ask_human')
  .addEdge('ask_human', 'run_subgraph')
  .compile()
