/** The older `messages` mode: every message as it grows, then once when it is complete. */

import { listOf, memberOf, textAt } from '../../json/index.ts'

/** A chunk of an answer as models stream it. A whole message has no `concat`. */
interface GrowingMessage {
  readonly id?: string
  _getType(): string
  concat(chunk: unknown): GrowingMessage
}

/** Makes the events of the `messages` mode for one run. */
export class MessageEvents {
  readonly #notify: (name: string, payload: unknown) => void
  readonly #growing = new Map<string, GrowingMessage>()
  readonly #complete = new Set<string>()

  constructor(notify: (name: string, payload: unknown) => void) {
    this.#notify = notify
  }

  /** Takes `[message, metadata]` of the engine's stream. Whole messages come with the values. */
  chunk(payload: unknown): void {
    const [message, metadata] = listOf(payload)
    if (!isGrowing(message) || message._getType() !== 'ai' || !message.id) return
    const { id } = message
    const before = this.#growing.get(id)
    if (!before) this.#notify('messages/metadata', { [id]: { metadata } })
    const grown = before?.concat(message) ?? message
    this.#growing.set(id, grown)
    this.#notify('messages/partial', [grown])
  }

  /** Emits all messages of the state the first time, then only new ones. */
  values(state: unknown): void {
    const news = [memberOf(state, 'messages')].flat().filter((message) => {
      const id = textAt(message, 'id')
      if (id === undefined || this.#complete.has(id)) return false
      this.#complete.add(id)
      this.#growing.delete(id)
      return true
    })
    if (news.length > 0) this.#notify('messages/complete', news)
  }
}

function isGrowing(message: unknown): message is GrowingMessage {
  return typeof memberOf(message, '_getType') === 'function' &&
    typeof memberOf(message, 'concat') === 'function'
}
