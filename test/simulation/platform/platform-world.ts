/**
 * A model of what clients and people do with the platform, in random order: after each step, what
 * was deleted is readable nowhere, and all the rest is there. The model knows only what each step
 * was meant to do.
 */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../src/errors.ts'
import { feedbackOf } from '../../../src/platform/records/feedback/feedback-row.ts'
import type { SpanPlace } from '../../../src/platform/index.ts'
import { multipartOf, partsOfRuns } from '../../support/ingest-bodies.ts'
import { Chance } from '../chance.ts'
import { PlatformChecks, removeTrace } from './platform-checks.ts'
import type { ModelDataset, ModelProject, ModelTrace } from './platform-checks.ts'
import { PlatformHouse, tenant } from './platform-house.ts'

/** What a sequence has found, and its steps. */
export interface PlatformOutcome {
  readonly findings: readonly string[]
  readonly trace: readonly string[]
  readonly steps: number
}

const names = ['agent', 'other', 'third'] as const
const [hourMs, dayMs] = [3_600_000, 86_400_000]

/** Actions that are drawn more often: most others need what they make. */
const makers = ['ingest', 'own run', 'handoff'] as const
/** Bytes that the tenant of some sequences may have: a few traces. */
const tenantBytes = 1_500

/** Simulates the sequence of a seed. */
export async function simulatePlatform(seed: number, steps: number): Promise<PlatformOutcome> {
  const world = new PlatformWorld(new Chance(seed), seed % 3 === 0 ? tenantBytes : Infinity)
  try {
    return await world.live(steps)
  } finally {
    await world.end()
  }
}

class PlatformWorld {
  readonly #chance: Chance
  readonly #house: PlatformHouse
  readonly #checks: PlatformChecks
  readonly #hasQuota: boolean
  readonly #findings: string[] = []
  readonly #trace: string[] = []
  readonly #projects: ModelProject[] = []
  readonly #traces: ModelTrace[] = []
  readonly #datasets: ModelDataset[] = []
  /** Own runs that their threads have deleted. */
  readonly #deletedRuns = new Set<string>()
  #version = 0

