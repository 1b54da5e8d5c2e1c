/** What clients and threads do with traces in a simulation. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../src/errors.ts'
import { clocksApartMs } from '../../../src/limits/index.ts'
import { feedbackOf } from '../../../src/platform/records/feedback/feedback-row.ts'
import { multipartOf, partsOfRuns } from '../../support/ingest-bodies.ts'
import type { ClientOperation } from '../../support/ingest-bodies.ts'
import type { Chance } from '../chance.ts'
import { tenant } from './platform-house.ts'
import type { PlatformChecks } from './platform-checks.ts'
import type { PlatformHouse } from './platform-house.ts'
import { placeOf } from './platform-model.ts'
import type { ModelProject, ModelSpan, PlatformModel } from './platform-model.ts'
import { judgedId } from './rule-actors.ts'

/** Names of projects, which are graphs as well. */
export const names = ['agent', 'other', 'third'] as const
const dayMs = 86_400_000
/** Children of a trace that a request brings, and of the trace that fills a store. */
const [childrenMax, crowd] = [2, 120]

/** A server, its model and the chance that decides. */
export interface ActionParts {
  readonly chance: Chance
  readonly house: PlatformHouse
  readonly model: PlatformModel
  readonly checks: PlatformChecks
}

/** The actions on traces, runs and feedback. */
export class TraceActions {
  readonly #parts: ActionParts

  readonly all: Readonly<Record<string, () => Promise<void>>> = {
    ingest: () => this.#ingest(),
    'late child': () => this.#lateChild(),
    'late patch': () => this.#latePatch(),
    'late patches under two clocks': () => this.#patchUnderTwoClocks(),
    'same id in another project': () => this.#sendElsewhere(),
    'own run': () => this.#ownRun(),
    handoff: () => this.#handOff(),
    'delete run': () => this.#deleteRun(),
    'delete run before its report': () => this.#deleteUnreportedRun(),
    'delete trace': () => this.#deleteTrace(this.#parts.model.aLiveSpan()),
    'delete trace during a write': () => this.#deleteInWrite(),
    'delete one of two': () => this.#deleteTrace(this.#parts.model.aSharedSpan()),
    feedback: () => this.#giveFeedback(),
    'feedback on both of two': () => this.#giveFeedbackOnBoth(),
    'feedback on a deleted span': () => this.#giveLateFeedback(),
    'delete feedback': () => this.#deleteFeedback(),
  }

  constructor(parts: ActionParts) {
    this.#parts = parts
  }

  async #ingest(given?: ModelProject): Promise<void> {
    const { chance, model } = this.#parts
    // A guess at the default project is right now and then.
    const project = given ?? model.projectNamed(chance.pick([...names, 'default']))
    const root = this.#newSpan({ project, hasFile: chance.flip(0.3) })
    const children = Array.from({ length: chance.flip(0.4) ? 1 + chance.below(childrenMax) : 0 },
      () => this.#newSpan({ project, hasFile: chance.flip(0.2), trace: root }))
    const [post, patch] = operationsOf(root)
    // A client that knows only the id sends the end of a run before or after its post.
    const { id, outputs, end_time: endTime } = patch.run
    // A store that frees the post in between would not know the project of such an end.
    const isBare = !model.hasQuota && chance.flip(0.3)
    const end = isBare ? { kind: 'patch', run: { id, outputs, end_time: endTime } } as const : patch
    const ends = chance.flip(0.5) ? [post, end] : [end, post]
    const below = chance.shuffled(children.flatMap((child) => operationsOf(child)))
    const operations = chance.flip(0.5) ? [...ends, ...below] : [...below, ...ends]
    // Its trace may be known by then, from a child.
    if (isBare && ends[0] === end) model.projectNamed('default')
    const together = chance.flip(0.3) && !isBare
    for (const span of [root, ...children]) this.#add(span)
    for (const some of together ? [operations] : operations.map((one) => [one])) {
      if (chance.flip(0.1)) await this.#sendWithoutEnd(some)
      await this.#send(some, [root, ...children])
    }
  }

