/** What is readable, and what is on disk, compared with a model of the platform. */

import type { Project, SpanHead } from '../../../src/platform/index.ts'
import { openBlock } from '../../../src/platform/spans/block.ts'
import { placesOfDataset, tenant } from './platform-house.ts'
import type { PlatformHouse } from './platform-house.ts'
import { placeOf, removeSpan } from './platform-model.ts'
import type { ModelProject, ModelSpan, PlatformModel } from './platform-model.ts'

const allProjects = { sortBy: 'name', descending: false, limit: 100, offset: 0 } as const
const everything = { fromUs: -Infinity, toUs: Infinity, order: 'oldest', rootsOnly: false,
  terms: [], ranges: [], type: null, name: null } as const

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
    this.#model.endTokens()
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
    await this.#checkRules()
    await this.#checkRecordings()
  }

  /** When all timers have fired, the disk has what is readable, and nothing else. */
  async checkDisk(): Promise<void> {
    await this.#house.pass(300)
    await this.check()
    if (!this.#model.hasQuota) await this.#checkPayloads()
    const live = this.#model.spans.filter(({ isGone }) => !isGone)
    // A recording is a span with a file.
    const recorded = this.#model.recordings.filter(({ end }) => end === undefined).length
    this.expect('rows of spans', this.#house.countRows('span'), live.length + recorded)
    this.expect('rows of files', this.#house.countRows('file'),
      live.filter(({ hasFile }) => hasFile).length + recorded)
    this.expect('rows of feedback', this.#house.countRows('feedback'),
      this.#model.spans.reduce((sum, { feedback }) => sum + feedback.size, 0))
  }

  /** When rules had time for all spans that ended, each span has their feedback. */
  async checkJudged(): Promise<void> {
    await this.#house.pass(10)
    await this.check()
    const left = this.#model.spans.filter(({ awaited, isGone }) => !isGone && awaited.size > 0)
    this.expect('spans without the feedback of a rule',
      left.map(({ id, project, row }) => `${row ? 'own ' : ''}${id} in ${project.name}`), [])
  }

  /** Catalog, heads, feedback in heads and statistics of a project. */
  async #checkProject(project: ModelProject, known: Project): Promise<void> {
    const heads = await this.#headsOf(known.id)
    const byId = new Map(heads.map((head) => [head.id, head]))
    const expected = this.#model.spans.filter((each) => each.project === project && !each.isGone)
    // What a quota removes stays removed, with all that belongs to it.
    for (const span of expected) if (this.#model.hasQuota && !byId.has(span.id)) free(span)
    const spans = expected.filter(({ isGone }) => !isGone)
    const ids = spans.map(({ id }) => id).toSorted()
    this.expect(`spans of ${project.name}`, heads.map(({ id }) => id).toSorted(), ids)
    for (const span of spans) {
      const head = byId.get(span.id)
      const marks = head?.feedback ?? []
      this.#checkFeedback(`feedback in the head of ${span.id}`, marks.map(({ id }) => id), [span])
      if (head && !span.row) this.expect(`name of ${span.id}`, head.name, span.name)
    }
    const stats = JSON.parse(
      Buffer.from(
        await this.#house.now.query.stats({ tenant, projects: [known], order: 'newest', limit: 1,
          version: 1 }),
      ).toString(),
    ) as { readonly run_count: number }
    // A quota may have removed some since.
    const isFewer = this.#model.hasQuota && stats.run_count < ids.length
    if (!isFewer) this.expect(`count of ${project.name}`, stats.run_count, ids.length)
  }

  async #headsOf(project: string): Promise<readonly SpanHead[]> {
    const heads: SpanHead[] = []
    const plan = { ...everything, tenant, projects: [project] }
    for await (const page of this.#house.now.store.scan(plan)) heads.push(...page.heads)
    return heads
  }

  /** Compares feedback on spans of one id. That which a rule gives may have come since. */
  #checkFeedback(what: string, found: readonly string[], spans: readonly ModelSpan[]): void {
    for (const { awaited, feedback, isFreed } of spans) {
      if (isFreed && this.#model.hasOwnEnds) {
        for (const id of feedback) if (!found.includes(id)) feedback.delete(id)
        continue
      }
      // A rule that has read a span gives its feedback also when the store has freed the span.
      if (isFreed) feedback.clear()
      for (const id of found) {
        if (!awaited.has(id)) continue
        feedback.add(id)
        if (!isFreed) awaited.delete(id)
      }
    }
    this.expect(what, found.toSorted(), spans.flatMap(({ feedback }) => [...feedback]).toSorted())
  }

  /** Spans that the store has removed since their project was read. */
  async #takeFreed(spans: readonly ModelSpan[]): Promise<void> {
    const places = await this.#house.now.store.locate(tenant, [spans[0]!.id])
    const projects = new Set(places.map(({ project }) => project))
    for (const span of spans) {
      if (!span.isGone && !projects.has(span.project.id!)) free(span)
    }
  }

  #feedbackOn(span: string) {
    return this.#house.now.store.listFeedback({ tenant, spans: [span], limit: 100, offset: 0 })
  }

  async #checkBelongings(): Promise<void> {
    const { store } = this.#house.now
    for (const [id, all] of Map.groupBy(this.#model.spans, (span) => span.id)) {
      if (this.#model.hasQuota) await this.#takeFreed(all)
      const rows = await this.#feedbackOn(id)
      this.#checkFeedback(`feedback of ${id}`, rows.map((row) => row.id), all)
      for (const span of all) {
        if (span.project.id === undefined) continue
        const files = await store.files({ tenant, project: span.project.id, id })
        // A span that was freed while it was sent came back with its later operations.
        if (this.#model.hasQuota && files.length === 0) span.hasFile = false
        this.expect(`files of ${id}`, files.length, hasFileIn(all, span) ? 1 : 0)
      }
    }
  }

  /** What clients sent of spans, until that reaches its end. */
  async #checkPayloads(): Promise<void> {
    const { store } = this.#house.now
    for (const span of this.#model.spans) {
      if (span.isGone || span.row || span.hasLostFirst) continue
      const [head] = await store.heads([placeOf(span)])
      const blocks = await store.blocks(placeOf(span), head?.blocks ?? [])
      const kinds = [...blocks.values()].flatMap((data) => openBlock(data))
        .flatMap((part) => part.span === span.id ? part.kind : [])
      this.expect(`payload of ${span.id}`, [...new Set(kinds)].toSorted(), ['patch', 'post'])
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

  /** The calls of each recording, until its own end. */
  async #checkRecordings(): Promise<void> {
    for (const one of this.#model.recordings) {
      const deployment = { id: one.deployment, createdAtMs: 0 }
      const blocks = await this.#house.now.query.recordedBlocks({ tenant, deployment,
        runId: one.run })
      if (this.#model.hasQuota && blocks.length === 0) one.end ??= 'freed'
      this.expect(`calls of the run ${one.run}`, blocks.length, one.end === undefined ? 1 : 0)
    }
  }

  async #checkRules(): Promise<void> {
    const rules = await this.#house.now.rules.all(tenant)
    this.expect('rules', rules.map((rule) => [rule.display_name, rule.is_enabled]).toSorted(),
      this.#model.rules.filter(({ isDeleted }) => !isDeleted)
        .map(({ name, isEnabled }) => [name, isEnabled]).toSorted())
  }
}

function free(span: ModelSpan): void {
  const awaited = [...span.awaited]
  span.isFreed = true
  removeSpan(span)
  for (const id of awaited) span.awaited.add(id)
}

/** True if a project has a file of a span, perhaps because the span was sent again. */
function hasFileIn(spans: readonly ModelSpan[], { project }: ModelSpan): boolean {
  return spans.some((each) => each.project === project && each.hasFile && !each.isGone)
}
