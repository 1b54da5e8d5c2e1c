/** An actor: state behind a mailbox, one turn at a time. What the substrate hosts. */

import type { ActorKey } from './actor-key.ts'
import type { Asked } from './actor-wire.ts'

/**
 * The result of a turn. The turn has ended when the decision is made; the reply may be a promise
 * that resolves later, when what was decided is durable. The next turn does not wait for it. The
 * actor settles every promise that it made, at the latest in `passivate`.
 */
export interface Turn<Reply = unknown> {
  readonly reply: Reply | Promise<Reply>
  /**
   * read   the turn changes nothing: a caller that waits too long may ask again
   * early  the reply acknowledges nothing yet, as a later one does, or nothing that is stored
   */
  readonly kind?: 'read' | 'early'
}

/**
 * Commands come one at a time; the next one is handed in when the turn before it is returned.
 *
 * A turn that throws a CodedError has answered its caller and changed nothing. Anything else is a
 * bug: the activation ends, and the next command makes a new one.
 */
export interface Actor<Command = unknown, Reply = unknown, Listener = unknown, Request = unknown> {
  /** Called once, before the first turn. A throw fails every waiting command and ends it. */
  activate(): Promise<void>
  /**
   * `id` is the same for each try of one command, even if an earlier try reached another owner.
   * What the actor stores for the next owner says which commands are done, so that a repeated one
   * has no second effect. Undefined for a command that is tried once.
   *
   * `cancelled` aborts when the caller has gone: a reply that only waits for something may be
   * rejected then. What the command does is done all the same.
   */
  receive(command: Command, id?: string, cancelled?: AbortSignal): Turn<Reply> | Promise<
    Turn<Reply>
  >
  /**
   * Tells `listener` until the returned function is called. A turn like any other. Missing if there
   * is nothing to follow.
   */
  follow?(request: Request, listener: Listener): Promise<() => void>
  /**
   * True while something is in progress or a client follows: it is not passivated for idleness
   * then. It stays too while a turn is under way, a command waits or a promised reply is due.
   */
  readonly occupied: boolean
  /**
   * Called before `passivate` if it is occupied: brings what is in progress to a point from which
   * another owner can continue. Turns are taken meanwhile. Resolves when it is there, or at the
   * deadline.
   */
  rest?(deadline: AbortSignal): Promise<void>
  /**
   * The last call: stop everything. `deadline` aborts when there is no more time; if the activation
   * failed, it has aborted already. Nothing else lives under this key until it returns. Not called
   * if `activate` threw.
   */
  passivate(deadline: AbortSignal): Promise<void>
}

/** The activation that an actor lives in, as the actor may use it. */
export interface ActorContext<Command = unknown> {
  readonly key: ActorKey
  /** The epoch of the shard when this activation began. */
  readonly epoch: number
  /**
   * Sends a command to itself, as a turn of its own: at once if no other is under way. Never
   * refused as `full`; dropped when the activation is ending.
   */
  notify(command: Command): void
  /**
   * Ends this activation, because something that it assumed is not true. Every command that waits,
   * or whose turn is under way, fails with `reason`. The next command makes a new activation.
   */
  fail(reason: unknown): void
  /**
   * Ends this activation after the current turn, unless it is occupied then: for an actor that
   * holds much memory and knows that it has nothing to do for a while. With `onceReplied`, tries
   * again when the replies that it owes are given, unless something is asked of it before.
   */
  sleep(onceReplied?: boolean): void
}

/**
 * The factory of one kind of actors. Commands and replies cross to other members by its wire;
 * `Listener` and `Request` are those of a follow.
 */
export interface ActorKind<Command = unknown, Reply = unknown, Listener = unknown,
  Request = unknown>
  extends Asked<Listener, Request> {
  /** A new actor, which is not activated yet. */
  create(context: ActorContext<Command>): Actor<Command, Reply, Listener, Request>
}
