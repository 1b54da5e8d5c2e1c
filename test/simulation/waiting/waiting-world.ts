/** One thread of a deployment in random histories: its row shows the wait that its log has. */

import { decodeRow } from '../../../src/checkpoint/index.ts'
import type { RecordOf } from '../../../src/checkpoint/index.ts'
import { HeddleError } from '../../../src/errors.ts'
import { StateEdit } from '../../../src/thread/execution/state-edit.ts'
import { revisionUse } from '../../../src/thread/index.ts'
import type { StartRun, ThreadView } from '../../../src/thread/index.ts'
import { aGraph, FakeDeployments, shop } from '../../support/fake-deployments.ts'
import { ScriptedHost } from '../../support/scripted-host.ts'
import type { Scripted } from '../../support/scripted-host.ts'
import { aMessage, settled, ThreadHouse } from '../../support/thread-house.ts'
import { Chance } from '../chance.ts'
import { headOf, idsOf, interruptsIn, openIn, restOf, undoneOf } from './log-wait.ts'
import type { Writes } from './log-wait.ts'

/**
 * head_rest   the row of a thread keeps the rest to which a rollback returns
 * owned_work  work on a thread ends with the runs that own it
 */
export const waitingRules = ['head_rest', 'owned_work'] as const
export type WaitingRule = typeof waitingRules[number]

export interface WaitingOutcome {
  readonly findings: readonly string[]
  readonly trace: readonly string[]
  /** True if the thread waited in the end, and was resumed. */
  readonly resumed: boolean
  readonly rollbacks: number
}

type Row = ThreadView['row']

const actionsMax = 24
const answer = (ids: readonly string[]): Partial<StartRun> => ({ strictResume: true,
  kwargs: { input: null, command: { resume: Object.fromEntries(ids.map((id) => [id, 'yes'])) } } })

/** An answer without ids, which is for the interrupts that are open when it is sent. */
const plainAnswer: Partial<StartRun> = { kwargs: { input: null, command: { resume: 'yes' } } }

/** Simulates the history of a seed, without one of the rules if it is named. */
export async function simulateWaiting(seed: number,
  without?: WaitingRule): Promise<WaitingOutcome> {
  const own = Object.getOwnPropertyDescriptor(StateEdit.prototype, 'owners')!
  if (without === 'owned_work') {
    Object.defineProperty(StateEdit.prototype, 'owners', { configurable: true, get: () => [] })
  }
  try {
    const world = new WaitingWorld(new Chance(seed), without)
    await world.live()
    return world.outcome
  } finally {
    Object.defineProperty(StateEdit.prototype, 'owners', own)
  }
}

/** A host whose graph has one node that no other revision has. */
class RevisionHost extends ScriptedHost {
  readonly node: string

  constructor(node: string) {
    super()
    this.node = node
    const graph = aGraph('agent', node)
    this.graphs = () => [graph]
    this.describe = () => graph
  }
}

class WaitingWorld {
  readonly #chance: Chance
  readonly #deployed = new FakeDeployments()
  readonly #house: ThreadHouse
  readonly #without: WaitingRule | undefined
  readonly #findings: string[] = []
  readonly #trace: string[] = []
  readonly #hosts = new Map<string, RevisionHost>()
  /** Rows of the thread before its runs that have started, by run. */
  readonly #before = new Map<string, Row>()
  /** Interrupts that were open when a delayed answer was sent, by its run. */
  readonly #answered = new Map<string, readonly string[]>()
  /** Messages of runs that ended before they were taken. */
  readonly #ended = new Set<string>()
  #row: Row | undefined
  /** True once the thread has a time to live. */
  #hasEnd = false
  #count = 0
  #rollbacks = 0
  #resumed = false

