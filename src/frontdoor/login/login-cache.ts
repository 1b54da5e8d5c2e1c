/** Users that `authenticate` of a project returned, kept as long as the project says. */

import { LRUCache } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { hashOf } from '../../access/index.ts'
import type { AppUser, AuthSettings } from '../../graph/index.ts'

/** Characters of the users of one project that are kept. */
const charactersMax = 16 * 1024 * 1024

interface Kept {
  readonly user: AppUser
  readonly untilMs: number
  readonly characters: number
}

/** Keeps users by the values of headers, of which it holds a hash only. */
export class LoginCache {
  readonly #names: readonly string[]
  readonly #ttlMs: number
  readonly #entries: LRUCache<string, Kept>
  readonly #env: Pick<Env, 'monotonicMs'>

  constructor({ cache_keys, ttl_seconds, max_size }: NonNullable<AuthSettings['cache']>,
    env: Pick<Env, 'monotonicMs'>) {
    this.#names = cache_keys.map((name) => name.toLowerCase()).toSorted()
    this.#ttlMs = ttl_seconds * 1_000
    this.#entries = new LRUCache({ max: max_size, maxSize: charactersMax,
      sizeCalculation: ({ characters }) => characters })
    this.#env = env
  }

  /** The key of a request: the same for all whose headers of these names have the same values. */
  keyOf(headers: Readonly<Record<string, string | readonly string[] | undefined>>): string {
    return hashOf(JSON.stringify(this.#names.map((name) => headers[name] ?? null)))
  }

  get(key: string): AppUser | undefined {
    const kept = this.#entries.get(key)
    if (kept === undefined) return undefined
    if (kept.untilMs > this.#env.monotonicMs()) return kept.user
    this.#entries.delete(key)
    return undefined
  }

  set(key: string, user: AppUser): void {
    this.#entries.set(key, { user, untilMs: this.#env.monotonicMs() + this.#ttlMs,
      characters: JSON.stringify(user).length })
  }
}
