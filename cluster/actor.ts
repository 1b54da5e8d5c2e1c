/** An actor: state behind a mailbox, one turn at a time. What the substrate hosts. */

import type { ActorKey } from './actor-key.ts'

/**
 * What a turn leaves behind. The turn is over when the decision is made; the reply may follow
 * later, when what was decided is durable. The next turn does not wait for it.
 */
export interface Turn {
  readonly reply: unknown
}

/** Commands come one at a time; the next one is handed in when the turn before it is returned. */
export interface Actor {
  /** Called once, before the first turn. A throw fails every waiting command and ends it. */
  activate(): Promise<void>
  receive(command: unknown): Turn | Promise<Turn>
  /** Tells `listener` until the returned function is called. A turn like any other. */
  follow(request: unknown, listener: unknown): Promise<() => void>
  /** True while something runs or somebody follows: it is not passivated then. */
  readonly occupied: boolean
  /** The last call: stop what runs, let go. `deadline` aborts when there is no more time. */
  passivate(deadline: AbortSignal): Promise<void>
}

export interface ActorContext {
  readonly key: ActorKey
  /** Of the shard, as it was when this activation began. */
  readonly epoch: number
  /** Sends a command to itself, as a turn of its own. */
  tell(command: unknown): void
  /** Ends this activation: something it believed is not so. The next command makes a new one. */
  fail(reason: unknown): void
}

export interface ActorKind {
  readonly name: string
  create(context: ActorContext): Actor
}
