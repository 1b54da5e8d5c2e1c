/** Workers that stream: a step that a client has seen is never executed or streamed again. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Client } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'
import { collect } from '../../support/run-events.ts'
import type { Part } from '../../support/run-events.ts'
import { absent } from './chat-workers.ts'
import { settle } from './worker.ts'
import type { LoadWorker } from './worker.ts'

const stepCount = 30
const allSteps = Array.from({ length: stepCount }, (_, index) => index + 1)

/** The steps in the `updates` events among these parts, in order. */
function stepsOf(parts: readonly Part[]): number[] {
  return parts.filter(({ event }) => event === 'updates')
    .flatMap(({ data }) => (data as { step: { done: number[] } }).step.done)
}

/** Streams a run of thirty supersteps, each of which leaves a line in a file. */
export class Streamer implements LoadWorker {
  readonly name: string
  readonly #file: string
  readonly #stays: boolean
  #threadId = ''
  #runId = ''
  #parts: Part[] = []
  /** Steps whose updates had been received when the server died. */
  #seen: readonly number[] = []
  #running = false

  /** If it `stays`, the client reconnects to its stream by itself after the crash. */
  constructor(file: string, stays: boolean) {
    this.name = stays ? 'follower' : 'streamer'
    this.#file = file
    this.#stays = stays
  }

  async act(client: Client, died: AbortSignal): Promise<void> {
    this.#threadId = randomUUID()
    this.#runId = ''
    this.#parts = []
    this.#running = true
    died.addEventListener('abort', () => {
      this.#seen = stepsOf(this.#parts)
    }, { once: true })
    const stream = client.runs.stream(this.#threadId, 'ledger', {
      input: { file: this.#file, tag: this.#threadId, steps: stepCount, pauseMs: 10 },
      streamMode: ['updates'],
      streamResumable: true,
      ifNotExists: 'create',
      config: { recursion_limit: 100 },
      onRunCreated: (run) => {
        this.#runId = run.run_id
      },
      ...!this.#stays && { signal: died },
    })
    for await (const part of stream) this.#parts.push(part as Part)
    if (died.aborted && !this.#stays) return
    this.#running = false
    expect(stepsOf(this.#parts)).toEqual(allSteps)
    if (died.aborted) this.#expectSeenOnce()
  }

  async check(client: Client): Promise<void> {
    if (!this.#running) return
    this.#running = false
    const thread = await client.threads.get(this.#threadId).catch(absent)
    if (thread === undefined) {
      expect(this.#runId).toBe('')
      return
    }
    await settle(client, this.#threadId)
    const [run] = await client.runs.list(this.#threadId)
    if (run === undefined) {
      expect(this.#runId).toBe('')
      return
    }
    expect(run.status).toBe('success')
    if (this.#runId !== '') expect(run.run_id).toBe(this.#runId)
    const { values } = await client.threads.getState<{ done: number[] }>(this.#threadId)
    expect(values.done).toEqual(allSteps)
    this.#expectSeenOnce()
    await this.#expectEmittedOnce(client, run.run_id)
  }

  /** The whole stream has every step once, and its tail begins where the client stopped. */
  async #expectEmittedOnce(client: Client, runId: string): Promise<void> {
    const replay = (lastEventId: string) =>
      collect(client.runs.joinStream(this.#threadId, runId, { lastEventId }))
    expect(stepsOf(await replay('-1'))).toEqual(allSteps)
    const last = this.#parts.findLast(({ event }) => event === 'updates')
    if (last?.id === undefined) return
    expect([...stepsOf(this.#parts), ...stepsOf(await replay(last.id))]).toEqual(allSteps)
  }

  #executions(): number[] {
    return readFileSync(this.#file, 'utf8').split('\n')
      .filter((line) => line.startsWith(`${this.#threadId} `))
      .map((line) => Number(line.split(' ')[1]))
  }

  /** An `updates` event leaves after the append: what was seen is not executed again. */
  #expectSeenOnce(): void {
    const executions = this.#executions()
    for (const step of this.#seen) {
      expect(executions.filter((executed) => executed === step), `step ${step}`).toHaveLength(1)
    }
    for (const step of allSteps) expect(executions).toContain(step)
  }
}
