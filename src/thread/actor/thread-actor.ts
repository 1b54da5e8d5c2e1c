/** The single writer of one thread: takes commands, one turn each, and decides. */

import type { Actor, ActorContext, ActorKind, Turn } from '../../../cluster/index.ts'
import { appliedRecords, findApplied } from '../../owned-row/index.ts'
import { HeddleError } from '../../errors.ts'
import { isDeployment } from '../../graph/index.ts'
import { LatelyRemoved } from '../context/lately-removed.ts'
import type { ThreadPorts } from '../context/thread-context.ts'
import { threadNotFound } from '../decide/thread.ts'
import { threadWire } from '../feed/feed-wire.ts'
import { ThreadLog } from '../log/thread-log.ts'
import type { FollowRequest, OwnCommand, ThreadCommand } from '../model/command.ts'
import type { FeedListener } from '../model/thread-client.ts'
import { recover } from './execution-turns.ts'
import { Interruptions } from './interruptions.ts'
import { Purge } from './purge.ts'
import { reportLastRuns } from './last-runs.ts'
import { followRun, followThread } from './run-turns.ts'
import { isOccupied, leaveParts, partsOf, releaseParts } from './thread-parts.ts'
import type { ThreadParts } from './thread-parts.ts'
import { callWebhooks, requireExist } from './thread-turns.ts'
import { repeated, take } from './turns.ts'

/** The kind of actor that a thread is. */
export function threadKind(
  ports: ThreadPorts,
): ActorKind<ThreadCommand | OwnCommand, unknown, FeedListener, FollowRequest> {
  const memory = { interruptions: new Interruptions(), removed: new LatelyRemoved(ports.env) }
  return { name: 'thread', wire: threadWire,
    create: (context) => new ThreadActor(ports, context, memory) }
}

/** Memory that the threads of one member share, beyond their activations. */
interface MemberMemory {
  readonly interruptions: Interruptions
  readonly removed: LatelyRemoved
}

class ThreadActor
  implements Actor<ThreadCommand | OwnCommand, unknown, FeedListener, FollowRequest> {
  readonly #ports: ThreadPorts
  readonly #context: ActorContext
  readonly #interruptions: Interruptions
  readonly #removed: LatelyRemoved
  readonly #purge: Purge
  /** Set by `activate`, which comes before everything else. */
  #parts!: ThreadParts
  /** The activation before this one ended only because the store was out of reach. */
  #interrupted = false
  #failed = false
  /** This activation has ended: the next one may have changed the log since. */
  #left = false

  constructor(ports: ThreadPorts, context: ActorContext, { interruptions, removed }: MemberMemory) {
    this.#ports = ports
    this.#context = context
    this.#interruptions = interruptions
    this.#removed = removed
    this.#purge = new Purge(ports, context, () => this.#leaveIfGone())
  }

  async activate(): Promise<void> {
    const { key: { tenant, id: threadId }, epoch } = this.#context
    const [ports, inputs] = [this.#ports, this.#ports.inputs.of(tenant)]
    if (isDeployment(tenant)) await ports.deployed?.open(tenant)
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
        reserve: (characters) =>
          ports.recoveries?.has(tenant, threadId)
            ? inputs.takeForOthers(this, characters)
            : inputs.take(this, characters),
      })
    } catch (error) {
      if (this.#interrupted) this.#interruptions.note(this.#context, error)
      this.#forget()
      throw error
    } finally {
      inputs.hold(this, 0)
    }
    const { branch, deleted } = this.#log.state.row
    if (deleted) await this.#purge.once(branch!)
    callWebhooks(this.#parts)
    reportLastRuns(this.#parts.context)
  }

  /** Called again if another owner's row came in between: what was found before is dropped. */
  #found(threadLog: ThreadLog): void {
    const { key: { tenant, id: threadId }, notify, sleep } = this.#context
    this.#forget()
    this.#parts = partsOf({
      ports: this.#ports,
      threadLog,
      tenant,
      threadId,
      inputs: this.#ports.inputs.of(tenant),
      removed: this.#removed,
      notify,
      sleep,
      fail: (reason) => this.#fail(reason),
    }, this.#purge)
    recover(this.#parts, this.#interrupted)
  }

  /** The state in memory is no longer what the log says. Only the first reason is noted. */
  #fail(reason: unknown): void {
    if (!this.#failed) this.#interruptions.note(this.#context, reason)
    this.#failed = true
    this.#context.fail(reason)
  }

  /** Releases what `#found` set up, if it was called. */
  #forget(): void {
    if (this.#parts === undefined) return
    releaseParts(this.#parts)
    leaveParts(this.#parts)
  }

  get #log(): ThreadLog {
    return this.#parts.context.threadLog
  }

  get occupied(): boolean {
    return isOccupied(this.#parts)
  }

  receive(command: ThreadCommand | OwnCommand, id?: string, cancelled?: AbortSignal):
    | Turn
    | Promise<Turn> {
    const over = () => this.#leaveIfGone()
    let turn
    try {
      return turn = this.#take(command, id, cancelled)
    } finally {
      if (turn instanceof Promise) turn.then(over, over)
      else over()
    }
  }

  #take(command: ThreadCommand | OwnCommand, id?: string, cancelled?: AbortSignal):
    | Turn
    | Promise<Turn> {
    const applied = findApplied(this.#log.state.applied, id)
    if (applied) return { reply: repeated(this.#parts, command as ThreadCommand, applied) }
    const { key: { tenant, id: threadId } } = this.#context
    // A repeated create or start would make the deleted thread again.
    if (this.#removed.hasCommand({ tenant, threadId }, id)) throw threadNotFound(threadId)
    const note = appliedRecords(id, this.#ports.env.nowMs())
    const turn = take(this.#parts, { command, note, cancelled })
    return 'kind' in turn && turn.kind === 'read' ? this.#guarded(turn) : turn
  }

  /** A thread that is not there leaves the memory at once, unless something of it is under way. */
  #leaveIfGone(): void {
    if (!this.#log.state.exists) this.#context.sleep(true)
  }

  /** Refuses an answer that was read while the thread was deleted or moved: it may lack parts. */
  #guarded(turn: Turn): Turn {
    const { branch } = this.#log.state.row
    const reply = (turn.reply as Promise<unknown>).finally(() => {
      if (this.#left) throw new HeddleError('not_owner')
      requireExist(this.#parts)
      if (this.#log.state.row.branch !== branch) throw threadNotFound(this.#context.key.id)
    })
    return { ...turn, reply }
  }

  async follow({ runId, follow, waits = false }: FollowRequest,
    listener: FeedListener): Promise<() => void> {
    if (!waits) requireExist(this.#parts)
    if (this.#log.isHeldBack) await this.#log.keep()
    if (runId === '') return followThread(this.#parts, follow.after, listener)
    return await followRun(this.#parts, runId, follow, listener)
  }

  /** Waits until every write has landed or failed: only then may the thread be loaded again. */
  async passivate(): Promise<void> {
    this.#left = true
    releaseParts(this.#parts)
    await Promise.all([this.#log.quiet(), this.#purge.stop()])
    // Followers get what has landed before their follows end as lost.
    await this.#log.durable.catch(() => {})
    leaveParts(this.#parts)
  }

  async rest(deadline: AbortSignal): Promise<void> {
    if (deadline.aborted) return
    const rested = new Promise<void>((done) => this.#context.notify({ type: 'rest', done }))
    const late = new Promise<void>((ended) =>
      deadline.addEventListener('abort', () => ended(), { once: true })
    )
    await Promise.race([rested, late])
  }
}
