/**
 * One server of the platform on virtual time: the real handlers, catalogs, own runs, datasets,
 * rules and store. It is restarted, and its clock is set, by the world.
 */

import type { Env } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { datasetsIn } from '../../../src/platform/evaluate/datasets/catalog-datasets.ts'
import type { DatasetCatalog } from '../../../src/platform/evaluate/datasets/dataset.ts'
import type { DocumentPlace, Platform, Project, Projects,
  SpanStore } from '../../../src/platform/index.ts'
import { PendingRemovals } from '../../../src/platform/records/catalog/pending-removals.ts'
import { projectsOver } from '../../../src/platform/records/projects/catalog-projects.ts'
import { withSpanLives } from '../../../src/platform/ingest/project-lives.ts'
import { ingestHandlers } from '../../../src/platform/threads/ingest-handlers.ts'
import type { Calls, Handlers } from '../../../src/platform/calls/calls.ts'
import type { IngestHandlers, QueryHandlers } from '../../../src/platform/threads/platform-calls.ts'
import { queryHandlers } from '../../../src/platform/threads/query-handlers.ts'
import { removeGoneTraces } from '../../../src/server/own-traces/gone-traces.ts'
import { OwnRuns } from '../../../src/server/own-traces/own-runs.ts'
import { ruleRecords } from '../../../src/platform/evaluate/rules/rule-records.ts'
import type { Rules } from '../../../src/platform/evaluate/rules/rules.ts'
import { withMethods } from '../../support/with-methods.ts'
import { CatalogHouse } from '../../unit/platform/catalog/catalog-house.ts'
import type { CountedTable, HouseStore } from './house-store.ts'
import { envWithout, projectsWithout, storeWithout } from './platform-rule.ts'
import type { PlatformRule } from './platform-rule.ts'
import { RuleActors } from './rule-actors.ts'

export const tenant = 'acme'

/** The parts of a server that a restart makes again. */
interface Life {
  readonly store: SpanStore
  readonly ingest: IngestHandlers
  readonly query: QueryHandlers
  readonly projects: Projects
  readonly catalog: DatasetCatalog
  readonly removals: PendingRemovals
  readonly ownRuns: OwnRuns
  readonly rules: Rules
  readonly actors: RuleActors
  readonly removeRuns: (runs: readonly RunRow[]) => Promise<void>
}

/** A server whose time, clock and life belong to a test. */
export class PlatformHouse {
  readonly #catalogs = new CatalogHouse()
  readonly #env: Env
  readonly #store: HouseStore
  readonly #without: PlatformRule | undefined
  #life!: Life
  #ids = 0
  /** Milliseconds by which the wall clock is ahead. */
  aheadMs = 0
  /** Called before each write of documents. */
  beforeDocuments: () => Promise<unknown> = () => Promise.resolve()

