/** Notices that the tools of a caller have changed: one look for all that listen as the same. */

import type { Env } from '../../../cluster/index.ts'
import { hashOf } from '../../access/index.ts'
import type { Caller } from '../http/caller.ts'
import type { RouteParts } from '../http/route.ts'
import { principalOf } from './call.ts'

/**
 * Time between two looks, while somebody listens. A change at this member is looked at when it is
 * made; those at other members are found in this time, and so are the graphs of a new revision.
 */
const lookMs = 5_000

/** Waits for types in TypeScript, in milliseconds and in number; and callers that wait. */
const [typesWaitMs, typesWaitsMax, typesCallersMax] = [30_000, 20, 1_000]

interface Watched {
  readonly listeners: Set<() => void>
  /** Resolves after the first look, whether it saw anything or not. */
  readonly ready: PromiseWithResolvers<void>
  /** State that was seen last; undefined before the first look. */
  seen: string | undefined
  readonly stop: () => void
}

/** A client that listens. */
export interface Listening {
  /** Changes from then on are noticed. */
  readonly ready: Promise<void>
  stop(): void
}

/** Notices changes for as long as somebody listens. Belongs to one front door. */
export class ToolNotices {
  readonly #assistants: RouteParts['assistants']
  readonly #env: Pick<Env, 'every'>
  readonly #watched = new Map<string, Watched>()
  /** Callers whose tools get types, which are being read. */
  readonly #typed = new Set<string>()

  constructor(assistants: RouteParts['assistants'], env: Pick<Env, 'every'>) {
    this.#assistants = assistants
    this.#env = env
  }

  /** Calls `changed` when the tools of the caller have changed. */
  listen(caller: Caller, changed: () => void): Listening {
    const key = keyOf(caller)
    const watched = this.#watched.get(key) ?? this.#watch(caller, key)
    watched.listeners.add(changed)
    return {
      ready: watched.ready.promise,
      stop: () => {
        watched.listeners.delete(changed)
        if (watched.listeners.size > 0 || this.#watched.get(key) !== watched) return
        watched.stop()
        this.#watched.delete(key)
      },
    }
  }

  /** Notifies clients of the caller when the types of this assistant have been read. */
  async noticeTypes(caller: Caller, assistantId: string): Promise<void> {
    const key = keyOf(caller)
    if (this.#typed.has(key) || this.#typed.size >= typesCallersMax) return
    this.#typed.add(key)
    try {
      for (let waits = 1; waits <= typesWaitsMax; waits++) {
        const { types_loading: isLoading } = await this.#assistants.schemas(caller, assistantId,
          typesWaitMs)
        if (isLoading === true) continue
        for (const changed of this.#watched.get(key)?.listeners ?? []) changed()
        return
      }
    } catch {
      // The assistant was deleted, or its graph cannot be read. The next list shows it.
    } finally {
      this.#typed.delete(key)
    }
  }

  #watch(caller: Caller, key: string): Watched {
    let [isLooking, isDue] = [false, false]
    const look = () => {
      // What changes during a look may be missed by it.
      isDue = isLooking
      if (isLooking) return
      isLooking = true
      // What cannot be seen now is seen at the next look.
      void this.#state(caller).then((state) => this.#see(watched, state), () => {}).finally(() => {
        isLooking = false
        watched.ready.resolve()
        if (isDue && this.#watched.get(key) === watched) look()
      })
    }
    const stops = [this.#env.every(lookMs, look), this.#assistants.onChange(caller, look)]
    const watched: Watched = { listeners: new Set(), seen: undefined,
      ready: Promise.withResolvers(), stop: () => stops.forEach((stop) => stop()) }
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
    const newest = rows.map(({ assistantId, version, updatedAtMs }) =>
      `${assistantId} ${version} ${updatedAtMs}`
    )
    return JSON.stringify([total, newest, await this.#assistants.graphIds(caller)])
  }
}

function keyOf(caller: Caller): string {
  return `${caller.tenant}\n${rightsOf(caller)}`
}

/** Names all callers with the same rights: two tokens of a user may have different ones. */
function rightsOf(caller: Caller): string {
  return caller.user === undefined ? principalOf(caller) : hashOf(JSON.stringify(caller.user))
}
