/** Messages in the many forms that LangChain takes for one, as a role and a text. Pure. */

import { HeddleError } from '../../../../errors.ts'
import { isObject } from '../../../../json/index.ts'
import type { ChatMessage } from '../../models/model.ts'

const roles: Readonly<Record<string, ChatMessage['role']>> = {
  human: 'user',
  user: 'user',
  ai: 'assistant',
  assistant: 'assistant',
  system: 'system',
  developer: 'system',
  tool: 'tool',
  HumanMessage: 'user',
  HumanMessageChunk: 'user',
  AIMessage: 'assistant',
  AIMessageChunk: 'assistant',
  SystemMessage: 'system',
  ToolMessage: 'tool',
  HumanMessagePromptTemplate: 'user',
  AIMessagePromptTemplate: 'assistant',
  SystemMessagePromptTemplate: 'system',
}

/** The role of a message or of its template. Throws `invalid`. */
export function roleOf(
  { name, kwargs }: { readonly name: string; readonly kwargs: Readonly<Record<string, unknown>> },
): ChatMessage['role'] {
  return roleNamed(name.startsWith('ChatMessage') ? kwargs['role'] : name)
}

/** The messages of a value: one, or a list. Throws `invalid`. */
export function messagesIn(value: unknown): readonly ChatMessage[] {
  return (Array.isArray(value) ? value as unknown[] : [value]).map(messageOf)
}

/** The text of the content of a message: all its texts. Throws `invalid`. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(textOfPart).join('')
  throw new HeddleError('invalid', 'The content of a message is a text or a list of texts.')
}

function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part
  if (isObject(part) && typeof part['text'] === 'string') return part['text']
  throw new HeddleError('invalid', 'A message has a part that is not a text: only texts can be ' +
    'used here.')
}

function messageOf(value: unknown): ChatMessage {
  if (typeof value === 'string') return { role: 'user', content: value }
  if (Array.isArray(value) && value.length === 2) {
    return { role: roleNamed(value[0]), content: textOfContent(value[1]) }
  }
  if (!isObject(value)) throw noMessage()
  const { id, kwargs, lc } = value
  if (lc === 1 && Array.isArray(id) && isObject(kwargs)) {
    const role = roleOf({ name: String(id.at(-1)), kwargs })
    return { role, content: textOfContent(kwargs['content']) }
  }
  return { role: roleNamed(value['role'] ?? value['type']),
    content: textOfContent(value['content']) }
}

function roleNamed(name: unknown): ChatMessage['role'] {
  const role = typeof name === 'string' && Object.hasOwn(roles, name) ? roles[name] : undefined
  if (role !== undefined) return role
  throw new HeddleError('invalid', `The role of a message is one of system, user, assistant and ` +
    `tool, not ${JSON.stringify(name) ?? 'missing'}.`)
}

function noMessage(): HeddleError {
  return new HeddleError('invalid',
    'A placeholder for messages takes a list of messages: each has ' +
      'a role and a content.')
}
