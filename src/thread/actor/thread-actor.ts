/** The single writer of one thread: takes commands, one turn each, and decides. */

import type { Actor, ActorContext, ActorKind, Turn } from '../../../cluster/index.ts'
import type { HeardCommand } from '../../../proto/gen/storage/v1/row.ts'
import { heardAs } from '../../assistants/index.ts'
import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import { goingAway, HeddleError } from '../../errors.ts'
import type { ThreadPorts, ThreadSetting } from '../context/thread-context.ts'
import { patchedMetadata } from '../decide/metadata-patch.ts'
import { mustHaveWaitingNodes } from '../decide/waiting-nodes.ts'
import { threadWire } from '../feed/feed-wire.ts'
import { ThreadLedger } from '../log/thread-log.ts'
import type { FollowRequest, Origin, OwnCommand, ThreadCommand } from '../model/command.ts'
import { forkOf } from '../model/run-request.ts'
import type { CreateThread, FeedListener, StartRun, StateUpdate } from '../model/thread-client.ts'
import { fromOrigin, originOf } from '../model/thread-state.ts'
import { Interruptions } from './interruptions.ts'
import { Purge } from './purge.ts'
import { RunDriver } from './run-lifecycle.ts'
import { listedRuns } from './run-list.ts'
import { RunWebhooks } from './run-webhooks.ts'
import { StateEditor } from './state-editor.ts'
import { StateAnswers } from './state-queries.ts'

/** The kind of actor that a thread is. */
export function threadKind(ports: ThreadPorts): ActorKind {
  const interruptions = new Interruptions()
  return { name: 'thread', wire: threadWire,
    create: (context) => new ThreadActor(ports, context, interruptions) }
}

class ThreadActor implements Actor {
  readonly #ports: ThreadPorts
  readonly #context: ActorContext
  readonly #interruptions: Interruptions
  readonly #purge: Purge
  /** These are set by `activate`, which comes before everything else. */
  #setting!: ThreadSetting
  #runs!: RunDriver
  #webhooks!: RunWebhooks
  #editor!: StateEditor
  #answers!: StateAnswers
  /** The activation before this one ended only because the store was out of reach. */
  #interrupted = false
  #failed = false
  /** This activation is over: the next one may have changed the log since. */
  #left = false
  /** A stateless run's thread whose time is up: it stays only for webhooks that are owed. */
  #expired = false

  constructor(ports: ThreadPorts, context: ActorContext, interruptions: Interruptions) {
    this.#ports = ports
    this.#context = context
    this.#interruptions = interruptions
    this.#purge = new Purge(ports, context)
  }

  async activate(): Promise<void> {
    const { key: { tenant, id: threadId }, epoch } = this.#context
    const [ports, inputs] = [this.#ports, this.#ports.inputs.of(tenant)]
    this.#interrupted = this.#interruptions.take(this.#context)
    try {
      await ThreadLedger.load({
        ports, tenant, threadId, epoch, after: ports.env.after,
        onLost: (reason) => this.#fail(reason), found: (ledger) => this.#found(ledger),
        reserve: (characters) => inputs.take(this, characters),
      })
    } catch (error) {
      if (this.#interrupted) this.#interruptions.note(this.#context, error)
      this.#forget()
      throw error
    } finally {
      inputs.hold(this, 0)
    }
    const { branch, deleted } = this.#setting.ledger.state.row
    if (deleted) await this.#purge.once(branch!)
    this.#webhooks.goOn()
  }

  /** Called again if another owner's row came in between: what was found before is dropped. */
  #found(ledger: ThreadLedger): void {
    const { key: { tenant, id: threadId }, tell, sleep } = this.#context
    this.#forget()
    const inputs = this.#ports.inputs.of(tenant)
    this.#setting = { ports: this.#ports, ledger, tenant, threadId, inputs, tell, sleep }
    this.#runs = new RunDriver(this.#setting)
    this.#webhooks = new RunWebhooks(this.#setting)
    this.#editor = new StateEditor(this.#setting, (held) => this.#runs.hold(held))
    this.#answers = new StateAnswers(this.#setting)
    const { row: { deleted, hidden }, runs } = ledger.state
    if (deleted) return
    if (runs.length > 0) this.#runs.recover(this.#interrupted)
    else if (hidden) this.#runs.linger()
  }

  /** The state in memory is no longer what the log says. Only the first reason is noted. */
  #fail(reason: unknown): void {
    if (!this.#failed) this.#interruptions.note(this.#context, reason)
    this.#failed = true
    this.#context.fail(reason)
  }

  /** Releases what `#found` set up, if it was called. */
  #forget(): void {
    if (this.#setting === undefined) return
    this.#letGo()
    this.#runs.leave()
  }

  #letGo(): void {
    this.#runs.letGo()
    this.#webhooks.letGo()
    this.#editor.letGo(goingAway())
    this.#setting.ledger.release()
  }

