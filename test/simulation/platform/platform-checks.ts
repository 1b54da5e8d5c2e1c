/** What is readable, and what is on disk, compared with a model of the platform. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { Project, SpanHead } from '../../../src/platform/index.ts'
import { placesOfDataset, tenant } from './platform-house.ts'
import type { PlatformHouse } from './platform-house.ts'

/** A project, under its present name. */
export interface ModelProject {
  name: string
  id: string | undefined
  isDeleted: boolean
}

/** A trace with what belongs to it. */
export interface ModelTrace {
  readonly id: string
  readonly startMs: number
  readonly project: ModelProject
  readonly feedback: Set<string>
  readonly hasFile: boolean
  /** The row of a run of this server, in its thread until the run is deleted. */
  readonly row?: RunRow
  isGone: boolean
  /** The store has removed it to free space: a client that sends more of it makes a new one. */
  isFreed: boolean
}

/** A dataset, by the number of its examples. */
export interface ModelDataset {
  readonly id: string
  examples: number
  isDeleted: boolean
}

/** What a server should have. */
export interface PlatformModel {
  readonly projects: readonly ModelProject[]
  readonly traces: readonly ModelTrace[]
  readonly datasets: readonly ModelDataset[]
  /** True if the store removes the oldest traces by itself. */
  readonly hasQuota: boolean
}

const allProjects = { sortBy: 'name', descending: false, limit: 100, offset: 0 } as const
const everything = { fromUs: -Infinity, toUs: Infinity, order: 'oldest', rootsOnly: false,
  terms: [], ranges: [], type: null, name: null } as const

/** Marks a trace of the model as removed, with what belongs to it. */
export function removeTrace(trace: ModelTrace): void {
  trace.isGone = true
  trace.feedback.clear()
}

/** Compares a server with a model. Differences are added to `findings`. */
export class PlatformChecks {
  readonly #house: PlatformHouse
  readonly #model: PlatformModel
  readonly #findings: string[]

  constructor(house: PlatformHouse, model: PlatformModel, findings: string[]) {
    this.#house = house
    this.#model = model
    this.#findings = findings
  }

  expect(what: string, found: unknown, expected: unknown): void {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
    if (a !== b) this.#findings.push(`${what}: found ${a}, expected ${b}`)
  }

  /** What is readable. */
  async check(): Promise<void> {
    const { projects } = this.#house.now
    const found = (await projects.find(tenant, allProjects)).projects
    const live = this.#model.projects.filter(({ isDeleted }) => !isDeleted)
    this.expect('projects', found.map(({ name }) => name).toSorted(),
      live.map(({ name }) => name).toSorted())
    for (const project of live) {
      const known = found.find(({ name }) => name === project.name)
      project.id ??= known?.id
      if (known === undefined) continue
      this.expect('id of a project', known.id, project.id)
      await this.#checkProject(project, known)
    }
    await this.#checkBelongings()
    await this.#checkDatasets()
  }

  /** When all timers have fired, the disk has what is readable, and nothing else. */
  async checkDisk(): Promise<void> {
    await this.#house.pass(300)
    await this.check()
    const live = this.#model.traces.filter(({ isGone }) => !isGone)
    this.expect('rows of spans', this.#house.countRows('span'), live.length)
    this.expect('rows of files', this.#house.countRows('file'),
      live.filter(({ hasFile }) => hasFile).length)
    this.expect('rows of feedback', this.#house.countRows('feedback'),
      live.reduce((sum, { feedback }) => sum + feedback.size, 0))
  }

  /** Catalog, heads, feedback in heads and statistics of a project. */
  async #checkProject(project: ModelProject, known: Project): Promise<void> {
    const heads = await this.#headsOf(known.id)
    const stored = new Set(heads.map(({ id }) => id))
    const expected = this.#model.traces.filter((each) => each.project === project && !each.isGone)
    // What a quota removes stays removed, with all that belongs to it.
    for (const trace of expected) {
      if (!this.#model.hasQuota || stored.has(trace.id)) continue
      trace.isFreed = true
      removeTrace(trace)
    }
    const traces = expected.filter(({ isGone }) => !isGone)
    const ids = traces.map(({ id }) => id).toSorted()
    this.expect(`spans of ${project.name}`, [...stored].toSorted(), ids)
    for (const { id, feedback } of traces) {
      const marks = heads.find((head) => head.id === id)?.feedback.length
      this.expect('feedback in a head', marks, feedback.size)
    }
    const stats = JSON.parse(
      Buffer.from(
        await this.#house.now.query.stats({ tenant, projects: [known], order: 'newest', limit: 1,
          version: 1 }),
      ).toString(),
    ) as { readonly run_count: number }
    this.expect(`count of ${project.name}`, stats.run_count, ids.length)
  }

  async #headsOf(project: string): Promise<readonly SpanHead[]> {
    const heads: SpanHead[] = []
    const plan = { ...everything, tenant, projects: [project] }
    for await (const page of this.#house.now.store.scan(plan)) heads.push(...page.heads)
    return heads
  }

  async #checkBelongings(): Promise<void> {
    const { store } = this.#house.now
    for (const { id, project, feedback, hasFile, isGone } of this.#model.traces) {
      const rows = await store.listFeedback({ tenant, spans: [id], limit: 100, offset: 0 })
      this.expect(`feedback of ${id}`, rows.map((row) => row.id).toSorted(),
        [...feedback].toSorted())
      const files = project.id === undefined
        ? []
        : await store.files({ tenant, project: project.id, id })
      this.expect(`files of ${id}`, files.length, hasFile && !isGone ? 1 : 0)
    }
  }

  async #checkDatasets(): Promise<void> {
    const { catalog, store } = this.#house.now
    for (const { id, examples, isDeleted } of this.#model.datasets) {
      const [known] = await catalog.get(tenant, [id])
      this.expect('examples of a dataset', known?.count, isDeleted ? undefined : examples)
      if (!isDeleted) continue
      for (const place of placesOfDataset(id)) {
        const found = await store.listDocuments(place, { limit: 9 })
        this.expect('documents of a deleted dataset', found.map(({ key }) => key), [])
      }
    }
  }
}