  constructor(chance: Chance, without: WaitingRule | undefined) {
    this.#chance = chance
    this.#without = without
    for (const name of ['r1', 'r2', 'r3']) this.#hosts.set(name, new RevisionHost(`node-${name}`))
    for (const [name, host] of this.#hosts) this.#deployed.hosts.set(name, host)
    this.#house = new ThreadHouse({}, undefined, this.#deployed)
  }

  get outcome(): WaitingOutcome {
    return { findings: this.#findings, trace: this.#trace, resumed: this.#resumed,
      rollbacks: this.#rollbacks }
  }

  async live(): Promise<void> {
    await this.#act('run')
    for (let at = 0; at < actionsMax && this.#findings.length === 0; at++) {
      await this.#act(this.#chance.pick(
        ['run', 'answer', 'answer', 'execute', 'execute', 'execute', 'execute', 'execute',
          'execute', 'cancel', 'rollback', 'rollback', 'inject', 'inject', 'edit', 'copy', 'prune',
          'pause', 'deploy', 'remove', 'restart', 'handoff', 'later', 'later', 'wait',
          'live'] as const,
      ))
    }
    if (this.#findings.length === 0) await this.#resume()
    for (const host of this.#hosts.values()) host.running.clear()
  }

  async #act(act: string): Promise<void> {
    this.#log(act)
    const { client } = this.#house
    const quiet = (done: Promise<unknown>) =>
      void done.catch((error: unknown) => {
        this.#log(`  ${HeddleError.from(error).code}`)
      })
    const unfinished = this.#row?.unfinished ?? []
    const runId = (unfinished.length === 0 ? undefined : this.#chance.pick(unfinished))?.runId
    switch (act) {
      case 'run':
        quiet(this.#start({ strategy: this.#chance.pick(['enqueue', 'interrupt', 'rollback']) }))
        break
      case 'answer':
        quiet(this.#start(answer(idsOf(this.#row))))
        break
      case 'later':
        quiet(this.#answerLater())
        break
      case 'wait':
        this.#house.env.advance(30_000)
        break
      case 'execute':
        await this.#execute()
        break
      case 'cancel':
        if (runId) quiet(client.cancelRun(shop, 'x', runId, { action: 'interrupt' }))
        break
      case 'rollback':
        await this.#rollBack(unfinished.find((run) => run.started)?.runId ?? runId)
        break
      case 'inject':
        quiet(this.#inject())
        break
      case 'edit':
        quiet(
          client.updateState(shop, 'x', { checkpoint: null,
            update: { values: '{"log":["edit"]}', command: null, asNode: null } }),
        )
        break
      case 'copy':
        await this.#copy()
        break
      case 'prune':
        quiet(client.prune(shop, 'x', 'keep_latest'))
        break
      case 'live':
        this.#hasEnd = true
        quiet(client.patch(shop, 'x', {}, { strategy: 'delete', minutes: 1e6 }))
        break
      case 'pause':
        this.#deployed.change({ paused: !this.#deployed.paused })
        break
      case 'deploy':
        this.#deployed.change({ active: this.#chance.pick([...this.#deployed.hosts.keys()]) })
        break
      case 'remove':
        await this.#remove()
        break
      case 'handoff': {
        const closed = this.#house.activations.close(AbortSignal.timeout(1_000))
        await settled()
        for (const [host, scripted] of this.#executing()) {
          if (host.paused.has(scripted.execution.id)) host.end(scripted, { status: 'drained' })
        }
        await closed
        this.#restart()
        break
      }
      case 'restart':
        this.#restart()
    }
    await settled()
    await this.#check()
  }

  async #start(run: Partial<StartRun>): Promise<unknown> {
    return await this.#house.client.startRun(shop, 'x', this.#house.run(run))
  }

  async #answerLater(): Promise<void> {
    const ids = idsOf(this.#row)
    const run = this.#house.run({ ...this.#chance.flip(0.5) ? answer(ids) : plainAnswer,
      afterMs: 60_000 })
    await this.#house.client.startRun(shop, 'x', run)
    this.#answered.set(run.runId, ids)
  }

  async #inject(): Promise<void> {
    const id = `m${++this.#count}`
    await this.#start(aMessage(id))
  }

  /** The execution under way does something: it steps, raises an interrupt, or ends. */
  async #execute(): Promise<void> {
    const [first] = this.#executing()
    if (!first) return
    const [host, scripted] = first
    const { execution: { id, request, headId } } = scripted
    if (request.kind === 'edit') {
      this.#log('  the edit')
      if (!await this.#step(host, scripted, 'edit')) return
      return host.end(scripted)
    }
    const act = scripted.headId === null
      ? 'step'
      : this.#chance.pick(
        ['step', 'step', 'ask', 'ask and end', 'ask and end', 'result', 'end', 'fail'] as const,
      )
    this.#log(`  ${host.asked.has(id) ? 'stop' : act} (${headId ?? ''})`)
    if (host.asked.has(id) && scripted.headId !== null) {
      return host.end(scripted, { status: 'drained' })
    }
    if (act === 'step') await this.#step(host, scripted, 'step')
    if (act === 'result') await this.#writes(scripted, { index: 0, channel: 'log' })
    if (act === 'ask' || act === 'ask and end') {
      const task = this.#chance.pick(undoneOf(headOf(await this.#records())))
      void host.interrupt(scripted, task, this.#newId()).catch(() => {})
    }
    await settled()
    if (act === 'fail') {
      host.end(scripted, { status: 'error', error: { error: 'E', message: 'no' } })
    }
    if (act === 'end' || act === 'ask and end') await this.#end(host, scripted)
  }

  /** False if the execution was stopped meanwhile. */
  async #step(host: RevisionHost, scripted: Scripted, text: string): Promise<boolean> {
    void host.step(scripted, text).catch(() => {})
    await settled()
    return host.running.has(scripted.execution.id)
  }

  async #writes({ headId, listener }: Scripted, write: object): Promise<void> {
    const value = { json: '"done"', form: 0, serialized: undefined } as const
    const writes = [{ ...write, value }] as unknown as Writes['writes']
    void listener.steps({ events: [],
      steps: [{ $case: 'writes',
        value: { ns: '', checkpointId: headId!, taskId: `task ${this.#chance.below(2)}`,
          writes } }] }).catch(() => {})
    await settled()
  }

