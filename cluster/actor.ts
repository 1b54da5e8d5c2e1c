/** An actor: state behind a mailbox, one turn at a time. What the substrate hosts. */

import type { ActorKey } from './actor-key.ts'
import type { Asked } from './actor-wire.ts'

/**
 * What a turn leaves behind. The turn is over when the decision is made; the reply may be a
 * promise that is kept later, when what was decided is durable. The next turn does not wait for
 * it. The actor settles every promise it made, at the latest when it lets go.
 */
export interface Turn {
  readonly reply: unknown
  /**
   * read   nothing changes for the reply: whoever waits too long for it asks again
   * early  the reply acknowledges nothing yet: a later one does
   */
  readonly kind?: 'read' | 'early'
}

/**
 * Commands come one at a time; the next one is handed in when the turn before it is returned.
 *
 * A turn that throws a HeddleError has answered its caller and changed nothing. Anything else that
 * it throws is a mistake of ours: the activation ends, the next command makes a new one.
 */
export interface Actor {
  /** Called once, before the first turn. A throw fails every waiting command and ends it. */
  activate(): Promise<void>
  /**
   * `id`: the same for each try of one command, also where an earlier one reached another owner.
   * Whatever the actor leaves for a next owner says which commands are done: one that comes again
   * has no second effect. Undefined where nobody tries again.
   *
   * `gone` aborts when nobody waits for the reply any more: a promise that only waits for
   * something may be broken then, and what the command does is done all the same.
   */
  receive(command: unknown, id?: string, gone?: AbortSignal): Turn | Promise<Turn>
  /** Tells `listener` until the returned function is called. A turn like any other. */
  follow(request: unknown, listener: unknown): Promise<() => void>
  /**
   * True while something goes on or somebody follows: it is not passivated then. Nor is it while
   * a turn is under way, a command waits or a promised reply is to come.
   */
  readonly occupied: boolean
  /**
   * Before `passivate`, where it is occupied: brings what goes on to where another owner can go on
   * with it. Turns are taken meanwhile. Resolves when it is there, or at the deadline.
   */
  rest?(deadline: AbortSignal): Promise<void>
  /**
   * The last call: stop what goes on, let go. `deadline` aborts when there is no more time; it
   * has aborted already where the activation failed. Nothing else lives under this key until it
   * returns. Not called where `activate` threw.
   */
  passivate(deadline: AbortSignal): Promise<void>
}

export interface ActorContext {
  readonly key: ActorKey
  /** Of the shard, as it was when this activation began. */
  readonly epoch: number
  /**
   * Sends a command to itself, as a turn of its own: at once where no other is under way. Never
   * refused as `full`; dropped when the activation is on its way out.
   */
  tell(command: unknown): void
  /**
   * Ends this activation: something it believed is not so. Every command that waits, or whose turn
   * is under way, fails with `reason`. The next command makes a new activation.
   */
  fail(reason: unknown): void
}

export interface ActorKind extends Asked {
  create(context: ActorContext): Actor
}