  readonly #actions: Readonly<Record<string, () => Promise<void>>> = {
    ingest: () => this.#ingest(),
    'late patch': () => this.#latePatch(),
    'own run': () => this.#ownRun(),
    handoff: () => this.#handOff(),
    restart: () => this.#house.restart(),
    'delete run': () => this.#deleteRun(),
    'delete trace': () => this.#deleteTrace(),
    rename: () => this.#rename(),
    'delete project': () => this.#deleteProject(),
    tier: () => this.#changeTier(),
    feedback: () => this.#giveFeedback(),
    'delete feedback': () => this.#deleteFeedback(),
    'clock ahead': () => this.#setClockAhead(),
    hours: () => this.#passHours(),
    dataset: () => this.#createDataset(),
    examples: () => this.#addExamples(),
    'delete dataset': () => this.#deleteDataset(),
    'delete dataset during a write': () => this.#deleteDatasetInWrite(),
  }

  constructor(chance: Chance, bytes: number) {
    this.#chance = chance
    this.#house = new PlatformHouse(bytes)
    this.#hasQuota = bytes < Infinity
    this.#checks = new PlatformChecks(this.#house, { projects: this.#projects, traces: this.#traces,
      datasets: this.#datasets, hasQuota: this.#hasQuota }, this.#findings)
  }

  async live(steps: number): Promise<PlatformOutcome> {
    let step = 0
    for (; step < steps && this.#findings.length === 0; step++) {
      const action = this.#chance.pick(this.#chance.flip(0.3) ? makers : Object.keys(this.#actions))
      this.#trace.push(action)
      await this.#actions[action]!()
      await this.#house.pass(2)
      await this.#checks.check()
    }
    if (this.#findings.length === 0) await this.#checks.checkDisk()
    return { findings: this.#findings, trace: this.#trace, steps: step }
  }

  end(): Promise<void> {
    return this.#house.end()
  }

  async #ingest(): Promise<void> {
    const [id, hasFile] = [this.#house.newId('7'), this.#chance.flip(0.3)]
    const project = this.#projectNamed(this.#chance.pick(names))
    const startMs = this.#house.rightMs
    const made = { id, startMs, project, feedback: new Set<string>(), hasFile, isGone: false,
      isFreed: false }
    const post = { kind: 'post', run: { ...this.#runOf(made), inputs: { secret: id } } } as const
    const patch = { kind: 'patch',
      run: { ...this.#runOf(made), outputs: { secret: id },
        end_time: new Date(startMs + 5).toISOString() } } as const
    // A client that knows only the id sends the end of a run before or after its post.
    const { id: runId, outputs, end_time: endTime } = patch.run
    const end = this.#chance.flip(0.3)
      ? { kind: 'patch', run: { id: runId, outputs, end_time: endTime } } as const
      : patch
    const operations = this.#chance.flip(0.5) ? [post, end] : [end, post]
    if (operations[0] === end && end !== patch) this.#projectNamed('default')
    for (const operation of operations) {
      await this.#send([operation], hasFile && operation === post ? id : undefined)
    }
    this.#traces.push(made)
  }

  /** A client sends the end of a trace once more, whatever became of the trace. */
  async #latePatch(): Promise<void> {
    const known = this.#traces.filter(({ project, row, isFreed }) =>
      !project.isDeleted && !row && !isFreed
    )
    if (known.length === 0) return
    await this.#send([{ kind: 'patch', run: this.#runOf(this.#chance.pick(known)) }])
  }

  #runOf({ id, startMs, project }: Pick<ModelTrace, 'id' | 'startMs' | 'project'>) {
    const at = new Date(startMs).toISOString()
    const order = `${at.replaceAll(/[-:.]/g, '').replace('Z', '000Z')}${id}`
    return { id, trace_id: id, dotted_order: order, name: 'run', run_type: 'chain', start_time: at,
      session_name: project.name }
  }

  async #send(operations: Parameters<typeof partsOfRuns>[0], fileOf?: string): Promise<void> {
    const parts = partsOfRuns(operations)
    const file = ['text/plain', Buffer.from('file')] as const
    const all = fileOf === undefined
      ? parts
      : [...parts, [`attachment.${fileOf}.f`, ...file] as const]
    await this.#house.now.ingest.ingest({ tenant, form: 'multipart', encoding: '',
      ...multipartOf(all) })
  }

  async #ownRun(): Promise<void> {
    const id = this.#house.newId('7')
    const startMs = this.#house.rightMs
    const graph = this.#chance.pick(names)
    const row = { tenant, runId: id, threadId: id, assistantId: 'a', status: 'success', starts: 1,
      planJson: JSON.stringify({ graphId: graph }), metadataJson: '', startedAtMs: startMs,
      createdAtMs: startMs, updatedAtMs: startMs } as RunRow
    const { ownRuns } = this.#house.now
    ownRuns.ended([row])
    await ownRuns.settled()
    this.#traces.push({ id, startMs, project: this.#projectNamed(graph), feedback: new Set(),
      hasFile: false, row, isGone: false, isFreed: false })
  }

  /** Threads get another owner, which reports their last runs again. */
  async #handOff(): Promise<void> {
    if (this.#chance.flip(0.5)) await this.#house.restart()
    else this.#house.handOff()
    const oldestMs = this.#house.rightMs - dayMs
    const { ownRuns } = this.#house.now
    const inThreads = this.#traces.flatMap(({ row }) => row ?? [])
      .filter(({ runId, updatedAtMs }) => updatedAtMs > oldestMs && !this.#deletedRuns.has(runId))
    ownRuns.ended(inThreads, true)
    await ownRuns.settled()
  }

  async #deleteRun(): Promise<void> {
    const own = this.#traces.filter(({ row }) => row && !this.#deletedRuns.has(row.runId))
    if (own.length === 0) return
    const one = this.#chance.pick(own)
    await this.#house.now.removeRuns([one.row!])
    this.#deletedRuns.add(one.id)
    removeTrace(one)
  }

  async #deleteTrace(): Promise<void> {
    const one = this.#aLiveTrace()
    if (one === undefined) return
    await this.#house.now.ingest.remove({ tenant,
      what: { kind: 'traces', traces: [this.#placeOf(one)] } })
    removeTrace(one)
  }

  async #giveFeedback(): Promise<void> {
    const one = this.#aLiveTrace()
    if (one === undefined) return
    const id = this.#house.newId('4')
    const row = feedbackOf(tenant, { id, run_id: one.id, key: 'good', score: 1 },
      this.#house.rightMs * 1_000)
    await this.#house.now.ingest.putFeedback([row])
    one.feedback.add(id)
    const change = (given: object) =>
      this.#house.now.ingest.changeFeedback({ tenant, id, change: given as never,
        nowUs: this.#house.rightMs * 1_000 })
    await Promise.all([change({ score: 0 }), change({ comment: 'why' })])
    const after = await this.#house.now.query.getFeedback({ tenant, id })
    // The store may have freed the space of the trace meanwhile.
    if (after === undefined && this.#hasQuota) return
    this.#checks.expect('both changes of feedback', [after?.score, after?.bodyJson.includes('why')],
      [0, true])
  }

  async #deleteFeedback(): Promise<void> {
    const one = this.#aLiveTrace()
    const [id] = one?.feedback ?? []
    if (one === undefined || id === undefined) return
    await this.#house.now.ingest.deleteFeedback({ tenant, id })
    one.feedback.delete(id)
  }

  async #rename(): Promise<void> {
    const project = this.#aProject()
    if (project === undefined) return
    const name = this.#chance.flip(0.3) ? this.#chance.pick(names) : `renamed ${++this.#version}`
    if (this.#projects.some((each) => !each.isDeleted && each.name === name)) return
    await this.#house.now.projects.patch(tenant, project.id!, { name })
    project.name = name
  }

  async #deleteProject(): Promise<void> {
    const project = this.#aProject()
    if (project === undefined) return
    await this.#house.now.removals.remove('project', tenant, project.id!)
    project.isDeleted = true
    for (const trace of this.#traces) if (trace.project === project) removeTrace(trace)
  }

  async #changeTier(): Promise<void> {
    const project = this.#aProject()
    if (project === undefined) return
    const retentionDays = this.#chance.pick([14, 400])
    const { projects, ingest } = this.#house.now
    await projects.patch(tenant, project.id!, { retentionDays, longLived: retentionDays === 400 })
    await ingest.changeLife({ tenant, project: project.id!, timeToLiveS: retentionDays * 86_400 })
  }

  async #setClockAhead(): Promise<void> {
    this.#house.aheadMs = 500 * dayMs
    await this.#house.pass(90)
    this.#house.aheadMs = 0
  }

  async #passHours(): Promise<void> {
    // In few steps, because timers of seconds fire in each.
    this.#house.jump(this.#chance.below(5) * hourMs)
    await this.#house.pass(2)
  }

  async #createDataset(): Promise<void> {
    const name = `dataset ${++this.#version}`
    const { id } = await this.#house.now.catalog.create(tenant, { name })
    this.#datasets.push({ id, examples: 0, isDeleted: false })
  }

  #aDataset(): ModelDataset | undefined {
    const live = this.#datasets.filter(({ isDeleted }) => !isDeleted)
    return live.length === 0 ? undefined : this.#chance.pick(live)
  }

  async #addExamples(): Promise<void> {
    const dataset = this.#aDataset()
    if (dataset === undefined) return
    await this.#addExample(dataset)
    dataset.examples++
  }

  async #addExample({ id: dataset }: ModelDataset): Promise<void> {
    const body = Buffer.from(JSON.stringify([{ id: this.#house.newId('4'), inputs: { q: 1 } }]))
    await this.#house.now.ingest.changeExamples({ tenant, dataset, form: 'create', contentType: '',
      body })
  }

  async #deleteDataset(dataset = this.#aDataset()): Promise<void> {
    if (dataset === undefined) return
    await this.#house.now.removals.remove('dataset', tenant, dataset.id)
    dataset.isDeleted = true
  }

  async #deleteDatasetInWrite(): Promise<void> {
    const dataset = this.#aDataset()
    if (dataset === undefined) return
    let left = 1 + this.#chance.below(3)
    this.#house.beforeDocuments = async () => {
      if (--left !== 0) return
      await this.#deleteDataset(dataset)
      // Perhaps its documents are deleted before this write.
      if (this.#chance.flip(0.5)) await this.#house.pass(2)
    }
    try {
      await this.#addExample(dataset)
      dataset.examples++
    } catch (error) {
      if (HeddleError.from(error).code !== 'not_found') throw error
    } finally {
      this.#house.beforeDocuments = () => Promise.resolve()
    }
  }

  #projectNamed(name: string): ModelProject {
    const known = this.#projects.find((each) => !each.isDeleted && each.name === name)
    if (known !== undefined) return known
    const made: ModelProject = { name, id: undefined, isDeleted: false }
    this.#projects.push(made)
    return made
  }

  #aProject(): ModelProject | undefined {
    const live = this.#projects.filter(({ isDeleted }) => !isDeleted)
    return live.length === 0 ? undefined : this.#chance.pick(live)
  }

  #aLiveTrace(): ModelTrace | undefined {
    const live = this.#traces.filter(({ isGone }) => !isGone)
    return live.length === 0 ? undefined : this.#chance.pick(live)
  }

  #placeOf({ id, startMs, project }: ModelTrace): SpanPlace {
    return { tenant, project: project.id!, id, trace: id, startUs: startMs * 1_000,
      traceStartUs: startMs * 1_000 }
  }
}
