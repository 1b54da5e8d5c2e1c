/** Gives messages their ids before they are stored, so that a resumed run knows them again. */

import { isChatMessage } from './chat-message.ts'
import type { ServedGraph } from './graph-export.ts'

/**
 * The reducer of a message list gives an id to each message without one, yet only after its
 * write was stored: repeated after a crash it would give another, and the message that a client
 * has seen would come twice. So messages written to a reducing channel get theirs first.
 */
export class MessageIds {
  readonly #channels: ServedGraph['channels']
  readonly #uuid: () => string

  constructor({ channels }: ServedGraph, uuid: () => string) {
    this.#channels = channels
    this.#uuid = uuid
  }

  assign(channel: string, value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    if (this.#channels[channel]?.lc_graph_name !== 'BinaryOperatorAggregate') return
    for (const message of Array.isArray(value) ? value as unknown[] : [value]) {
      if (typeof message !== 'object' || message === null || !isChatMessage(message)) continue
      if (message.id === undefined || message.id === null) {
        message.id = message.lc_kwargs.id = this.#uuid()
      }
    }
  }
}
