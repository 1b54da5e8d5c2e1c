/** The JSON Schema of a message and of a list of messages. */

/** A message as clients send and get it. */
export const message = {
  title: 'Message',
  type: 'object',
  properties: {
    type: { type: 'string', enum: ['human', 'ai', 'system', 'tool', 'developer', 'remove'] },
    content: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
    id: { type: 'string' },
    name: { type: 'string' },
    tool_calls: { type: 'array', items: { type: 'object' } },
    tool_call_id: { type: 'string' },
  },
  required: ['content'],
}

/** The state of a channel of messages, marked as clients know it. */
export const messageList = { type: 'array', langgraph_type: 'messages', items: message }