  get occupied(): boolean {
    return this.#runs.awake || this.#runs.followed || this.#editor.busy || this.#webhooks.owed
      || this.#setting.ledger.unsettled || this.#purge.underWay
  }

  receive(command: unknown, id?: string, gone?: AbortSignal): Turn | Promise<Turn> {
    const told = command as ThreadCommand | OwnCommand
    const heard = heardAs(this.#setting.ledger.state.heard, id)
    if (heard) return { reply: this.#again(told as ThreadCommand, heard) }
    switch (told.type) {
      case 'steps': return this.#steps(told)
      case 'ended': return this.#ended(told)
      case 'lost': return done(this.#runs.lost(told.executionId, told.reason),
        this.#editor.lost(told.executionId, told.reason))
      case 'time_limit': return done(this.#runs.timeLimit(told.executionId),
        this.#editor.timeLimit(told.executionId))
      case 'wake': return done(this.#runs.startNext())
      case 'owed': return done(this.#webhooks.goOn())
      case 'settled': return this.#settled(told)
      case 'expire': return this.#expire()
      case 'rest': return done(told.done(this.#runs.rest()))
      case 'create': return this.#create(told.request, noteOf(id))
      case 'adopt': return this.#adopt(told.origin)
      case 'start': return this.#start(told.run, noteOf(id))
      default: return this.#receiveExisting(told, noteOf(id), gone)
    }
  }

  #receiveExisting(command: Exclude<ThreadCommand, { type: 'create' | 'adopt' | 'start' }>,
    note: readonly RecordOf[], gone?: AbortSignal): Turn | Promise<Turn> {
    this.#mustExist()
    switch (command.type) {
      case 'get': return this.#read(this.#answers.view(command.brief, { ...command, gone }))
      case 'patch': return this.#patch(command.metadata, note)
      case 'delete': return this.#delete(note, command.branchId)
      case 'copy': return this.#copy(command.targetId)
      case 'state': return this.#read(this.#answers.state(command.query, gone))
      case 'history': return this.#read(this.#answers.history(command.query, command.from, gone))
      case 'edit': return this.#edit(command.update, note)
      case 'get_run': return this.#read(this.#runs.row(command.runId))
      case 'list_runs': return this.#read(listedRuns(command.query, this.#setting, gone))
      case 'cancel': return this.#runs.cancel(command.runId, command.cancel, note)
      case 'delete_run': return this.#deleteRun(command.runId, note)
      case 'join': return this.#runs.join(command.runId, gone)
    }
  }

  /** Refuses an answer that was read while the thread was deleted or moved: it may lack parts. */
  #read(reading: Promise<unknown>): Turn {
    const { branch } = this.#setting.ledger.state.row
    const reply = reading.finally(() => {
      if (this.#left) throw new HeddleError('not_owner')
      this.#mustExist()
      if (this.#setting.ledger.state.row.branch !== branch) throw this.#notFound()
    })
    return { reply, kind: 'read' }
  }

  /** Answers a command that was done before without doing it again. */
  #again(command: ThreadCommand, heard: HeardCommand): Promise<unknown> {
    switch (command.type) {
      case 'create': case 'patch':
        this.#mustExist()
        return this.#answers.view()
      case 'start': return this.#runs.started(command.run, heard)
      case 'edit': return this.#editor.answered(command.update.checkpoint, heard)
      default: return this.#setting.ledger.durable
    }
  }

  follow(request: unknown, listener: unknown): Promise<() => void> {
    this.#mustExist()
    const { runId, follow } = request as FollowRequest
    return this.#runs.follow(runId, follow, listener as FeedListener)
  }

  /** Waits until every write has landed or failed: only then may the thread be loaded again. */
  async passivate(): Promise<void> {
    this.#left = true
    this.#letGo()
    const { ledger } = this.#setting
    await Promise.all([ledger.quiet(), this.#purge.stop()])
    // Followers get what has landed before their follows end as lost.
    await ledger.durable.catch(() => {})
    this.#runs.leave()
  }

  async rest(deadline: AbortSignal): Promise<void> {
    if (deadline.aborted) return
    const rested = new Promise<void>((done) => this.#setting.tell({ type: 'rest', done }))
    const late = new Promise<void>((over) =>
      deadline.addEventListener('abort', () => over(), { once: true }))
    await Promise.race([rested, late])
  }

  /** Refuses the steps of an execution that is not the current one. */
  #steps({ executionId, batch, done: tellDone }: Extract<OwnCommand, { type: 'steps' }>):
    Turn | Promise<Turn> {
    const written = this.#runs.steps(executionId, batch)
      ?? this.#editor.steps(executionId, batch.steps)
      ?? { appended: Promise.reject(new HeddleError('stale_append')) }
    const answer = ({ appended }: { appended: Promise<void> }): Turn => {
      appended.catch(() => {})
      tellDone(appended)
      return { reply: undefined }
    }
    if (!(written instanceof Promise)) return answer(written)
    return written.then(answer, (error: unknown) => {
      // The log lacks this batch: what the execution builds on it cannot be written.
      this.#fail(error)
      return answer({ appended: Promise.reject(error) })
    })
  }

  #ended({ executionId, outcome }: Extract<OwnCommand, { type: 'ended' }>): Turn | Promise<Turn> {
    const edited = this.#editor.ended(executionId, outcome)
    if (edited) return edited.then((): Turn => ({ reply: undefined }))
    return done(this.#runs.ended(executionId, outcome))
  }

  async #create(request: CreateThread, note: readonly RecordOf[]): Promise<Turn> {
    const { ledger } = this.#setting
    if (ledger.state.exists) {
      if (request.ifExists === 'do_nothing') return { reply: this.#answers.view() }
      throw new HeddleError('exists', `Thread ${request.threadId} already exists.`)
    }
    this.#mustNotBeInTheMaking(request.ifExists)
    this.#renewIfDeleted()
    const { supersteps, metadata } = request
    const created = this.#created(JSON.stringify(metadata))
    if (supersteps.length === 0) {
      void ledger.write([created, ...note])
      return { reply: this.#answers.view() }
    }
    const { graph_id: graphId } = metadata
    if (typeof graphId !== 'string' || !this.#ports.host.describe(graphId)) {
      throw new HeddleError('invalid',
        'A thread with supersteps needs metadata.graph_id to name a graph of the project.')
    }
    const edited = this.#editor.edit(
      { graphId, supersteps, checkpoint: null, before: [created], note })
    return { reply: edited.then(() => this.#answers.view()) }
  }

  #created(metadataJson: JsonText, { hidden = false, origin }:
    { readonly hidden?: boolean, readonly origin?: Origin } = {}): RecordOf {
    return { $case: 'threadCreated', value: {
      threadId: this.#setting.threadId, atMs: this.#ports.env.nowMs(), hidden, metadataJson,
      copiedFrom: origin?.threadId ?? '', headCheckpointId: origin?.head?.id ?? '',
      status: origin?.status ?? '', interruptsJson: origin?.interruptsJson ?? '',
    } }
  }

  async #start(run: StartRun, note: readonly RecordOf[]): Promise<Turn> {
    const { ledger } = this.#setting
    const { checkpointId: id = null, checkpointNs: ns = '' } = forkOf(run) ?? {}
    if (ledger.state.exists) {
      if (id !== null) await ledger.mustHave(ns, id)
      if (!this.#runs.busy) await mustHaveWaitingNodes(this.#setting, run)
    } else {
      if (run.ifMissing === 'reject' || id !== null) this.#mustExist()
      this.#mustNotBeInTheMaking('do_nothing')
      this.#runs.mustHaveRoom()
      this.#renewIfDeleted()
      const created = this.#created(JSON.stringify(run.metadata),
        { hidden: run.ifMissing === 'hidden' && run.plan.temporary })
      void ledger.write([created], run.awaited ? 'soon' : 'now')
    }
    return this.#runs.start(run, note)
  }

  #patch(change: Readonly<Record<string, unknown>>, note: readonly RecordOf[]): Turn {
    const { ledger } = this.#setting
    const { metadataJson: before, configJson } = ledger.state.row
    const metadataJson = patchedMetadata(before, change)
    const value = { atMs: this.#ports.env.nowMs(), metadataJson, configJson }
    void ledger.write([{ $case: 'threadPatched', value }, ...note])
    return { reply: this.#answers.view() }
  }

  async #edit({ update, checkpoint }: StateUpdate, note: readonly RecordOf[]): Promise<Turn> {
    if (this.#runs.busy) {
      throw new HeddleError('busy', 'Thread is busy; update its state when its runs are done.')
    }
    const { ledger } = this.#setting
    const { graphId } = ledger.state
    if (graphId === '') {
      throw new HeddleError('invalid',
        `Thread ${this.#setting.threadId} has no graph yet: run it or create it with a graph_id.`)
    }
    const edit = { graphId, supersteps: [[update]], checkpoint, before: [], note }
    const id = checkpoint?.checkpointId ?? null
    if (id !== null) await ledger.mustHave(checkpoint?.checkpointNs ?? '', id)
    return { reply: this.#editor.edit(edit) }
  }

  #delete(note: readonly RecordOf[], branchId?: string): Turn {
    const { ledger } = this.#setting
    const branch = ledger.state.row.branch!
    if (branchId !== undefined && branchId !== branch.id) throw this.#notFound()
    const value = { atMs: this.#ports.env.nowMs() }
    const deleted = ledger.write([{ $case: 'threadDeleted', value }, ...note])
    this.#runs.deleteAll(deleted)
    this.#webhooks.letGo()
    this.#editor.letGo(new HeddleError('not_found', 'The thread was deleted.'))
    ledger.release()
    return { reply: this.#purge.after(deleted, branch) }
  }

  async #deleteRun(runId: string, note: readonly RecordOf[]): Promise<Turn> {
    const turn = await this.#runs.delete(runId, note)
    this.#webhooks.goOn()
    return turn
  }

  /** Deletes the thread unless somebody still follows the run or a webhook is owed. */
  #expire(): Turn {
    const { exists, runs, row } = this.#setting.ledger.state
    const over = exists && row.hidden && runs.length === 0
    this.#expired = over && this.#webhooks.owed
    if (!over || this.#expired) return { reply: undefined }
    if (!this.#runs.followed) return this.#delete([])
    this.#runs.linger()
    return { reply: undefined }
  }

  #settled(settled: Extract<OwnCommand, { type: 'settled' }>): Turn {
    this.#webhooks.settle(settled)
    return this.#expired ? this.#expire() : { reply: undefined }
  }

  /** The copy is made within this turn, so that the source cannot be deleted meanwhile. */
  async #copy(targetId: string): Promise<Turn> {
    const { ledger, tenant } = this.#setting
    await ledger.durable
    const origin = originOf(ledger.state, ledger.storedBytes)
    const command: ThreadCommand = { type: 'adopt', origin }
    return { reply: await this.#ports.ask({ kind: 'thread', tenant, id: targetId }, command) }
  }

  /** Sent by the origin's owner, perhaps twice: the same origin is copied to an id only once. */
  #adopt(origin: Origin): Turn {
    const { ledger, tenant, threadId } = this.#setting
    if (ledger.state.exists) {
      if (heardAs(ledger.state.heard, origin.threadId)) return { reply: this.#answers.view() }
      throw new HeddleError('exists', 'A copy needs an id of its own.')
    }
    const branchId = this.#ports.log.newBranchId()
    ledger.begin(fromOrigin({ tenant, threadId, branchId }, origin), this.#purge.lastTry)
    const created = this.#created(origin.metadataJson, { origin })
    void ledger.write([created, ...noteOf(origin.threadId)])
    return { reply: this.#answers.view() }
  }

  #renewIfDeleted(): void {
    const { ledger } = this.#setting
    if (ledger.state.row.seq > 0) ledger.renew(this.#purge.lastTry)
  }

  /** A thread with supersteps exists once these are written: until then others have to retry. */
  #mustNotBeInTheMaking(ifExists: CreateThread['ifExists']): void {
    if (!this.#editor.busy) return
    const code = ifExists === 'raise' ? 'exists' : 'unavailable'
    throw new HeddleError(code, `Thread ${this.#setting.threadId} is being created already.`)
  }

  #mustExist(): void {
    if (!this.#setting.ledger.state.exists) throw this.#notFound()
  }

  #notFound(): HeddleError {
    return new HeddleError('not_found', `Thread ${this.#setting.threadId} not found.`)
  }
}

/** The record that marks a command as done; it is written in the same row as its effect. */
function noteOf(id: string | undefined): RecordOf[] {
  return id === undefined ? [] : [{ $case: 'heard', value: { commandId: id } }]
}

/** A turn that answers nothing: its arguments have done the work. */
function done(..._noted: readonly void[]): Turn {
  return { reply: undefined }
}
