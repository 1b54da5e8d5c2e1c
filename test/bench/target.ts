/** What is measured: one chat graph, in process or behind HTTP, with the same interface. */

export interface StreamTimes {
  /** From the request to the first event that was read. */
  readonly firstMs: number
  /** From the request to the end of the stream. */
  readonly totalMs: number
}

/** A way to run the echo graph. A thread begins with its first run. */
export interface Target {
  readonly name: string
  /** One turn; resolves when the final state has been read. */
  wait(threadId: string, text: string): Promise<void>
  /** One turn, streamed as `updates`. */
  stream(threadId: string, text: string): Promise<StreamTimes>
  /** Forgets every thread, if it can. */
  reset(): void
}

export const graphId = 'echo'

/** The input of one turn. */
export function turn(text: string) {
  return { messages: [{ role: 'user', content: text }] }
}
