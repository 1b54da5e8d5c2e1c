/** Bounds of one rendering: each occurrence of a name in the template takes its value again. */

import { HeddleError } from '../../../../errors.ts'
import type { ChatMessage } from '../../models/model.ts'

/** Nodes and messages that are visited: sections in sections multiply. */
const visitedMax = 200_000
/** Characters of all messages. */
const charactersMax = 4 * 1024 * 1024

/** Visits and characters left for a rendering. Methods throw `invalid` if that is too little. */
export class RenderBudget {
  #visits = visitedMax
  #characters = charactersMax
  /** Values that were made a text, which takes as long as they are. */
  readonly #texts = new Map<unknown, string>()
  readonly #messages = new Map<unknown, readonly ChatMessage[]>()

  /** Characters that are left. */
  get characters(): number {
    return this.#characters
  }

  /** Takes room for nodes or messages. */
  visit(count: number): void {
    this.#visits -= count
    if (this.#visits < 0) throw tooLong()
  }

  /** Takes room for the text, which becomes a part of a message. */
  take(text: string): string {
    this.#characters -= text.length
    if (this.#characters < 0) throw tooLong()
    return text
  }

  /** The text of an object, which is made once. */
  textOf(value: object, make: () => string): string {
    const known = this.#texts.get(value)
    if (known !== undefined) return known
    const text = make()
    this.#texts.set(value, text)
    return text
  }

  /** The messages of a value, which are made once. */
  messagesOf(value: unknown, make: () => readonly ChatMessage[]): readonly ChatMessage[] {
    const messages = this.#messages.get(value) ?? make()
    this.#messages.set(value, messages)
    this.visit(messages.length)
    for (const { content } of messages) this.take(content)
    return messages
  }
}

/** The error for what gets longer than it may. */
export function tooLong(): HeddleError {
  return new HeddleError('invalid', 'This template gets too long with these values.')
}
