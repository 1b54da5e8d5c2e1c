/**
 * A WebSocket on a thread: commands and subscriptions come in, answers and events go out. It ends
 * by being cut off, so that the client comes back, unless the client may not come back.
 */

import type { Socket } from 'node:net'

import type { WebSocket } from 'ws'

import { sendCommand, streamThreadEvents } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { jsonOf, longJson } from '../../json/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { ReadQuota } from '../../limits/index.ts'
import type { Inputs, ThreadEvent } from '../../thread/index.ts'
import { backlog } from '../http/backlog.ts'
import { credentialLost } from '../http/caller.ts'
import type { Caller } from '../http/caller.ts'
import type { TickerMember } from '../http/connections/connection-ticker.ts'
import { closeFor } from '../http/connections/upgrade.ts'
import { carriedBy } from '../schema/carried.ts'
import { Unsubscribe } from '../schema/protocol-v2.ts'
import { checkerOf } from '../schema/validation.ts'
import type { Command, CommandContext } from './command-context.ts'
import { perform, startsRun } from './commands.ts'
import { errorText, ProtocolError, successText } from './envelope.ts'
import type { EventReader } from './event-reader.ts'
import { eventText } from './event-text.ts'
import { FrameQueue } from './frame-queue.ts'
import type { Frame } from './frame-queue.ts'
import { Outlet } from './outlet.ts'
import type { Sink } from './outlet.ts'
import { membersOf } from './spelling.ts'
import { Subscriptions } from './subscriptions.ts'

/** Ticks between two pings. */
const pingTicks = 20
/** Pings without a sign of the client after which it counts as gone. */
const silentPingsMax = 3
/** Subscriptions that begin together. */
const beginningMax = 16
/** Bytes of an unfinished frame that are not counted. */
const shortFrame = 64 * 1024

const what = 'The frame'

const checkFilter = checkerOf(streamThreadEvents.body)
const checkUnsubscribe = checkerOf(Unsubscribe)

/** Parts that the socket of a thread needs, and callbacks for its failure and its close. */
export interface ThreadSocketOptions {
  /** The connection under the WebSocket. */
  readonly connection: Socket
  readonly context: Omit<CommandContext, 'left'>
  readonly json: LongJson
  readonly reader: EventReader
  /** Room for frames that are being received or read. */
  readonly frames: Inputs
  /** Memory for answers that are not read yet. */
  readonly reads: Pick<ReadQuota, 'share'>
  /** Charges one frame to the caller's rate limit. Throws `limited`. */
  charge(): Promise<void>
  newId(): string
  /** Called with an error that nobody foresaw. */
  failed(error: unknown): void
  closed(): void
}

/** One WebSocket. It ticks with all open replies. */
export class ThreadSocket implements TickerMember, Sink {
  readonly #socket: WebSocket
  readonly #options: ThreadSocketOptions
  readonly #left = new AbortController()
  readonly #outlet = new Outlet(this)
  readonly #queue: FrameQueue
  readonly #subscriptions: Subscriptions
  readonly #reader: EventReader
  /** Bytes of the frame that is being received. */
  #receivedBytes = 0
  #ticks = 0
  #silentPings = 0
  /** A run was started here: the client takes the first end that it sees for that one's. */
  #hasStarted = false
  /** Subscriptions that were answered, and not begun. */
  #unbegun = 0

