/**
 * Tracing: which work belongs together, also if it continues in another member. Each episode of
 * work has a trace, an opaque text that is sent along.
 */

/** The facts of an episode: few, short, and without secrets. */
export type EpisodeFacts = Readonly<Record<string, string | number>>

export interface EpisodeStart {
  /** One of a few: it contains no ids. */
  readonly name: string
  /**
   * server  begun by a message from outside
   * client  waits for somebody else
   * inner   anything else; the default
   */
  readonly kind?: 'server' | 'client' | 'inner'
  /** The trace that it is part of; by default, that of the current episode. */
  readonly parent?: string
  readonly facts?: EpisodeFacts
}

/** Something that begins and ends. */
export interface Episode {
  /** Identifies it, also in other members. */
  readonly trace: string
  /** What `work` begins, and all that follows from that, is part of this episode. */
  within<Result>(work: () => Result): Result
  /** Called once. `failure`: why it failed, in a word or a sentence. */
  end(facts?: EpisodeFacts, failure?: string): void
}

export interface Tracing {
  /** The trace of the current episode; empty if there is none. */
  current(): string
  begin(start: EpisodeStart): Episode
}

/** Does `work` as an episode; without one if nothing is traced. */
export function watched<Result>(tracing: Tracing | undefined, start: EpisodeStart,
  work: () => Promise<Result>): Promise<Result> {
  if (tracing === undefined) return work()
  const episode = tracing.begin(start)
  const done = episode.within(work)
  done.then(() => episode.end(), (error: unknown) => episode.end({}, codeOf(error)))
  return done
}

/** Only the code or name: a message may contain private data. */
function codeOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === 'string' ? code : String(name)
}

/** The type of a command, if it has one. */
export function titleOf(command: unknown): string {
  const { type } = (command ?? {}) as { readonly type?: unknown }
  return typeof type === 'string' ? ` ${type}` : ''
}
