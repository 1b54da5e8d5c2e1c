/** Deletions of traces over a store in memory, with members that end without a word. */

import { FairSemaphore } from '../../../../../cluster/index.ts'
import type { Actor, ActorContext } from '../../../../../cluster/index.ts'
import { deletionKind } from '../../../../../src/platform/query/deletions/deletion-actor.ts'
import type { DeletionCommand } from '../../../../../src/platform/query/deletions/deletion-actor.ts'
import type { DeletionParts } from '../../../../../src/platform/query/deletions/deletion-pass.ts'
import { createDeletions } from '../../../../../src/platform/query/deletions/deletions.ts'
import type { Deletions } from '../../../../../src/platform/query/deletions/deletions.ts'
import { queryHandlers } from '../../../../../src/platform/threads/query-handlers.ts'
import type { Removal, SpanStore } from '../../../../../src/platform/index.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'
import { memoryCatalogs } from '../../../../support/memory-catalogs.ts'
import { randomSpansBeganMs } from '../../../../support/random-spans.ts'
import type { RandomSpans } from '../../../../support/random-spans.ts'

/** What a member does before it removes traces: it may throw, or never resolve. */
export type BeforeRemoval = (what: Removal) => Promise<void>

/** The deletions of one store. */
export class DeletionHouse {
  readonly env: VirtualEnv = virtualEnv(randomSpansBeganMs + 1_000)
  readonly deletions: Deletions
  #engine: DeletionParts
  readonly #actors = new Map<string, Actor<DeletionCommand>>()
  /** Traces of a step at most; undefined for as many as there are by default. */
  limit: number | undefined
  before: BeforeRemoval = () => Promise.resolve()
  /** Removals that were done. */
  removals = 0
  /** False: nobody is woken. */
  wakes = true
  arrivalUs = (randomSpansBeganMs + 1_000) * 1_000

  constructor(store: SpanStore, given: readonly RandomSpans[]) {
    const { env } = this
    const handlers = queryHandlers({ store, env })
    const projects = given.flatMap((each) => each.projects)
    const parts = createDeletions({
      catalogs: memoryCatalogs(env),
      env,
      settled: () => undefined,
      projects: { get: async (tenant, ids) =>
        given.find((each) => each.tenant === tenant)?.projects
          .filter(({ id }) => ids.includes(id)) ?? projects.slice(0, 0) },
      query: () => ({
        deletable: (question) =>
          handlers.deletable({ ...question, limit: this.limit ?? question.limit }),
      }),
      ingest: () => ({
        arrivalUs: async () => this.arrivalUs,
        remove: async ({ tenant, what }) => {
          await this.before(what)
          await store.remove(tenant, what)
          this.removals++
        },
      }),
      client: { wake: ({ tenant, id }, listedMs) => {
        if (this.wakes) this.look(tenant, id, listedMs)
      } },
    })
    this.deletions = parts.deletions
    this.#engine = parts.engine
  }

  /** Wakes the actor of a tenant. */
  look(tenant: string, id: string, listedMs: number): void {
    void this.#actorOf(tenant).receive({ kind: 'look', id, listedMs })
  }

  /** All members die without a word; new ones are woken by the list. */
  async restart(): Promise<void> {
    this.#actors.clear()
    this.#engine = { ...this.#engine,
      turns: new FairSemaphore({ inAll: 2, each: 1, waiting: 10, full: 'full' }) }
    for (const { tenant, id, place } of await this.deletions.records.listed.page()) {
      this.look(tenant, id, place.createdAtMs)
    }
  }

  /** Resolves when no actor has work, moving the clock to what they wait for. */
  async idle(): Promise<void> {
    for (let turn = 0; turn < 10_000; turn++) {
      const busy = [...this.#actors.values()].some((actor) => actor.occupied)
      if (!busy) return
      await new Promise((resolve) => setImmediate(resolve))
      if (turn % 50 === 49) this.env.advance(1_000)
    }
    throw new Error('The deletions do not come to an end.')
  }

  #actorOf(tenant: string): Actor<DeletionCommand> {
    const known = this.#actors.get(tenant)
    if (known !== undefined) return known
    const kind = deletionKind({ engine: () => this.#engine, env: this.env })
    const actor = kind.create(
      { key: { kind: kind.name, tenant, id: 'all' }, epoch: 1, notify: () => {}, fail: () => {},
        sleep: () => {} } as unknown as ActorContext<
          DeletionCommand
        >,
    )
    this.#actors.set(tenant, actor)
    return actor
  }
}
