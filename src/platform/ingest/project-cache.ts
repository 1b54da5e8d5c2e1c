/** Projects by their names and ids, asked of the main thread and kept for a second. */

import { LRUCache } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { Project } from '../records/projects/project.ts'
import type { Reader } from './ended/ended-span.ts'
import type { Uuid } from '../spans/span.ts'
import type { Calls } from '../calls/calls.ts'
import type { ProjectInput } from './operation.ts'
import type { SpanWriteNeeds } from './ingest-call.ts'

/** Fields of a project that ingest needs. */
export interface KnownProject {
  readonly id: Uuid
  /** Seconds that its spans live. */
  readonly timeToLiveS: number
  /** Whose rules read its spans when they end; most projects have none. */
  readonly readers?: readonly Reader[]
}

/** A span, and the project that it says. */
export interface FiledSpan {
  readonly project: ProjectInput
  readonly startUs: number
}

/** Names of projects, each with the start of its earliest span in milliseconds. */
type Starts = Map<string, number>

/** Project of a name or an id, or the reason why there is none. */
export type ResolvedProjects = (said: ProjectInput) => KnownProject | string

/**
 * Milliseconds for which an answer holds, from when it was asked for. A project that is deleted
 * answers after this time, so that no later request is filed under it.
 */
const leaseMs = 1000
const entriesMax = 10_000
/** Seconds in 24 hours. */
export const daySeconds = 24 * 60 * 60

interface Entry {
  readonly project: KnownProject
  readonly untilMs: number
}

/** The projects of all tenants, as an ingest thread knows them. */
export class ProjectCache {
  readonly #needs: Calls<SpanWriteNeeds>
  readonly #env: Env
  readonly #entries = new LRUCache<string, Entry>({ max: entriesMax })

  constructor(needs: Calls<SpanWriteNeeds>, env: Env) {
    this.#needs = needs
    this.#env = env
  }

  /**
   * Resolves the projects of spans; those that are named are made on first use, and begin with
   * their earliest span. Throws what may be different when asked again, such as `unavailable`.
   */
  async resolve(tenant: string, wanted: readonly FiledSpan[]): Promise<ResolvedProjects> {
    const found = new Map<string, KnownProject | string>()
    const names: Starts = new Map()
    const ids = new Set<Uuid>()
    const nowMs = this.#env.monotonicMs()
    for (const { project: said, startUs } of wanted) {
      const key = keyOf(tenant, said)
      const entry = this.#entries.get(key)
      if (entry !== undefined && entry.untilMs > nowMs) found.set(key, entry.project)
      else if (said.by === 'name') {
        names.set(said.name,
          Math.min(Math.floor(startUs / 1_000), names.get(said.name) ?? Infinity))
      } else ids.add(said.id)
    }
    if (names.size + ids.size > 0) await this.#ask(tenant, names, [...ids], found)
    return (said) => found.get(keyOf(tenant, said)) ?? 'There is no such project.'
  }

  async #ask(tenant: string, starts: Starts, ids: readonly Uuid[],
    found: Map<string, KnownProject | string>): Promise<void> {
    const names = [...starts.keys()]
    const untilMs = this.#env.monotonicMs() + leaseMs
    const keep = (said: ProjectInput,
      { id, retentionDays, readers }: Project & { readonly readers?: readonly Reader[] }) => {
      const key = keyOf(tenant, said)
      const project = { id, timeToLiveS: retentionDays * daySeconds, ...readers && { readers } }
      found.set(key, project)
      this.#entries.set(key, { project, untilMs })
    }
    try {
      const projects = await this.#needs.projects({ tenant, names, ids,
        startsMs: [...starts.values()] })
      names.forEach((name, index) => keep({ by: 'name', name }, projects[index]!))
      for (const project of projects.slice(names.length))
        keep({ by: 'id', id: project.id }, project)
    } catch (error) {
      const { retry, message } = HeddleError.from(error)
      if (retry !== 'no') throw error
      // One of them is at fault. The others are asked for alone.
      if (names.length + ids.length > 1) {
        for (const start of starts) await this.#ask(tenant, new Map([start]), [], found)
        for (const id of ids) await this.#ask(tenant, new Map(), [id], found)
      } else if (names.length === 1) {
        found.set(keyOf(tenant, { by: 'name', name: names[0]! }), message)
      }
    }
  }
}

function keyOf(tenant: string, said: ProjectInput): string {
  return `${said.by} ${tenant.length} ${tenant} ${said.by === 'id' ? said.id : said.name}`
}
