/** Histories that break rules about A2A and MCP, and parts of correct ones. */

import type { Call } from '../../../verify/history/history.ts'
import { History } from './made-history.ts'

const created = () => new History().create()

/** A message with the token `a`, which makes the task and run `a`. */
export function sentMessage(state: string, fields: Partial<Call> = {}): Partial<Call> {
  const artifacts = [{ parts: [{ text: 'a:reply' }] }]
  return { path: '/a2a/verify', runId: 'a',
    body: { params: { message: { parts: [{ text: 'a/plain/0' }] } } }, response: {
      result: { task: { id: 'a', status: { state: `TASK_STATE_${state}` }, artifacts } },
    }, ...fields }
}

/** A reading of task `a`. */
export function readTask(state: string): Partial<Call> {
  return { path: '/a2a/verify',
    response: { result: { id: 'a', status: { state: `TASK_STATE_${state}` } } } }
}

/** A call of a tool with the token `a`, and its result. */
export function calledTool(result: object, action = 'plain'): Partial<Call> {
  return { threadId: undefined, path: '/mcp',
    body: { params: { arguments: { task: { token: 'a', action } } } }, response: { result } }
}

/** The answer `b` to the question of a tool. */
export function answeredTool(log: readonly string[]): Partial<Call> {
  return { threadId: undefined, path: '/mcp',
    body: { params: { inputResponses: { q: { content: { answer: 'b' } } } } },
    response: { result: { structuredContent: { log } } } }
}

export const brokenAgents: Readonly<Record<string, History>> = {
  'tasks have the status of their run': created().call('a2a.send', sentMessage('COMPLETED'))
    .view('a', 'error'),
  'tasks that are over stay so': created().call('a2a.send', sentMessage('FAILED'))
    .call('a2a.get', readTask('COMPLETED')),
  'tasks have their result': created().call('a2a.send', sentMessage('COMPLETED', {
    body: { params: { message: { parts: [{ text: 'b/plain/0' }] } } },
  })),
  'tools return their own state': new History()
    .call('mcp.call', calledTool({ structuredContent: { log: ['b:in', 'a:in', 'a:out'] } })),
  'tools use the answer': new History().call('mcp.answer', answeredTool(['a:in', 'a:out'])),
}
