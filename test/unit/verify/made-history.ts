/** Builds histories for tests of the checker. */

import type { Call, Entry } from '../../../verify/history/history.ts'

/** A history on thread `t`: each call lasts one millisecond and starts after the one before. */
export class History {
  readonly entries: Entry[] = []
  #nowMs = 0

  call(operation: string, fields: Partial<Call> = {}): this {
    this.entries.push({ type: 'call', operation, client: 0, threadId: 't', method: 'GET', path: '/',
      status: 200, startMs: this.#nowMs, endMs: this.#nowMs + 1, ...fields })
    this.#nowMs += 2
    return this
  }

  create(id = 't'): this {
    return this.call('thread.create', { threadId: undefined, response: { thread_id: id } })
  }

  run(token: string, { action = 'plain', runId = token, ...fields }: {
    readonly action?: string
    readonly strategy?: string
  } & Partial<Call> = {}): this {
    const body = { input: { task: { token, action } }, multitask_strategy: fields.strategy }
    return this.call('run.create', { body, runId, ...fields })
  }

  resume(token: string, question: string): this {
    return this.call('run.resume', { runId: token,
      body: { command: { resume: { i: token } }, metadata: { question } } })
  }

  view(runId: string, status: string): this {
    const path = `/threads/t/runs/${runId}`
    return status === 'gone'
      ? this.call('run.get', { path, status: 404 })
      : this.call('run.get', { path, response: { status } })
  }

  state(...log: string[]): this {
    return this.call('thread.state', { response: { values: { log } } })
  }

  quiet(): this {
    this.entries.push({ type: 'quiet', atMs: this.#nowMs })
    return this
  }

  effect(name: 'charge' | 'mail' | 'draft', token: string, key: string): this {
    this.entries.push({ type: 'effect', name, token, key, atMs: this.#nowMs })
    return this
  }

  webhook(runId: string, status: string): this {
    this.entries.push({ type: 'webhook', runId, status, atMs: this.#nowMs })
    return this
  }

  /** Sets the time of day at the start of the history. */
  startAt(wallMs: number): this {
    this.entries.push({ type: 'start', wallMs, atMs: 0 })
    return this
  }

  wait(ms: number): this {
    this.#nowMs += ms
    return this
  }

  tick(cron: string, runId: string, wallMs: number): this {
    this.entries.push({ type: 'tick', cron, runId, wallMs, atMs: this.#nowMs })
    return this
  }

  search(...ids: string[]): this {
    return this.call('thread.search', { threadId: undefined, body: { sort_by: 'thread_id' },
      response: ids.map((id) => ({ thread_id: id })) })
  }
}