  constructor(store: HouseStore, without?: PlatformRule) {
    this.#store = store
    this.#without = without
    const { env } = this.#catalogs
    this.#env = { ...env, nowMs: () => env.nowMs() + this.aheadMs, uuid: () => this.newId('4'),
      uuid7: () => this.newId('7') }
    this.#start()
  }

  get now(): Life {
    return this.#life
  }

  /** The time that has passed, in milliseconds since 1970. */
  get rightMs(): number {
    return this.#catalogs.env.nowMs()
  }

  newId(version: '4' | '7'): string {
    const no = (++this.#ids).toString(16).padStart(12, '0')
    return `0a000000-0000-${version}000-8000-${no}`
  }

  /** Ends the process and starts the next one. Threads that were not reported stay so. */
  async restart(): Promise<void> {
    await this.#close()
    this.#catalogs.start()
    this.#start()
  }

  /** Starts the own runs and rules of another owner, which has handed nothing over. */
  handOff(): void {
    this.#life.actors.moveActors()
    this.#life = this.#withRuns(this.#life)
  }

  /** Lets time pass until work has ended that waits for timers. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    const state = { isOver: false }
    const ended = work.finally(() => {
      state.isOver = true
    })
    ended.catch(() => {})
    while (!state.isOver) await this.pass(1)
    return ended
  }

  /** Fires the timers of so many seconds, and completes the work that they start. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.#catalogs.env.advance(1_000)
      for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Lets time pass without the steps of timers between. */
  jump(ms: number): void {
    this.#catalogs.env.skip(ms)
  }

  /** Returns the number of rows that the store has of a table. */
  countRows(table: CountedTable): number {
    return this.#store.countRows(table)
  }

  /** Ends the process, and deletes what it has stored. */
  async end(): Promise<void> {
    await this.#close()
    this.#store.remove()
  }

  async #close(): Promise<void> {
    this.#life.actors.end()
    this.#life.removals.close()
    await this.#life.ingest.close(null)
  }

  #start(): void {
    const env = this.#env
    const catalogs = this.#catalogs.client()
    const rule = this.#without
    const file = storeWithout(rule,
      this.#store.open(envWithout(rule, env), { rightMs: () => this.rightMs, without: rule }))
    const store = withMethods(file, { putDocuments: async (place, documents) => {
      await this.beforeDocuments()
      await file.putDocuments(place, documents)
    } })
    const projects = projectsWithout(rule, withSpanLives(projectsOver(catalogs, env), {
      ingest: () => callsOf(this.#life.ingest),
      isBeingRemoved: (of, id) => this.#life.removals.has('project', of, id),
    }))
    const catalog = datasetsIn(catalogs, env)
    const { readersOf } = ruleRecords(catalogs, env)
    const withReaders = async <Own extends Project>(found: readonly Own[]) => {
      const readers = await readersOf(tenant, found)
      return found.map((project) => ({ ...project, readers: readers.get(project.id) }))
    }
    const ingest = ingestHandlers({ store, env, needs: {
      datasets: (call) => catalog.get(call.tenant, call.ids),
      chargeDataset: (call) => catalog.charge(call.tenant, call.id, call.bytes),
      publishDataset: catalog.publish,
      projects: async (
        { names, ids, startsMs },
      ) =>
        withReaders([...await projects.named(tenant, names, startsMs),
          ...await projects.get(tenant, ids, true)]),
      ownProjects: async ({ runs }) =>
        Promise.all(
          (await projects.filed(tenant, runs, true)).map(async ({ project, isNew }) =>
            project ? { ...(await withReaders([project]))[0]!, isNew } : null
          ),
        ),
      prices: () => Promise.resolve([]),
      ended: ({ rules }) => {
        for (const id of rules) this.#life.actors.client.wake({ tenant, id })
        return Promise.resolve()
      },
      removed: () => Promise.resolve(),
    } })
    const removals = new PendingRemovals({ catalogs, env, kinds: {
      dataset: {
        exists: async (_, id) => (await catalog.get(tenant, [id])).length > 0,
        delete: catalog.delete,
        erase: (_, dataset) => ingest.dropExamples({ tenant, dataset }),
      },
      project: {
        exists: async (_, id) => (await projects.get(tenant, [id])).length > 0,
        delete: projects.delete,
        erase: (_, project) => ingest.remove({ tenant, what: { kind: 'project', project } }),
      },
      queue: { exists: () => Promise.resolve(false), delete: () => Promise.resolve(),
        erase: () => Promise.resolve() },
    } })
    const query = queryHandlers({ store, env })
    const actors = new RuleActors({ catalogs, env, documents: store, projects, ingest: () => ingest,
      query: () => callsOf(query) })
    const { rules } = actors
    this.#life = this.#withRuns({ store, ingest, query, projects, catalog, removals, rules,
      actors })
  }

  #withRuns(life: Omit<Life, 'ownRuns' | 'removeRuns'>): Life {
    const ownRuns = new OwnRuns(this.#env)
    const platform = life as unknown as Platform
    ownRuns.handOverTo(platform)
    const remove = removeGoneTraces({ ownRuns, platform: () => platform, tracesSteps: () => false,
      deploymentOf: async () => undefined, env: this.#env })
    return { ...life, ownRuns, removeRuns: (runs) => remove(tenant, runs) }
  }
}

/** Returns the places of all documents of a dataset. */
export function placesOfDataset(dataset: string): readonly DocumentPlace[] {
  return (['example', 'example_file'] as const).map((kind) => ({ tenant, kind, owner: dataset }))
}

/** The calls of a thread, whose signals are in their options. */
function callsOf<Own extends object>(handlers: Own): Calls<Own> {
  return new Proxy(handlers, {
    get: (target, name) => (input: never, options?: { readonly signal?: AbortSignal }) =>
      (target[name as keyof Own] as Handlers[string])(input, options?.signal as never),
  }) as never
}