  /** The run ends as its engine does: with the interrupts that its head has. */
  async #end(host: RevisionHost, scripted: Scripted): Promise<void> {
    const interrupts = interruptsIn(headOf(await this.#records()))
    host.end(scripted, interrupts === '' ? {} : { waiting: true, waitsAt: [host.node], interrupts })
  }

  async #rollBack(runId: string | undefined): Promise<void> {
    if (runId === undefined) return
    const before = this.#before.get(runId)
    const isAlone = this.#row!.unfinished.every((run) => run.runId === runId)
    const isDone = await this.#house.client.cancelRun(shop, 'x', runId, { action: 'rollback' })
      .then(() => true, () => false)
    if (!before || !isDone) return
    this.#rollbacks++
    // The next run may have started and changed the rest already.
    if (!isAlone) return
    const { row } = await this.#house.client.get(shop, 'x')
    if (restOf(row) !== restOf(before)) {
      this.#find(`a rollback of ${runId} leaves ${restOf(row)}, not ${restOf(before)}`)
    }
  }

  async #copy(): Promise<void> {
    if (!this.#row) return
    const { row } = await this.#house.client.copy(shop, 'x')
    const { row: source } = await this.#house.client.get(shop, 'x')
    const shown = ({ resting, interruptsJson, waitingAt, head }: Row) =>
      JSON.stringify([resting, interruptsJson, waitingAt ?? null, head?.id ?? ''])
    if (shown(row) !== shown(source)) this.#find(`a copy: ${shown(row)}, not ${shown(source)}`)
    if (row.status !== source.resting) this.#find(`a copy is ${row.status}`)
  }

