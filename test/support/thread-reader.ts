/** A follower of a whole thread that remembers what it got. */

import type { ThreadClient, ThreadEvent, ThreadEventListener } from '../../src/thread/index.ts'

/** What one follow has sent. */
export class ThreadReader implements ThreadEventListener {
  readonly all: ThreadEvent[] = []
  readonly ends: string[] = []
  stop = () => {}
  ready?: () => Promise<void> | undefined

  events(batch: readonly ThreadEvent[]): void {
    this.all.push(...batch)
  }
  ended(how: string): void {
    this.ends.push(how)
  }

  get ids(): string[] {
    return this.all.map(({ id }) => id)
  }

  /** Each event in short: its method, and the `event` or the id in its data. */
  get lines(): string[] {
    return this.all.map(({ method, data }) => {
      const parsed = JSON.parse(data) as { event?: string }
      return parsed?.event === undefined ? method : `${method} ${parsed.event}`
    })
  }
}

/** Follows a thread of the tenant `t`. */
export async function readThread(client: ThreadClient, threadId: string,
  afterSeq: number | null = null, ifMissing: 'wait' | 'reject' = 'wait'): Promise<ThreadReader> {
  const reader = new ThreadReader()
  reader.stop = await client.followThread('t', threadId, { afterSeq, ifMissing }, reader)
  return reader
}
