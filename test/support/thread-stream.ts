/** A thread as the official client streams it by protocol v2, and all events that it has seen. */

import type { Client } from '@langchain/langgraph-sdk'
import { expect, onTestFinished } from 'vitest'

/** An event of protocol v2 as the client passes it on. */
export interface SeenEvent {
  readonly event_id: string
  readonly seq: number
  readonly method: string
  readonly params: { readonly namespace: string[]; readonly timestamp: number;
    readonly node?: string; readonly data: Record<string, unknown> }
}

/** How the events come. */
export type StreamTransport = 'sse' | 'websocket'

/** All channels. */
export const allChannels = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input',
  'checkpoints', 'tasks', 'custom'] as const

/** The status of a root run that has ended. */
export type RootEnd = 'completed' | 'failed' | 'interrupted'

const ends: readonly unknown[] = ['completed', 'failed', 'interrupted']

/** The client's stream of a thread. It is closed after the test. */
export class WatchedThread {
  readonly stream: ReturnType<Client['threads']['stream']>
  readonly events: SeenEvent[] = []

  constructor(client: Client, threadId: string, assistantId: string, transport: StreamTransport) {
    this.stream = client.threads.stream(threadId, { assistantId, transport })
    this.stream.onEvent((event) => void this.events.push(event as unknown as SeenEvent))
    onTestFinished(() => this.stream.close())
  }

  /** Subscribes to channels, by default all of them. */
  async subscribe(channels: readonly string[] = allChannels): Promise<void> {
    await this.stream.subscribe({ channels: [...channels] } as never)
  }

  /** Starts a run, and resolves with its id. */
  async start(input: unknown, params: object = {}): Promise<string> {
    const { run_id } = await this.stream.run.start({ input, ...params } as never)
    return run_id!
  }

  /** Resolves with the way in which the run ended, when all of its events have been seen. */
  async ended(runId: string): Promise<RootEnd> {
    const found = () =>
      this.rootEvents(runId).map(({ params }) => params.data.event)
        .find((event) => ends.includes(event))
    await expect.poll(found).toBeDefined()
    return found() as RootEnd
  }

  /** Root lifecycle events of a run, in order. */
  rootEvents(runId: string): SeenEvent[] {
    return this.events.filter(({ method, params, event_id }) =>
      method === 'lifecycle' && params.namespace.length === 0 &&
      event_id.startsWith(`synth:${runId}:`)
    )
  }

  /** Data of all events of a method, at the root or everywhere. */
  dataOf(method: string, namespace?: readonly string[]): Record<string, unknown>[] {
    return this.events.filter((event) =>
      event.method === method &&
      (namespace === undefined || event.params.namespace.join('|') === namespace.join('|'))
    ).map(({ params }) => params.data)
  }
}
