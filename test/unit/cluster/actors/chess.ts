/** Actors for the tests of cluster/: games that behave as each command says. */

import type { Actor, ActorContext, ActorKey, ActorKind, Turn } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../../src/errors.ts'

/**
 * move      a turn of one tick
 * ponder    a turn that takes a while
 * publish   a turn of one tick whose reply takes a while
 * illegal   refused: nothing changes
 * blunder   a bug in the game's own code
 * resign    the game fails its own activation and answers
 * retell    the game tells itself a move
 */
export type Command = 'move' | 'ponder' | 'publish' | 'illegal' | 'blunder' | 'resign' | 'retell'

/** How a test controls its games. */
export interface Table {
  /** Passes some time. */
  pause(): Promise<void>
  /** Called in `activate`; may throw. */
  begin?(): void
  /** Resolves when what is in progress has come to rest. */
  rest?(deadline: AbortSignal): Promise<void>
}

/** All lives of the games of a test; throws if two lives of one key overlap. */
export class Chess {
  readonly lives: Game[] = []
  readonly #alive = new Map<string, Game>()
  readonly #table: Table

  constructor(table: Table) {
    this.#table = table
  }

  get kind(): ActorKind {
    return { name: 'game', create: (context) => new Game(context, this.#table, this) }
  }

  begun(game: Game): void {
    const before = this.#alive.get(game.key.id)
    if (before !== undefined) throw new Error(`game ${game.key.id} lives twice`)
    this.#alive.set(game.key.id, game)
    this.lives.push(game)
  }

  ended(game: Game): void {
    this.#alive.delete(game.key.id)
  }

  /** The life of this key that is not over. */
  alive(id: string): Game | undefined {
    return this.#alive.get(id)
  }
}

export class Game implements Actor {
  occupied = false
  moves = 0
  readonly received: Command[] = []
  readonly watchers = new Set<(move: number) => void>()
  /** Aborts when nobody waits for the last reply any more. */
  cancelled: AbortSignal | undefined
  readonly context: ActorContext
  /** How it ended: with time to come to rest, or at once. */
  end: 'peace' | 'at once' | undefined
  readonly #table: Table
  readonly #chess: Chess
  #turning = false

  constructor(context: ActorContext, table: Table, chess: Chess) {
    this.context = context
    this.#table = table
    this.#chess = chess
  }

  get key(): ActorKey {
    return this.context.key
  }

  async activate(): Promise<void> {
    this.#chess.begun(this)
    try {
      await this.#table.pause()
      this.#table.begin?.()
    } catch (error) {
      this.#chess.ended(this)
      throw error
    }
  }

  receive(command: unknown, _id?: string, cancelled?: AbortSignal): Turn | Promise<Turn> {
    this.received.push(command as Command)
    this.cancelled = cancelled
    if (this.#turning) throw new Error('two turns at once')
    const move = ++this.moves
    for (const watcher of this.watchers) watcher(move)
    switch (command as Command) {
      case 'ponder':
        return this.#ponder(move)
      case 'publish':
        return { reply: this.#table.pause().then(() => move) }
      case 'illegal':
        throw new HeddleError('rejected')
      case 'blunder':
        throw new RangeError('a bug of the game')
      case 'resign':
        this.context.fail(new HeddleError('stale_append'))
        break
      case 'retell':
        this.context.notify('move')
        break
      case 'move':
        break
    }
    return { reply: move }
  }

  async follow(_request: unknown, listener: unknown): Promise<() => void> {
    const watcher = listener as (move: number) => void
    this.watchers.add(watcher)
    this.occupied = true
    return () => {
      this.watchers.delete(watcher)
      this.occupied = this.watchers.size > 0
    }
  }

  async rest(deadline: AbortSignal): Promise<void> {
    await this.#table.rest?.(deadline)
  }

  async passivate(deadline: AbortSignal): Promise<void> {
    this.end = deadline.aborted ? 'at once' : 'peace'
    await this.#table.pause()
    this.#chess.ended(this)
  }

  async #ponder(move: number): Promise<Turn> {
    this.#turning = true
    await this.#table.pause()
    this.#turning = false
    return { reply: move }
  }
}

export function game(id: string): ActorKey {
  return { kind: 'game', tenant: 'local', id }
}
