/** Remembers removed threads and runs, so that no repeated start makes them again. */

import { LRUCache } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { keyMs } from '../model/removed-keys.ts'

/** Maximum number of removals. The oldest are evicted. */
const rememberedMax = 10_000

/** A thread and its tenant. */
export interface ThreadName {
  readonly tenant: string
  readonly threadId: string
}

/** A start that may be a repetition. */
export interface RepeatedStart {
  readonly runId: string
  /** Its Idempotency-Key; empty without one. */
  readonly key: string
  /** Milliseconds since the first start, for a waiting caller that starts its run again. */
  readonly againAfterMs: number | undefined
}

interface Removal {
  readonly atMs: number
  /** Commands that the thread had carried out, and keys of its runs. */
  readonly ids: ReadonlySet<string>
}

/** Removals of one member. They are in memory only, because callers soon stop repeating starts. */
export class LatelyRemoved {
  readonly #env: Pick<Env, 'monotonicMs'>
  readonly #removals = new LRUCache<string, Removal>({ max: rememberedMax })

  constructor(env: Pick<Env, 'monotonicMs'>) {
    this.#env = env
  }

  /** Notes that a thread was deleted. `ids`: its commands, and the keys of its runs. */
  noteThread(name: ThreadName, ids: Iterable<string>): void {
    this.#removals.set(textOf(name), { atMs: this.#env.monotonicMs(), ids: new Set(ids) })
  }

  /** Notes that a run was deleted or rolled back. */
  noteRun(name: ThreadName, runId: string): void {
    this.#removals.set(textOf(name, runId), { atMs: this.#env.monotonicMs(), ids: new Set() })
  }

  /** True if the thread was deleted after it had carried out this command. */
  hasCommand(name: ThreadName, id: string | undefined): boolean {
    return id !== undefined && this.#removals.get(textOf(name))?.ids.has(id) === true
  }

  /** True if the run of this start was removed after its first start. */
  includes(name: ThreadName, { runId, key, againAfterMs }: RepeatedStart): boolean {
    const removal = this.#removals.get(textOf(name))
    const isRecent = removal !== undefined && this.#env.monotonicMs() - removal.atMs < keyMs
    if (key !== '' && isRecent && removal.ids.has(key)) return true
    if (againAfterMs === undefined) return false
    const firstMs = this.#env.monotonicMs() - againAfterMs
    return this.#removals.has(textOf(name, runId)) || (removal?.atMs ?? -Infinity) >= firstMs
  }
}

function textOf({ tenant, threadId }: ThreadName, runId = ''): string {
  return `${tenant}\n${threadId}\n${runId}`
}
