/**
 * One follow for all readers of the same thing in this member: owners send to members, not readers.
 *
 *   1. The first follower begins it, and later ones join while it lasts.
 *   2. A follower that asks for something that is not known here any more follows alone.
 *   3. It ends when the last follower stops; the next one begins a new follow.
 */

import { actorKeyText } from '../actors/actor-key.ts'
import type { Asked, SharedFollow } from '../actors/actor-wire.ts'
import type { Transport } from './transport.ts'

/** The same transport, with its follows shared if the kind of actor says how. */
export function fanOut<Way extends Transport>(transport: Way, kinds: readonly Asked[]): Way {
  const sharings = new Map(kinds.map(({ name, wire }) => [name, wire?.sharing]))
  const shares = new Map<string, Share>()
  const follow: Transport['follow'] = async (to, key, request, listener, delivery) => {
    const alone = () => transport.follow(to, key, request, listener, delivery)
    const sharing = sharings.get(key.kind)
    const shared = sharing?.nameOf(request)
    if (sharing === undefined || shared === undefined) return await alone()
    const name = `${to.id}\n${actorKeyText(key)}\n${shared}`
    const begin = () => {
      const forget = () => {
        if (shares.get(name) === share) shares.delete(name)
      }
      const shared = sharing.begin(request, forget)
      const opened = transport.follow(to, key, shared.request, shared.listener, delivery)
      const share = new Share(shared, opened, forget)
      shares.set(name, share)
      return share
    }
    const share = shares.get(name) ?? begin()
    return await share.join(request, listener) ?? await alone()
  }
  return { ...transport, follow }
}

class Share {
  readonly #follow: SharedFollow
  /** Resolves with the function that stops it. */
  readonly #opened: Promise<() => void>
  readonly #forget: () => void
  #followers = 0

  constructor(follow: SharedFollow, opened: Promise<() => void>, forget: () => void) {
    this.#follow = follow
    this.#opened = opened
    this.#forget = forget
  }

  async join(request: unknown, listener: unknown): Promise<(() => void) | undefined> {
    this.#followers++
    let stop: (() => void) | undefined
    try {
      await this.#opened
      stop = await this.#follow.join(request, listener)
    } finally {
      if (stop === undefined) this.#leave()
    }
    return stop && this.#once(stop)
  }

  #once(stop: () => void): () => void {
    let stopped = false
    return () => {
      if (stopped) return
      stopped = true
      stop()
      this.#leave()
    }
  }

  #leave(): void {
    if (--this.#followers > 0) return
    this.#forget()
    this.#opened.then((stop) => stop(), () => {})
  }
}
