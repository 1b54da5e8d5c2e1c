/** Notices that the tools of a caller have changed: one look for all that listen as the same. */

import type { Env } from '../../../cluster/index.ts'
import type { Caller } from '../http/caller.ts'
import type { RouteParts } from '../http/route.ts'
import { principalOf } from './call.ts'

/** Time between two looks. Other members make assistants as well, and nothing says so. */
const lookMs = 5_000

interface Watched {
  readonly listeners: Set<() => void>
  /** State that was seen last; undefined before the first look. */
  seen: string | undefined
  readonly stop: () => void
}

/** Notices changes for as long as somebody listens. Belongs to one front door. */
export class ToolNotices {
  readonly #assistants: RouteParts['assistants']
  readonly #env: Pick<Env, 'every'>
  readonly #watched = new Map<string, Watched>()

  constructor(assistants: RouteParts['assistants'], env: Pick<Env, 'every'>) {
    this.#assistants = assistants
    this.#env = env
  }

  /** Calls `changed` when the tools of the caller have changed since. The result stops it. */
  listen(caller: Caller, changed: () => void): () => void {
    const key = `${caller.tenant}\n${principalOf(caller)}`
    const watched = this.#watched.get(key) ?? this.#watch(caller, key)
    watched.listeners.add(changed)
    return () => {
      watched.listeners.delete(changed)
      if (watched.listeners.size > 0 || this.#watched.get(key) !== watched) return
      watched.stop()
      this.#watched.delete(key)
    }
  }

  #watch(caller: Caller, key: string): Watched {
    let isLooking = false
    const look = () => {
      if (isLooking) return
      isLooking = true
      // What cannot be seen now is seen at the next look.
      void this.#state(caller).then((state) => this.#see(watched, state), () => {}).finally(() => {
        isLooking = false
      })
    }
    const watched: Watched = { listeners: new Set(), seen: undefined,
      stop: this.#env.every(lookMs, look) }
    this.#watched.set(key, watched)
    look()
    return watched
  }

  #see(watched: Watched, state: string): void {
    const isChange = watched.seen !== undefined && watched.seen !== state
    watched.seen = state
    if (isChange) { for (const changed of watched.listeners) changed() }
  }

  /** Differs whenever an assistant was made, changed or deleted, or the graphs have changed. */
  async #state(caller: Caller): Promise<string> {
    const { rows, total } = await this.#assistants.search(caller, { limit: 1, sort_by: 'updated_at',
      sort_order: 'desc' })
    const newest = rows.map(({ assistantId, updatedAtMs }) => `${assistantId} ${updatedAtMs}`)
    return JSON.stringify([total, newest, await this.#assistants.graphIds(caller)])
  }
}
