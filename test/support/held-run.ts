/** A run of the graph `held` that waits in its middle node, with the step before it durable. */

import type { Client } from '@langchain/langgraph-sdk'
import type { Gate } from './gate.ts'
import { say, StreamReader } from './run-events.ts'

/** A waiting run. */
export interface HeldRun {
  readonly runId: string
  /** The text of its human message. */
  readonly text: string
  /** Its stream of updates, read up to the update of the first node. */
  readonly stream: StreamReader
}

/** How the run waits, and what else it is started with. */
export interface HoldOptions {
  /** `stubborn` ignores a cancellation. */
  readonly how?: 'hold' | 'stubborn'
  readonly payload?: Parameters<Client['runs']['stream']>[2]
}

/** Starts the run and waits until it waits. */
export async function startHeld(client: Client, threadId: string, gate: Gate,
  { how = 'hold', payload = {} }: HoldOptions = {}): Promise<HeldRun> {
  const text = `${how} ${gate.url}`
  let runId = ''
  const stream = new StreamReader(client.runs.stream(threadId, 'held', {
    input: say(text),
    streamMode: ['updates'],
    onRunCreated: (created) => {
      runId = created.run_id
    },
    ...payload,
  }))
  await stream.until((part) => part.event === 'updates')
  await gate.arrived()
  return { runId, text, stream }
}
