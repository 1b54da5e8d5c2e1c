/**
 * How somebody who watches knows what belongs together, also where it goes on in another member:
 * what is under way has a name, an opaque text that travels along.
 */

/** The facts of an episode: few, short, and nobody's secrets. */
export type EpisodeFacts = Readonly<Record<string, string | number>>

export interface EpisodeStart {
  /** One of few: it has no ids in it. */
  readonly name: string
  /**
   * server  begun by a message from outside
   * client  waits for somebody else
   * inner   anything else; so it is, unless told
   */
  readonly kind?: 'server' | 'client' | 'inner'
  /** The trace of what it is part of: of what is under way here, unless told. */
  readonly parent?: string
  readonly facts?: EpisodeFacts
}

/** Something that begins and ends. */
export interface Episode {
  /** By which it is known elsewhere. */
  readonly trace: string
  /** What `work` begins, and all that follows from it, is part of this. */
  within<Result>(work: () => Result): Result
  /** Called once. `failure`: why it failed, in a word or a sentence. */
  end(facts?: EpisodeFacts, failure?: string): void
}

export interface Tracing {
  /** The trace of what is under way here; empty where nothing is that is watched. */
  current(): string
  begin(start: EpisodeStart): Episode
}

/** Does `work` as an episode; as it is, where nobody watches. */
export function watched<Result>(tracing: Tracing | undefined, start: EpisodeStart,
  work: () => Promise<Result>): Promise<Result> {
  if (tracing === undefined) return work()
  const episode = tracing.begin(start)
  const done = episode.within(work)
  done.then(() => episode.end(), (error: unknown) => episode.end({}, codeOf(error)))
  return done
}

/** A message may hold what is not ours to show. */
function codeOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === 'string' ? code : String(name)
}

/** What a command calls itself, where it does. */
export function titleOf(command: unknown): string {
  const { type } = (command ?? {}) as { readonly type?: unknown }
  return typeof type === 'string' ? ` ${type}` : ''
}
