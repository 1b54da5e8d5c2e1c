/** Operations by MCP: a call of a tool is a stateless run of an assistant. */

import { createRunBody } from './operation.ts'
import type { Operation, Scene } from './operation.ts'
import type { Reply } from './session.ts'

const version = '2026-07-28'
const own = 'io.modelcontextprotocol/'
/** Calls to which questions are answered at most. */
const maxAnswers = 3

/** Sends a request of JSON-RPC about the tool `verify`. The client answers questions. */
function sendCall(operation: string, { session, client }: Scene, params: object): Promise<Reply> {
  const _meta = { [`${own}protocolVersion`]: version,
    [`${own}clientCapabilities`]: { elicitation: {} } }
  return session.call(client.number, {
    operation,
    method: 'POST',
    path: '/mcp',
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': version,
      'mcp-method': 'tools/call', 'mcp-name': 'verify' },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call',
      params: { name: 'verify', ...params, _meta } },
  }, client.signal)
}

interface Questions {
  readonly inputRequests?: Readonly<Record<string, unknown>>
  readonly requestState?: string
}

function readQuestions({ response }: Reply): Questions {
  return (response as { result?: Questions } | undefined)?.result ?? {}
}

/** Calls a tool, and answers what it asks. */
const callTool: Operation = {
  name: 'mcp.call',
  weight: 4,
  async execute(scene) {
    const task = { ...createRunBody(scene).input.task }
    let reply = await sendCall('mcp.call', scene, { arguments: { task } })
    for (let answers = 0; answers < maxAnswers; answers++) {
      const { inputRequests, requestState } = readQuestions(reply)
      if (inputRequests === undefined) return
      const answer = scene.session.createToken()
      const inputResponses = Object.fromEntries(
        Object.keys(inputRequests).map((id) =>
          [id, { action: 'accept', content: { answer } }] as const
        ),
      )
      reply = await sendCall('mcp.answer', scene, { requestState, inputResponses })
    }
  },
}

const listTools: Operation = {
  name: 'mcp.list',
  weight: 1,
  async execute({ session, client }) {
    await session.call(client.number, {
      operation: 'mcp.list',
      method: 'POST',
      path: '/mcp',
      headers: { 'mcp-protocol-version': '2025-06-18' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    }, client.signal)
  },
}

export const toolOperations: readonly Operation[] = [callTool, listTools]