  /** Removes a revision that neither takes runs nor counts as used. */
  async #remove(): Promise<void> {
    const use = (await revisionUse(this.#house.tables.threads, shop))!
    const unused = [...this.#deployed.hosts.keys()]
      .filter((name) =>
        name !== this.#deployed.active && !use.running.has(name)
        && !use.waiting.has(name)
      )
    if (unused.length === 0 || this.#deployed.hosts.size < 2) return
    const name = this.#chance.pick(unused)
    this.#log(`  ${name}`)
    this.#deployed.hosts.delete(name)
  }

  #restart(): void {
    for (const host of this.#hosts.values()) host.running.clear()
    if (this.#without === 'head_rest') {
      for (const update of this.#house.log.updates) {
        if (update.table === 'thread') Object.assign(update.row, { restBefore: undefined })
      }
    }
    this.#house.restart()
  }

  /** A thread that waits can be resumed, by a revision that has its node. */
  async #resume(): Promise<void> {
    this.#log('resume')
    this.#deployed.change({ paused: false })
    for (let i = 0; i < 20 && this.#row?.status === 'busy'; i++) {
      this.#house.env.advance(60_000)
      await settled()
      for (const [host, scripted] of this.#executing()) {
        if (scripted.execution.request.kind === 'edit') host.end(scripted)
        else await this.#end(host, scripted)
      }
      await settled()
      await this.#check()
    }
    const ids = idsOf(this.#row)
    if (ids.length === 0) return
    await this.#start(answer(ids)).catch((error: unknown) => this.#find(String(error)))
    await settled()
    const [executing] = this.#executing()
    const place = this.#row!.waitingAt
    this.#resumed = executing !== undefined
    if (!executing) return this.#find(`nothing resumes the interrupts ${ids.join()}`)
    if (place && executing[0].node !== `node-${place.revision}`) {
      this.#find(`${executing[0].node} resumes an interrupt of ${place.revision}`)
    }
  }

  async #check(): Promise<void> {
    if (!await this.#house.tables.threads.get(shop, 'x')) return
    // A thread that is loaded may start its runs.
    await this.#house.client.get(shop, 'x')
    await settled()
    const { row } = await this.#house.client.get(shop, 'x')
    const open = openIn(headOf(await this.#records())).toSorted()
    const shown = idsOf(row).toSorted()
    if (shown.join() !== open.join()) this.#find(`shows ${shown.join()}, has ${open.join()}`)
    const stored = (await this.#house.tables.threads.get(shop, 'x'))!
    if (stored.status !== row.status || idsOf(stored).toSorted().join() !== shown.join()) {
      this.#find(`the index has ${stored.status} ${idsOf(stored).join()}`)
    }
    const isAsking = row.status === 'interrupted'
    if ((isAsking || row.status === 'idle') && isAsking !== open.length > 0) {
      this.#find(`is ${row.status} with the interrupts ${open.join()}`)
    }
    if (this.#hasEnd && !row.timeToLive) this.#find('has no time to live any more')
    if (open.length > 0 && !row.waitingAt) this.#find('waits for an unknown revision')
    const started = stored.unfinished.find((run) => run.started)
    const wasStarted = this.#row?.unfinished.some((run) => run.started)
    if (started && this.#row && !wasStarted) this.#before.set(started.runId, this.#row)
    const closed = started === undefined || this.#before.get(started.runId) !== this.#row
      ? undefined
      : this.#answered.get(started.runId)?.find((id) => !open.includes(id))
    if (closed !== undefined) this.#find(`a delayed answer to ${closed} resumes ${open.join()}`)
    this.#row = stored
    this.#log(`    ${row.status} ${shown.join()} at ${row.head?.id ?? ''}: ${
      stored.unfinished
        .map((run) => `${run.runId.slice(-2)} ${run.status}`).join(', ')
    }`)
    await this.#checkMessages()
  }

  /** No message of an ended run is in a state. */
  async #checkMessages(): Promise<void> {
    const runs = await this.#house.client.listRuns({ tenant: shop, threadId: 'x', limit: 99,
      offset: 0 })
    for (const { runId, status, started, planJson } of runs) {
      if (planJson.includes('"injects"') && status === 'interrupted' && !started) {
        this.#ended.add(runId)
      }
    }
    for (const { $case, value } of await this.#records()) {
      const isTaken = $case === 'runDeleted' && value.taken === true
      if (isTaken && this.#ended.has(value.runId)) this.#find(`${value.runId} ended, and was taken`)
    }
  }

  async #records(): Promise<RecordOf[]> {
    const { row } = await this.#house.client.get(shop, 'x')
    const entries = await this.#house.log.read(row.branch!, { from: 1,
      through: Number.MAX_SAFE_INTEGER })
    return entries.flatMap(({ body }) => decodeRow(body))
  }

  #executing(): [RevisionHost, Scripted][] {
    return [...this.#hosts.values()].flatMap((host) =>
      [...host.running.values()].filter(({ execution }) => execution.threadId === 'x')
        .map((scripted): [RevisionHost, Scripted] => [host, scripted])
    )
  }

  #newId(): string {
    return String(++this.#count).padStart(32, 'a')
  }

  #log = (line: string) => void this.#trace.push(line)

  #find(finding: string): void {
    this.#findings.push(finding)
    this.#log(`! ${finding}`)
  }
}
