/**
 * Tracing: which work belongs together, also if it continues in another member. Each span of
 * work has a trace, an opaque text that is sent along.
 */

/** The details of a span: few, short, and without secrets. */
export type SpanDetails = Readonly<Record<string, string | number>>

/** Details of a span at its begin. */
export interface SpanStart {
  /** One of a few: it contains no ids. */
  readonly name: string
  /**
   * server  begun by a message from outside
   * client  waits for another process
   * inner   anything else; the default
   */
  readonly kind?: 'server' | 'client' | 'inner'
  /** The trace that it is part of; by default, that of the current span. */
  readonly parent?: string
  readonly details?: SpanDetails
}

/** Something that begins and ends. */
export interface TraceSpan {
  /** Identifies it, also in other members. */
  readonly trace: string
  /** Calls `work`; it and all that follows from it are part of this span. */
  within<Result>(work: () => Result): Result
  /** Called once. `failure`: why it failed, in a word or a sentence. */
  end(details?: SpanDetails, failure?: string): void
}

/** Begins spans. The cluster knows of no exporter. */
export interface Tracing {
  /** The trace of the current span; empty if there is none. */
  current(): string
  /** A span that has begun. Whoever began it ends it. */
  begin(start: SpanStart): TraceSpan
}

/** Does `work` as a span; without one if nothing is traced. */
export function withSpan<Result>(tracing: Tracing | undefined, start: SpanStart,
  work: () => Promise<Result>): Promise<Result> {
  if (tracing === undefined) return work()
  const span = tracing.begin(start)
  const done = span.within(work)
  done.then(() => span.end(), (error: unknown) => span.end({}, codeOf(error)))
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
