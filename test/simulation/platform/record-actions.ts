/** What people do with projects, datasets and rules in a simulation. */

import { HeddleError } from '../../../src/errors.ts'
import { tenant } from './platform-house.ts'
import { removeSpan } from './platform-model.ts'
import type { ModelDataset } from './platform-model.ts'
import { judgedId } from './rule-actors.ts'
import { names } from './trace-actions.ts'
import type { ActionParts } from './trace-actions.ts'

const aheadDays = 500

/** The actions on records. */
export class RecordActions {
  readonly #parts: ActionParts

  readonly all: Readonly<Record<string, () => Promise<void>>> = {
    rename: () => this.#rename(),
    'delete project': () => this.#deleteProject(),
    'project with a used id': () => this.#recreateProject(),
    dataset: () => this.#createDataset(),
    examples: () => this.#addExamples(),
    'delete dataset': () => this.#deleteDataset(),
    'delete dataset during a write': () => this.#deleteDatasetInWrite(),
    rule: () => this.#createRule(),
    'change rule': () => this.#changeRule(),
    backfill: () => this.#backfill(),
    'delete rule': () => this.#deleteRule(),
    'rules at rest': () => this.#parts.checks.checkJudged(),
  }

  constructor(parts: ActionParts) {
    this.#parts = parts
  }

  async #rename(): Promise<void> {
    const { chance, house, model } = this.#parts
    const project = model.aProject()
    if (project === undefined) return
    const name = chance.flip(0.3) ? chance.pick(names) : `renamed ${model.nextVersion()}`
    if (model.projects.some((each) => !each.isDeleted && each.name === name)) return
    await house.now.projects.patch(tenant, project.id!, { name })
    project.name = name
  }

  async #deleteProject(): Promise<void> {
    const { chance, house, model } = this.#parts
    const project = model.aProject()
    if (project === undefined) return
    // The clock may be ahead while a project is deleted.
    if (chance.flip(0.2)) house.aheadMs = aheadDays * 86_400_000
    await house.now.removals.remove('project', tenant, project.id!)
    house.aheadMs = 0
    project.isDeleted = true
    for (const span of model.spans) if (span.project === project) removeSpan(span)
    if (chance.flip(0.5)) await this.#recreateProject()
  }

  /** A client creates a project with the id of a deleted one. */
  async #recreateProject(): Promise<void> {
    const { chance, checks, house, model } = this.#parts
    const ids = model.projects.flatMap(({ id, isDeleted }) => isDeleted && id ? id : [])
    if (ids.length === 0) return
    const create = house.now.projects.create(tenant, { id: chance.pick(ids),
      name: `again ${model.nextVersion()}` }, chance.flip(0.5))
    const code = await create.then(() => 'created',
      (error: unknown) => HeddleError.from(error).code)
    checks.expect('project with the id of a deleted one', code, 'exists')
  }

  async #createDataset(): Promise<void> {
    const { house, model } = this.#parts
    const name = `dataset ${model.nextVersion()}`
    const { id } = await house.now.catalog.create(tenant, { name })
    model.datasets.push({ id, examples: 0, isDeleted: false })
  }

  async #addExamples(): Promise<void> {
    const dataset = this.#parts.model.aDataset()
    if (dataset === undefined) return
    await this.#addExample(dataset)
    dataset.examples++
  }

  async #addExample({ id: dataset }: ModelDataset): Promise<void> {
    const { house } = this.#parts
    const body = Buffer.from(JSON.stringify([{ id: house.newId('4'), inputs: { q: 1 } }]))
    await house.now.ingest.changeExamples({ tenant, dataset, form: 'create', contentType: '',
      body })
  }

  async #deleteDataset(dataset = this.#parts.model.aDataset()): Promise<void> {
    if (dataset === undefined) return
    await this.#parts.house.now.removals.remove('dataset', tenant, dataset.id)
    dataset.isDeleted = true
  }

  async #deleteDatasetInWrite(): Promise<void> {
    const { chance, house, model } = this.#parts
    const dataset = model.aDataset()
    if (dataset === undefined) return
    let left = 1 + chance.below(3)
    house.beforeDocuments = async () => {
      if (--left !== 0) return
      await this.#deleteDataset(dataset)
      // Perhaps its documents are deleted before this write.
      if (chance.flip(0.5)) await house.pass(2)
    }
    try {
      await this.#addExample(dataset)
      dataset.examples++
    } catch (error) {
      if (HeddleError.from(error).code !== 'not_found') throw error
    } finally {
      house.beforeDocuments = () => Promise.resolve()
    }
  }

  async #createRule(): Promise<void> {
    const { house, model } = this.#parts
    const project = model.aProject()
    if (project === undefined || project.isFull) return
    const name = `rule ${model.nextVersion()}`
    const { id } = await house.during(
      house.now.rules.create(tenant, { display_name: name, session_id: project.id!,
        is_enabled: true, evaluators: [{ graph_id: 'judge' }] }),
    )
    model.rules.push({ id, project, name, isEnabled: true, isDeleted: false })
  }

  /** Two people change a rule at the same time, each something else. */
  async #changeRule(): Promise<void> {
    const { chance, house, model } = this.#parts
    const rule = model.aRule()
    if (rule === undefined || rule.project.isDeleted) return
    const [isEnabled, name] = [chance.flip(0.6), `rule ${model.nextVersion()}`]
    await house.during(Promise.all([
      house.now.rules.change(tenant, rule.id, { is_enabled: isEnabled }),
      house.now.rules.change(tenant, rule.id, { display_name: name }),
    ]))
    Object.assign(rule, { isEnabled, name })
    if (!isEnabled) await this.#forgetAwaited(rule.id)
  }

  /** Two people start a backfill of a rule at the same time. */
  async #backfill(): Promise<void> {
    const { house, model } = this.#parts
    const rule = model.aRule()
    if (rule === undefined || !rule.isEnabled || rule.project.isDeleted) return
    const nowUs = house.rightMs * 1_000
    const spans = model.spans.filter(({ project, isGone }) => project === rule.project && !isGone)
    const halfMs = spans[Math.floor(spans.length / 2)]?.startMs ?? house.rightMs
    for (const span of spans) {
      const id = judgedId(rule.id, span.id)
      if (!span.feedback.has(id) && !span.hasLostFirst) span.awaited.add(id)
    }
    await Promise.all(
      [[0, halfMs * 1_000], [halfMs * 1_000, nowUs]].map(([fromUs, throughUs]) =>
        house.now.rules.trigger(tenant, rule.id, { fromUs, throughUs })
      ),
    )
  }

  async #deleteRule(): Promise<void> {
    const { house, model } = this.#parts
    const rule = model.aRule()
    if (rule === undefined) return
    await house.during(house.now.rules.delete(tenant, rule.id))
    rule.isDeleted = true
    await this.#forgetAwaited(rule.id)
  }

  /** A rule that does not act any more gives no feedback. What it gives until then may stay. */
  async #forgetAwaited(rule: string): Promise<void> {
    const { house, model, checks } = this.#parts
    await house.pass(2)
    await checks.check()
    for (const span of model.spans) {
      if (!span.isFreed) span.awaited.delete(judgedId(rule, span.id))
    }
  }
}