  constructor(socket: WebSocket, options: ThreadSocketOptions) {
    this.#socket = socket
    this.#options = options
    const { context: { threads, caller, threadId } } = options
    this.#reader = options.reader
    this.#queue = new FrameQueue({
      handle: (frame) => this.#handle(frame),
      idle: () => this.#begin().catch((error: unknown) => this.#fail(error)),
      dropped: (frame) => options.frames.hold(frame, 0),
      pause: () => socket.pause(),
      resume: () => socket.resume(),
    })
    this.#subscriptions = new Subscriptions({
      follow: (afterSeq, listener) =>
        threads.follow(caller, threadId, { afterSeq, skipsOldEnds: this.#hasStarted }, listener),
      send: (events) => this.#sendEvents(events),
      ready: () => this.#outlet.ready(),
      lost: () => this.leave(),
    })
    this.#listen()
  }

  tick(): void {
    if (!this.#caller.stillValid()) return closeFor(this.#socket, credentialLost())
    this.#outlet.tick()
    if (++this.#ticks % pingTicks !== 0 || this.#queue.paused) return
    if (++this.#silentPings > silentPingsMax) return this.leave()
    this.#socket.ping()
  }

  leave(): void {
    this.#socket.terminate()
  }

  write(frames: readonly string[]): boolean {
    for (const frame of frames) this.#socket.send(frame)
    return !this.#options.connection.writableNeedDrain
  }

  cut(): void {
    this.leave()
  }

  get #caller(): Caller {
    return this.#options.context.caller
  }

  #fail(error: unknown): void {
    this.#options.failed(error)
    this.leave()
  }

  #listen(): void {
    const { connection, frames, closed } = this.#options
    const socket = this.#socket
    const received = ({ length }: Buffer) => this.#received(length)
    connection.prependListener('data', received).on('drain', () => this.#outlet.drained())
    socket.on('message', (data, isBinary) => {
      this.#silentPings = 0
      this.#received(-this.#receivedBytes)
      const frame = { bytes: data as Buffer, isBinary }
      if (frame.bytes.length > shortFrame) frames.hold(frame, frame.bytes.length)
      this.#queue.add(frame)
    })
    socket.on('pong', () => {
      this.#silentPings = 0
    })
    socket.on('ping', (data) => this.#answerPing(data))
    socket.on('error', () => socket.terminate())
    socket.once('close', () => {
      connection.off('data', received)
      frames.hold(this, 0)
      this.#left.abort(new HeddleError('unavailable', 'The caller has left.'))
      this.#queue.close()
      this.#subscriptions.close()
      this.#outlet.close()
      closed()
    })
  }

  /** Counts a long frame while it comes, so that many unfinished ones do not fill the memory. */
  #received(bytes: number): void {
    const { frames } = this.#options
    this.#receivedBytes += bytes
    if (this.#receivedBytes <= shortFrame && bytes > 0) return
    frames.hold(this, this.#receivedBytes)
    try {
      frames.requireLeft(this)
    } catch {
      this.leave()
    }
  }

  /** A client that pings and does not read would fill the memory with answers. */
  #answerPing(data: Buffer): void {
    this.#silentPings = 0
    if (this.#socket.bufferedAmount > backlog.characters) this.leave()
    else this.#socket.pong(data)
  }

  #sendEvents(events: readonly ThreadEvent[]): void {
    this.#outlet.send(this.#reader.shown(events).map(eventText))
  }

  async #handle(frame: Frame): Promise<void> {
    const { context: { threadId }, frames, failed } = this.#options
    let id: number | null = null
    try {
      if (!this.#caller.stillValid()) throw credentialLost()
      const charged = await this.#options.charge().then(() => undefined, HeddleError.from)
      const command = await this.#read(frame)
      id = command.id
      if (charged !== undefined) throw charged
      await this.#carryOut(command)
    } catch (error) {
      if (!(error instanceof ProtocolError) && HeddleError.from(error).code === 'internal') {
        failed(error)
      }
      await this.#answer(errorText(id, threadId, error))
    } finally {
      frames.hold(frame, 0)
    }
  }

  async #carryOut({ id, method, params }: Command): Promise<void> {
    const { context, context: { threadId } } = this.#options
    if (method === 'subscription.subscribe') return this.#subscribe(id, params)
    await this.#begin()
    if (method === 'subscription.unsubscribe') {
      const { subscription_id } = checkUnsubscribe(membersOf(params, ['subscription_id']))
      this.#subscriptions.remove(subscription_id)
      return this.#answer(successText(id, threadId, { result: '{}' }))
    }
    const outcome = await perform({ ...context, left: this.#left.signal }, { id, method, params })
    this.#hasStarted ||= startsRun(method)
    return this.#answer(successText(id, threadId, outcome))
  }

  /**
   * Sends an answer, and resolves when the client takes more: one that sends commands and does not
   * read their answers waits here.
   */
  async #answer(text: string): Promise<void> {
    const { reads, context: { caller } } = this.#options
    using share = reads.share(caller.tenant)
    if (text.length > shortFrame) share.hold(text)
    this.#outlet.send([text])
    await this.#outlet.ready()
  }

  /** The answer comes before the first event of the subscription. */
  async #subscribe(id: number, params: unknown): Promise<void> {
    const filter = checkFilter(params ?? {})
    const subscriptionId = this.#options.newId()
    const replayed = await this.#subscriptions.add(subscriptionId, filter)
    this.#reader.asks(filter)
    const result = JSON.stringify({ subscription_id: subscriptionId, replayed_events: replayed })
    this.#outlet.send([successText(id, this.#options.context.threadId, { result })])
    if (++this.#unbegun === beginningMax) await this.#begin()
  }

  /**
   * Begins the subscriptions that came one after another, together. Like an answer, their past has
   * to be taken before the next command: many at once would be more than may wait for one client.
   */
  async #begin(): Promise<void> {
    if (this.#unbegun === 0) return
    this.#unbegun = 0
    this.#subscriptions.begin()
    await this.#outlet.ready()
  }

  /** Throws for a frame that is no command. */
  async #read({ bytes, isBinary }: Frame): Promise<Command> {
    if (isBinary) throw new ProtocolError('invalid_argument', 'Frames must be JSON text.')
    const value = bytes.length <= longJson
      ? jsonOf(what, bytes.toString())
      : await this.#options.json.read(this.#caller.tenant, { what, bytes,
        carried: carriedBy(sendCommand.body) })
    return checkerOf(sendCommand.body)(value)
  }
}
