/** The single writer of one thread: takes commands, one turn each, and decides. */

import type { Actor, ActorContext, ActorKind, Turn } from '../../../cluster/index.ts'
import type { AppliedCommand } from '../../../proto/gen/storage/v1/row.ts'
import { findApplied } from '../../assistants/index.ts'
import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import { goingAway, HeddleError } from '../../errors.ts'
import type { ThreadPorts, ThreadContext } from '../context/thread-context.ts'
import { patchedMetadata } from '../decide/metadata-patch.ts'
import { requireWaitingNodes } from '../decide/waiting-nodes.ts'
import { threadWire } from '../feed/feed-wire.ts'
import { ThreadLog } from '../log/thread-log.ts'
import type { FollowRequest, Origin, OwnCommand, ThreadCommand } from '../model/command.ts'
import { forkOf } from '../model/run-request.ts'
import type { CreateThread, FeedListener, StartRun, StateUpdate } from '../model/thread-client.ts'
import { fromOrigin, originOf } from '../model/thread-state.ts'
import { Interruptions } from './interruptions.ts'
import { Purge } from './purge.ts'
import { RunLifecycle } from './run-lifecycle.ts'
import { listedRuns } from './run-list.ts'
import { RunWebhooks } from './run-webhooks.ts'
import { StateEditor } from './state-editor.ts'
import { StateQueries } from './state-queries.ts'

/** The kind of actor that a thread is. */
export function threadKind(
  ports: ThreadPorts,
): ActorKind<ThreadCommand | OwnCommand, unknown, FeedListener, FollowRequest> {
  const interruptions = new Interruptions()
  return { name: 'thread', wire: threadWire,
    create: (context) => new ThreadActor(ports, context, interruptions) }
}

