/** Workers that chat: waited runs, background runs, interrupts and their answers. */

import { randomUUID } from 'node:crypto'
import type { Client } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'
import { say, texts } from '../../support/run-events.ts'
import { settle } from './worker.ts'
import type { LoadWorker } from './worker.ts'

const echoed = (words: readonly string[]) => words.flatMap((word) => [word, `echo: ${word}`])

/** Sends one message after the other to one thread and waits for each answer. */
export class Waiter implements LoadWorker {
  readonly name = 'waiter'
  readonly #threadId = randomUUID()
  readonly #said: string[] = []
  #doubt: string | undefined

  async act(client: Client): Promise<void> {
    this.#doubt = `w${this.#said.length} ${randomUUID()}`
    const values = await client.runs.wait(this.#threadId, 'echo', { input: say(this.#doubt),
      ifNotExists: 'create' })
    this.#said.push(this.#doubt)
    this.#doubt = undefined
    expect(texts(values)).toEqual(echoed(this.#said))
  }

  async check(client: Client): Promise<void> {
    const thread = await client.threads.get(this.#threadId).catch(absent)
    if (thread === undefined && this.#said.length === 0) return
    await settle(client, this.#threadId)
    const found = texts((await client.threads.get(this.#threadId)).values)
    if (this.#doubt !== undefined && found.includes(this.#doubt)) this.#said.push(this.#doubt)
    this.#doubt = undefined
    expect(found).toEqual(echoed(this.#said))
    const { values } = await client.threads.getState(this.#threadId)
    expect(texts(values)).toEqual(found)
  }
}

/** Queues several runs at a time on one thread, in the background. */
export class Queuer implements LoadWorker {
  readonly name = 'queuer'
  #threadId = randomUUID()
  #made = false
  #runs: { runId: string; word: string }[] = []
  #doubt: string | undefined

  async act(client: Client): Promise<void> {
    if (!this.#made) await this.#make(client)
    for (let n = 0; n < 3; n += 1) {
      this.#doubt = randomUUID()
      const run = await client.runs.create(this.#threadId, 'echo', { input: say(this.#doubt) })
      this.#runs.push({ runId: run.run_id, word: this.#doubt })
      this.#doubt = undefined
    }
    await client.runs.join(this.#threadId, this.#runs.at(-2)!.runId)
  }

  async check(client: Client): Promise<void> {
    if (!this.#made) return
    await settle(client, this.#threadId)
    const found = texts((await client.threads.get(this.#threadId)).values)
    const words = this.#runs.map(({ word }) => word)
    if (this.#doubt !== undefined && found.includes(this.#doubt)) words.push(this.#doubt)
    expect(found).toEqual(echoed(words))
    for (const { runId } of this.#runs) {
      expect(await client.runs.get(this.#threadId, runId)).toMatchObject({ status: 'success' })
    }
    this.#made = false
    this.#threadId = randomUUID()
    this.#runs = []
    this.#doubt = undefined
  }

  async #make(client: Client): Promise<void> {
    await client.threads.create({ threadId: this.#threadId, ifExists: 'do_nothing' })
    this.#made = true
  }
}

/** Runs a graph that interrupts, and answers it. */
export class Asker implements LoadWorker {
  readonly name = 'asker'
  #threadId = randomUUID()
  #stage: 'new' | 'asking' | 'asked' | 'answering' | 'answered' = 'new'

  async act(client: Client): Promise<void> {
    if (this.#stage === 'new' || this.#stage === 'answered') {
      this.#threadId = randomUUID()
      this.#stage = 'asking'
      await client.runs.wait(this.#threadId, 'ask', { input: { question: 'q' },
        ifNotExists: 'create' })
      this.#stage = 'asked'
    } else {
      this.#stage = 'answering'
      await client.runs.wait(this.#threadId, 'ask', { command: { resume: 'yes' } })
      this.#stage = 'answered'
    }
  }

  async check(client: Client): Promise<void> {
    const thread = await client.threads.get(this.#threadId).catch(absent)
    if (thread === undefined) {
      expect(this.#stage).toBeOneOf(['new', 'asking'])
      this.#stage = 'new'
      return
    }
    await settle(client, this.#threadId)
    const { status, values, interrupts } = await client.threads.get(this.#threadId)
    const runs = await client.runs.list(this.#threadId)
    if (this.#stage === 'asking') this.#stage = runs.length === 0 ? 'new' : 'asked'
    if (this.#stage === 'answering') this.#stage = status === 'idle' ? 'answered' : 'asked'
    if (this.#stage === 'asked') {
      expect(status).toBe('interrupted')
      expect(Object.values(interrupts).flat()).toMatchObject([{ value: { question: 'q' } }])
    }
    if (this.#stage === 'answered') {
      expect({ status, values }).toMatchObject(
        { status: 'idle', values: { answers: ['yes', 'after'] } },
      )
    }
  }
}

/** A 404 becomes undefined; any other error is rethrown. */
export function absent(caught: unknown): undefined {
  if ((caught as { status?: number }).status !== 404) throw caught
}