  /** Sends operations to a server that dies before it has noted which spans they end. */
  async #sendWithoutEnd(operations: readonly ClientOperation[]): Promise<void> {
    const { chance, house } = this.#parts
    house.beforeDocuments = () => Promise.reject(new HeddleError('unavailable'))
    try {
      await this.#send(operations)
    } catch (error) {
      if (HeddleError.from(error).code !== 'unavailable') throw error
    } finally {
      house.beforeDocuments = () => Promise.resolve()
    }
    if (chance.flip(0.5)) await house.restart()
  }

  /** A client sends another span of a trace, whatever became of the trace. */
  async #lateChild(): Promise<void> {
    const { chance, model } = this.#parts
    const known = model.aSentSpan()
    if (known === undefined) return
    const root = { ...known, id: known.trace, startMs: known.traceStartMs }
    const child = this.#newSpan({ project: known.project, trace: root, hasFile: chance.flip(0.2) })
    if (!model.isGoneTrace(known.project, known.trace)) this.#add(child)
    for (const operation of operationsOf(child)) await this.#send([operation], [child])
  }

  /** A client sends another end of a span, whatever became of the span. */
  async #latePatch(known = this.#parts.model.aSentSpan()): Promise<void> {
    const { house, model } = this.#parts
    if (known === undefined) return
    Object.assign(known, { arrivedMs: house.rightMs, name: `run ${model.nextVersion()}` })
    await this.#send([{ kind: 'patch', run: runOf(known) }])
  }

  /** A client sends two ends of a span: the first while the clock is ahead. */
  async #patchUnderTwoClocks(): Promise<void> {
    const { chance, house, model } = this.#parts
    const known = model.aSentSpan()
    house.aheadMs = 500 * dayMs
    await this.#latePatch(known)
    house.aheadMs = 0
    // A clock that jumps is followed for seconds.
    await house.pass(2 * clocksApartMs / 1_000)
    if (chance.flip(0.5)) await house.restart()
    await this.#latePatch(known)
  }

  /** A client sends a trace of many spans at once. Returns their project. */
  async fill(): Promise<ModelProject> {
    const { model } = this.#parts
    const project = Object.assign(model.projectNamed('full'), { isFull: true })
    const root = this.#newSpan({ project, hasFile: false })
    const spans = [root,
      ...Array.from({ length: crowd },
        () => this.#newSpan({ project, hasFile: false, trace: root }))]
    for (const span of spans) this.#add(span)
    await this.#send(spans.flatMap((span) => operationsOf(span)))
    return project
  }

  /** A client sends a span again to another project, where it is another span. */
  async #sendElsewhere(): Promise<void> {
    const { chance, model } = this.#parts
    const known = model.aKnownSpan()
    if (known === undefined) return
    const project = model.projectNamed(chance.pick(names))
    const before = model.spans.find((each) => each.id === known.id && each.project === project)
    // One that the store removed may come back.
    if (before !== undefined) return
    const { row: _, ...span } = known
    const nowMs = this.#parts.house.rightMs
    const copy = { ...span, project, arrivedMs: nowMs, filedMs: nowMs, feedback: new Set<string>(),
      awaited: new Set<string>(), hasFile: chance.flip(0.5), hasLostFirst: false, isGone: false,
      isFreed: false }
    if (!model.isGoneTrace(project, known.trace)) this.#add(copy)
    for (const operation of operationsOf(copy)) await this.#send([operation], [copy])
  }

  async #ownRun(): Promise<void> {
    const { chance, house, model } = this.#parts
    const graph = chance.pick(names)
    const row = this.#endedRun(graph)
    const project = model.projectNamed(graph)
    this.#add({ ...this.#newSpan({ project, hasFile: false, id: row.runId }), row })
    const { ownRuns } = house.now
    ownRuns.ended([row])
    await ownRuns.settled()
  }

  /** Threads get another owner, which reports their last runs again. */
  async #handOff(): Promise<void> {
    const { chance, house, model } = this.#parts
    if (chance.flip(0.5)) await house.restart()
    else house.handOff()
    const oldestMs = house.rightMs - dayMs
    const { ownRuns } = house.now
    const inThreads = model.spans.flatMap(({ row }) => row ?? [])
      .filter(({ runId, updatedAtMs }) => updatedAtMs > oldestMs && !model.deletedRuns.has(runId))
    ownRuns.ended(inThreads, true)
    await ownRuns.settled()
  }

  async #deleteRun(): Promise<void> {
    const { chance, house, model } = this.#parts
    const own = model.spans.filter(({ row }) => row && !model.deletedRuns.has(row.runId))
    if (own.length === 0) return
    const one = chance.pick(own)
    await house.during(house.now.removeRuns([one.row!]))
    model.deletedRuns.add(one.id)
    // Each project that has it.
    for (const span of model.spans) {
      if (span.id === one.id && !span.isFreed) model.removeTrace(span)
    }
  }

  /** A run is deleted before its report comes, perhaps from another member. */
  async #deleteUnreportedRun(): Promise<void> {
    const { chance, house, model } = this.#parts
    const known = chance.flip(0.7) ? model.aProject()?.name : undefined
    const graph = known ?? `graph ${model.nextVersion()}`
    const row = this.#endedRun(graph)
    await house.during(house.now.removeRuns([row]))
    // The deletion makes no project, and the report would make an empty one.
    if (known === undefined && chance.flip(0.5)) return
    await this.#ingest(model.projectNamed(graph))
    if (chance.flip(0.5)) house.handOff()
    const { ownRuns } = house.now
    ownRuns.ended([row], chance.flip(0.5))
    await ownRuns.settled()
  }

  #endedRun(graph: string): RunRow {
    const { house } = this.#parts
    const [id, startMs] = [house.newId('7'), house.rightMs]
    return { tenant, runId: id, threadId: id, assistantId: 'a', status: 'success', starts: 1,
      planJson: JSON.stringify({ graphId: graph }), metadataJson: '', startedAtMs: startMs,
      createdAtMs: startMs, updatedAtMs: startMs } as RunRow
  }

  async #deleteTrace(one: ModelSpan | undefined): Promise<void> {
    const { house, model } = this.#parts
    if (one === undefined) return
    await house.during(
      house.now.ingest.remove({ tenant, what: { kind: 'traces', traces: [placeOf(one)] } }),
    )
    model.removeTrace(one)
  }

  /** A client sends more of a trace while it is deleted. */
  async #deleteInWrite(): Promise<void> {
    const { house, model } = this.#parts
    const one = model.aLiveSpan()
    if (one === undefined) return
    const child = this.#newSpan({ project: one.project, hasFile: true,
      trace: { id: one.trace, startMs: one.traceStartMs } })
    this.#add(child)
    const [post, patch] = operationsOf(child)
    await this.#send([patch])
    const removing = house.now.ingest.remove({ tenant,
      what: { kind: 'traces', traces: [placeOf(one)] } })
    await Promise.all([this.#send([post], [child]), house.during(removing)])
    model.removeTrace(one)
  }

  /** Two projects have a span of one id. Each span gets feedback, and one is perhaps deleted. */
  async #giveFeedbackOnBoth(): Promise<void> {
    const { chance, checks, model } = this.#parts
    if (model.aSharedSpan() === undefined) await this.#sendElsewhere()
    await checks.check()
    const id = model.aSharedSpan()?.id
    for (const span of model.spans) {
      if (span.id === id && !span.isGone) await this.#giveFeedback(span)
    }
    if (chance.flip(0.4)) await this.#deleteTrace(model.aSharedSpan())
  }

  async #giveFeedback(one = this.#parts.model.aLiveSpan()): Promise<void> {
    const { house, model, checks } = this.#parts
    if (one === undefined) return
    const id = house.newId('4')
    await this.#putFeedback(id, one)
    one.feedback.add(id)
    const change = (given: object) =>
      house.now.ingest.changeFeedback({ tenant, id, change: given as never,
        nowUs: house.rightMs * 1_000 })
    await Promise.all([change({ score: 0 }), change({ comment: 'why' })])
    const after = await house.now.query.getFeedback({ tenant, id })
    if (model.hasQuota) {
      // The store may have freed the space of the trace since, or before: then the feedback waits
      // for the span.
      if (after?.trace === null) await house.now.ingest.deleteFeedback({ tenant, id })
      if (after?.trace == null) return void one.feedback.delete(id)
    }
    checks.expect('both changes of feedback', [after?.score, after?.bodyJson.includes('why')], [0,
      true])
  }

  async #giveLateFeedback(): Promise<void> {
    const { house, model, checks } = this.#parts
    const one = model.aDeletedSpan()
    if (one === undefined) return
    const id = house.newId('4')
    checks.expect('rejected feedback', await this.#putFeedback(id, one), [id])
  }

  /** Returns the ids of rejected feedback. */
  #putFeedback(id: string, { id: span, project }: ModelSpan): Promise<readonly string[]> {
    const { chance, house, model } = this.#parts
    // Clients need not specify the project of a span that no other project has.
    const isAlone = model.spans.every((each) => each.id !== span || each.project === project)
    const named = isAlone && chance.flip(0.7) ? {} : { session_id: project.id }
    return house.now.ingest.putFeedback([
      feedbackOf(tenant, { id, run_id: span, key: 'good', score: 1, ...named },
        house.rightMs * 1_000),
    ])
  }

  async #deleteFeedback(): Promise<void> {
    const { house, model } = this.#parts
    const one = model.aLiveSpan()
    const [id] = one?.feedback ?? []
    if (one === undefined || id === undefined) return
    await house.now.ingest.deleteFeedback({ tenant, id })
    one.feedback.delete(id)
  }

  #newSpan({ project, hasFile, trace, id = this.#parts.house.newId('7') }: NewSpan): ModelSpan {
    const startMs = this.#parts.house.rightMs
    return { id, name: 'run', startMs, project, hasFile, trace: trace?.id ?? id,
      traceStartMs: trace?.startMs ?? startMs, arrivedMs: startMs, filedMs: startMs,
      feedback: new Set(), awaited: new Set(), isGone: false, isFreed: false }
  }

  /** Adds a span that has ended to what the server should have. */
  #add(span: ModelSpan): void {
    const { model } = this.#parts
    model.spans.push(span)
    for (const rule of model.rulesOf(span.project)) span.awaited.add(judgedId(rule.id, span.id))
  }

  /** Sends operations, with the files of those of `spans` that are posted. */
  async #send(operations: readonly ClientOperation[],
    spans: readonly ModelSpan[] = []): Promise<void> {
    const posted = new Set(operations.flatMap(({ kind, run }) => kind === 'post' ? run.id : []))
    const files = spans.filter(({ id, hasFile }) => hasFile && posted.has(id))
      .map(({ id }) => [`attachment.${id}.f`, 'text/plain', Buffer.from('file')] as const)
    await this.#parts.house.now.ingest.ingest({ tenant, form: 'multipart', encoding: '',
      ...multipartOf([...partsOfRuns(operations), ...files]) })
  }
}

interface NewSpan {
  readonly project: ModelProject
  readonly hasFile: boolean
  readonly trace?: Pick<ModelSpan, 'id' | 'startMs'>
  readonly id?: string
}

/** The post of a span and the patch that ends it. */
export function operationsOf(span: ModelSpan) {
  const run = runOf(span)
  const endTime = new Date(span.startMs + 5).toISOString()
  return [
    { kind: 'post', run: { ...run, inputs: { secret: span.id } } },
    { kind: 'patch', run: { ...run, outputs: { secret: span.id }, end_time: endTime } },
  ] as const
}

function runOf({ id, name, startMs, trace, traceStartMs, project }: ModelSpan) {
  const isRoot = id === trace
  const root = segmentOf(traceStartMs, trace)
  return { id, trace_id: trace, dotted_order: isRoot ? root : `${root}.${segmentOf(startMs, id)}`,
    ...!isRoot && { parent_run_id: trace }, name, run_type: 'chain',
    start_time: new Date(startMs).toISOString(), session_name: project.name }
}

function segmentOf(startMs: number, id: string): string {
  const at = new Date(startMs).toISOString()
  return `${at.replaceAll(/[-:.]/g, '').replace('Z', '000Z')}${id}`
}
