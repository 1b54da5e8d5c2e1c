/** First words of a human on a thread, taken from the input of a run. */

import { isObject } from '../../json/index.ts'
import { RawJson } from '../../raw-json.ts'

/** Characters that are kept. */
const openingMax = 300
/** Characters of a long input in which the first content is looked for. */
const rawMax = 8 * 1024
/** Messages of an input that are looked at. */
const messagesMax = 20

/**
 * The first human message of an input, or its first text if it has no messages. Undefined if there
 * is neither. Of an input that is too long to be parsed here, the first content is taken.
 */
export function openingOf(input: unknown): string | undefined {
  const text = textIn(input)?.trim().slice(0, openingMax)
  return text ? text.toWellFormed() : undefined
}

function textIn(input: unknown): string | undefined {
  if (typeof input === 'string') return input
  if (input instanceof RawJson) return contentIn(input.text)
  if (!isObject(input)) return undefined
  const { messages } = input
  if (messages instanceof RawJson) return contentIn(messages.text)
  if (Array.isArray(messages)) return first(messages.slice(0, messagesMax), humanText)
  if (isObject(messages)) return humanText(messages)
  return first(Object.values(input), (value) => typeof value === 'string' ? value : undefined)
}

function humanText(message: unknown): string | undefined {
  if (typeof message === 'string') return message
  if (message instanceof RawJson) return contentIn(message.text)
  if (Array.isArray(message)) return isHuman(message[0]) ? contentText(message[1]) : undefined
  if (!isObject(message)) return undefined
  return isHuman(message['role'] ?? message['type']) ? contentText(message['content']) : undefined
}

function isHuman(role: unknown): boolean {
  return role === 'human' || role === 'user'
}

function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  return first(content,
    (part) => isObject(part) && typeof part['text'] === 'string' ? part['text'] : undefined)
}

function first<Each>(all: readonly Each[], textOf: (each: Each) => string | undefined):
  | string
  | undefined {
  for (const each of all) {
    const text = textOf(each)
    if (text) return text
  }
  return undefined
}

/** The first content in the beginning of a long JSON text. */
function contentIn(text: string): string | undefined {
  const found = /"(?:content|text)"\s*:\s*"((?:[^"\\]|\\.){1,300})/.exec(text.slice(0, rawMax))
  if (!found) return undefined
  try {
    return JSON.parse(`"${found[1]}"`) as string
  } catch {
    return undefined
  }
}
