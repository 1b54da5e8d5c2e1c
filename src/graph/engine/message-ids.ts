/** Gives messages their ids before they are stored, so that a resumed run recognises them. */

import { isList } from '../../json/index.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import { isChatMessage } from '../state/chat-message.ts'

/**
 * Assigns ids to messages that are written to a reducing channel. The reducer of a message list
 * assigns missing ids too, but only after the write was stored. Repeated after a crash, it would
 * assign others, and a client would see the message twice.
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
    for (const message of isList(value) ? value : [value]) {
      if (typeof message !== 'object' || message === null || !isChatMessage(message)) continue
      if (message.id === undefined || message.id === null) {
        message.id = message.lc_kwargs.id = this.#uuid()
      }
    }
  }
}