class ThreadActor
  implements Actor<ThreadCommand | OwnCommand, unknown, FeedListener, FollowRequest> {
  readonly #ports: ThreadPorts
  readonly #context: ActorContext
  readonly #interruptions: Interruptions
  readonly #purge: Purge
  /** These are set by `activate`, which comes before everything else. */
  #thread!: ThreadContext
  #runs!: RunLifecycle
  #webhooks!: RunWebhooks
  #editor!: StateEditor
  #state!: StateQueries
  /** The activation before this one ended only because the store was out of reach. */
  #interrupted = false
  #failed = false
  /** This activation has ended: the next one may have changed the log since. */
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
      await ThreadLog.load({
        ports,
        tenant,
        threadId,
        epoch,
        after: ports.env.after,
        onLost: (reason) => this.#fail(reason),
        found: (log) => this.#found(log),
        reserve: (characters) => inputs.take(this, characters),
      })
    } catch (error) {
      if (this.#interrupted) this.#interruptions.note(this.#context, error)
      this.#forget()
      throw error
    } finally {
      inputs.hold(this, 0)
    }
    const { branch, deleted } = this.#thread.threadLog.state.row
    if (deleted) await this.#purge.once(branch!)
    this.#webhooks.resume()
  }

  /** Called again if another owner's row came in between: what was found before is dropped. */
  #found(log: ThreadLog): void {
    const { key: { tenant, id: threadId }, notify, sleep } = this.#context
    this.#forget()
    const inputs = this.#ports.inputs.of(tenant)
    this.#thread = { ports: this.#ports, threadLog: log, tenant, threadId, inputs, notify, sleep }
    this.#runs = new RunLifecycle(this.#thread)
    this.#webhooks = new RunWebhooks(this.#thread)
    this.#editor = new StateEditor(this.#thread, (held) => this.#runs.hold(held))
    this.#state = new StateQueries(this.#thread)
    const { row: { deleted, hidden }, runs } = log.state
    if (deleted) return
    if (runs.length > 0) this.#runs.recover(this.#interrupted)
    else if (hidden) this.#runs.retain()
  }

  /** The state in memory is no longer what the log says. Only the first reason is noted. */
  #fail(reason: unknown): void {
    if (!this.#failed) this.#interruptions.note(this.#context, reason)
    this.#failed = true
    this.#context.fail(reason)
  }

  /** Releases what `#found` set up, if it was called. */
  #forget(): void {
    if (this.#thread === undefined) return
    this.#release()
    this.#runs.leave()
  }

  #release(): void {
    this.#runs.release()
    this.#webhooks.release()
    this.#editor.release(goingAway())
    this.#thread.threadLog.release()
  }

  get occupied(): boolean {
    return this.#runs.awake || this.#runs.followed || this.#editor.busy || this.#webhooks.owed
      || this.#thread.threadLog.unsettled || this.#purge.underWay
  }

  receive(own: ThreadCommand | OwnCommand, id?: string, cancelled?: AbortSignal): Turn | Promise<
    Turn
  > {
    const applied = findApplied(this.#thread.threadLog.state.applied, id)
    if (applied) return { reply: this.#again(own as ThreadCommand, applied) }
    switch (own.type) {
      case 'steps':
        return this.#steps(own)
      case 'ended':
        return this.#ended(own)
      case 'lost':
        return done(this.#runs.lost(own.executionId, own.reason),
          this.#editor.lost(own.executionId, own.reason))
      case 'time_limit':
        return done(this.#runs.timeLimit(own.executionId), this.#editor.timeLimit(own.executionId))
      case 'wake':
        return done(this.#runs.startNext())
      case 'owed':
        return done(this.#webhooks.resume())
      case 'settled':
        return this.#settled(own)
      case 'expire':
        return this.#expire()
      case 'rest':
        return done(own.done(this.#runs.rest()))
      case 'create':
        return this.#create(own.request, noteOf(id))
      case 'adopt':
        return this.#adopt(own.origin)
      case 'start':
        return this.#start(own.run, noteOf(id))
      default:
        return this.#receiveExisting(own, noteOf(id), cancelled)
    }
  }

  #receiveExisting(command: Exclude<ThreadCommand, { type: 'create' | 'adopt' | 'start' }>,
    note: readonly RecordOf[], cancelled?: AbortSignal): Turn | Promise<Turn> {
    this.#requireExist()
    switch (command.type) {
      case 'get':
        return this.#read(this.#state.view(command.brief, { ...command, cancelled }))
      case 'patch':
        return this.#patch(command.metadata, note)
      case 'delete':
        return this.#delete(note, command.branchId)
      case 'copy':
        return this.#copy(command.targetId)
      case 'state':
        return this.#read(this.#state.state(command.query, cancelled))
      case 'history':
        return this.#read(this.#state.history(command.query, command.from, cancelled))
      case 'edit':
        return this.#edit(command.update, note)
      case 'get_run':
        return this.#read(this.#runs.row(command.runId))
      case 'list_runs':
        return this.#read(listedRuns(command.query, this.#thread, cancelled))
      case 'cancel':
        return this.#runs.cancel(command.runId, command.cancel, note)
      case 'delete_run':
        return this.#deleteRun(command.runId, note)
      case 'join':
        return this.#runs.join(command.runId, cancelled)
    }
  }

  /** Refuses an answer that was read while the thread was deleted or moved: it may lack parts. */
  #read(reading: Promise<unknown>): Turn {
    const { branch } = this.#thread.threadLog.state.row
    const reply = reading.finally(() => {
      if (this.#left) throw new HeddleError('not_owner')
      this.#requireExist()
      if (this.#thread.threadLog.state.row.branch !== branch) throw this.#notFound()
    })
    return { reply, kind: 'read' }
  }

  /** Answers a command that was done before without doing it again. */
  #again(command: ThreadCommand, applied: AppliedCommand): Promise<unknown> {
    switch (command.type) {
      case 'create':
      case 'patch':
        this.#requireExist()
        return this.#state.view()
      case 'start':
        return this.#runs.started(command.run, applied)
      case 'edit':
        return this.#editor.answered(command.update.checkpoint, applied)
      default:
        return this.#thread.threadLog.durable
    }
  }

  follow({ runId, follow }: FollowRequest, listener: FeedListener): Promise<() => void> {
    this.#requireExist()
    return this.#runs.follow(runId, follow, listener)
  }

  /** Waits until every write has landed or failed: only then may the thread be loaded again. */
  async passivate(): Promise<void> {
    this.#left = true
    this.#release()
    const { threadLog: log } = this.#thread
    await Promise.all([log.quiet(), this.#purge.stop()])
    // Followers get what has landed before their follows end as lost.
    await log.durable.catch(() => {})
    this.#runs.leave()
  }

  async rest(deadline: AbortSignal): Promise<void> {
    if (deadline.aborted) return
    const rested = new Promise<void>((done) => this.#thread.notify({ type: 'rest', done }))
    const late = new Promise<void>((ended) =>
      deadline.addEventListener('abort', () => ended(), { once: true })
    )
    await Promise.race([rested, late])
  }

  /** Refuses the steps of an execution that is not the current one. */
  #steps(
    { executionId, batch, done: notifyDone }: Extract<OwnCommand, { type: 'steps' }>,
  ): Turn | Promise<Turn> {
    const written = this.#runs.steps(executionId, batch)
      ?? this.#editor.steps(executionId, batch.steps)
      ?? { appended: Promise.reject(new HeddleError('stale_append')) }
    const answer = ({ appended }: { appended: Promise<void> }): Turn => {
      appended.catch(() => {})
      notifyDone(appended)
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
    const { threadLog: log } = this.#thread
    if (log.state.exists) {
      if (request.ifExists === 'do_nothing') return { reply: this.#state.view() }
      throw new HeddleError('exists', `Thread ${request.threadId} already exists.`)
    }
    this.#requireNotInTheMaking(request.ifExists)
    this.#renewIfDeleted()
    const { supersteps, metadata } = request
    const created = this.#created(JSON.stringify(metadata))
    if (supersteps.length === 0) {
      void log.write([created, ...note])
      return { reply: this.#state.view() }
    }
    const { graph_id: graphId } = metadata
    if (typeof graphId !== 'string' || !this.#ports.host.describe(graphId)) {
      throw new HeddleError('invalid',
        'A thread with supersteps needs metadata.graph_id to name a graph of the project.')
    }
    const edited = this.#editor.edit(
      { graphId, supersteps, checkpoint: null, before: [created], note },
    )
    return { reply: edited.then(() => this.#state.view()) }
  }

  #created(metadataJson: JsonText,
    { hidden = false, origin }: { readonly hidden?: boolean; readonly origin?: Origin } =
      {}): RecordOf {
    return { $case: 'threadCreated', value: {
      threadId: this.#thread.threadId,
      atMs: this.#ports.env.nowMs(),
      hidden,
      metadataJson,
      copiedFrom: origin?.threadId ?? '',
      headCheckpointId: origin?.head?.id ?? '',
      status: origin?.status ?? '',
      interruptsJson: origin?.interruptsJson ?? '',
    } }
  }

  async #start(run: StartRun, note: readonly RecordOf[]): Promise<Turn> {
    const { threadLog: log } = this.#thread
    const { checkpointId: id = null, checkpointNs: ns = '' } = forkOf(run) ?? {}
    if (log.state.exists) {
      if (id !== null) await log.require_(ns, id)
      if (!this.#runs.busy) await requireWaitingNodes(this.#thread, run)
    } else {
      if (run.ifMissing === 'reject' || id !== null) this.#requireExist()
      this.#requireNotInTheMaking('do_nothing')
      this.#runs.requireRoom()
      this.#renewIfDeleted()
      const created = this.#created(JSON.stringify(run.metadata), {
        hidden: run.ifMissing === 'hidden' && run.plan.temporary,
      })
      void log.write([created], run.awaited ? 'soon' : 'now')
    }
    return this.#runs.start(run, note)
  }

  #patch(change: Readonly<Record<string, unknown>>, note: readonly RecordOf[]): Turn {
    const { threadLog: log } = this.#thread
    const { metadataJson: before, configJson } = log.state.row
    const metadataJson = patchedMetadata(before, change)
    const value = { atMs: this.#ports.env.nowMs(), metadataJson, configJson }
    void log.write([{ $case: 'threadPatched', value }, ...note])
    return { reply: this.#state.view() }
  }

  async #edit({ update, checkpoint }: StateUpdate, note: readonly RecordOf[]): Promise<Turn> {
    if (this.#runs.busy) {
      throw new HeddleError('busy', 'Thread is busy; update its state when its runs are done.')
    }
    const { threadLog: log } = this.#thread
    const { graphId } = log.state
    if (graphId === '') {
      throw new HeddleError('invalid',
        `Thread ${this.#thread.threadId} has no graph yet: run it or create it with a graph_id.`)
    }
    const edit = { graphId, supersteps: [[update]], checkpoint, before: [], note }
    const id = checkpoint?.checkpointId ?? null
    if (id !== null) await log.require_(checkpoint?.checkpointNs ?? '', id)
    return { reply: this.#editor.edit(edit) }
  }

  #delete(note: readonly RecordOf[], branchId?: string): Turn {
    const { threadLog: log } = this.#thread
    const branch = log.state.row.branch!
    if (branchId !== undefined && branchId !== branch.id) throw this.#notFound()
    const value = { atMs: this.#ports.env.nowMs() }
    const deleted = log.write([{ $case: 'threadDeleted', value }, ...note])
    this.#runs.deleteAll(deleted)
    this.#webhooks.release()
    this.#editor.release(new HeddleError('not_found', 'The thread was deleted.'))
    log.release()
    return { reply: this.#purge.after(deleted, branch) }
  }

  async #deleteRun(runId: string, note: readonly RecordOf[]): Promise<Turn> {
    const turn = await this.#runs.delete(runId, note)
    this.#webhooks.resume()
    return turn
  }

  /** Deletes the thread unless somebody still follows the run or a webhook is owed. */
  #expire(): Turn {
    const { exists, runs, row } = this.#thread.threadLog.state
    const ended = exists && row.hidden && runs.length === 0
    this.#expired = ended && this.#webhooks.owed
    if (!ended || this.#expired) return { reply: undefined }
    if (!this.#runs.followed) return this.#delete([])
    this.#runs.retain()
    return { reply: undefined }
  }

  #settled(settled: Extract<OwnCommand, { type: 'settled' }>): Turn {
    this.#webhooks.settle(settled)
    return this.#expired ? this.#expire() : { reply: undefined }
  }

  /** The copy is made within this turn, so that the source cannot be deleted meanwhile. */
  async #copy(targetId: string): Promise<Turn> {
    const { threadLog: log, tenant } = this.#thread
    await log.durable
    const origin = originOf(log.state, log.storedBytes)
    const command: ThreadCommand = { type: 'adopt', origin }
    return { reply: await this.#ports.ask({ kind: 'thread', tenant, id: targetId }, command) }
  }

  /** Sent by the origin's owner, perhaps twice: the same origin is copied to an id only once. */
  #adopt(origin: Origin): Turn {
    const { threadLog: log, tenant, threadId } = this.#thread
    if (log.state.exists) {
      if (findApplied(log.state.applied, origin.threadId)) return { reply: this.#state.view() }
      throw new HeddleError('exists', 'A copy needs an id of its own.')
    }
    const branchId = this.#ports.log.newBranchId()
    log.begin(fromOrigin({ tenant, threadId, branchId }, origin), this.#purge.lastTry)
    const created = this.#created(origin.metadataJson, { origin })
    void log.write([created, ...noteOf(origin.threadId)])
    return { reply: this.#state.view() }
  }

  #renewIfDeleted(): void {
    const { threadLog: log } = this.#thread
    if (log.state.row.seq > 0) log.renew(this.#purge.lastTry)
  }

  /** A thread with supersteps exists once these are written: until then others have to retry. */
  #requireNotInTheMaking(ifExists: CreateThread['ifExists']): void {
    if (!this.#editor.busy) return
    const code = ifExists === 'raise' ? 'exists' : 'unavailable'
    throw new HeddleError(code, `Thread ${this.#thread.threadId} is being created already.`)
  }

  #requireExist(): void {
    if (!this.#thread.threadLog.state.exists) throw this.#notFound()
  }

  #notFound(): HeddleError {
    return new HeddleError('not_found', `Thread ${this.#thread.threadId} not found.`)
  }
}

/** The record that marks a command as done; it is written in the same row as its effect. */
function noteOf(id: string | undefined): RecordOf[] {
  return id === undefined ? [] : [{ $case: 'commandApplied', value: { commandId: id } }]
}

/** A turn that answers nothing: its arguments have done the work. */
function done(..._noted: readonly void[]): Turn {
  return { reply: undefined }
}
