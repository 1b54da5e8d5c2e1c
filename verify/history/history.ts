/** The history of a verification: calls, faults and effects, one JSON object a line. */

import { createWriteStream } from 'node:fs'
import type { WriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** A request to the server and its response. Times are milliseconds since the start. */
export interface Call {
  readonly type: 'call'
  readonly operation: string
  readonly client: number
  /** The front door that got it. */
  readonly url?: string
  readonly threadId?: string
  readonly projectId?: string
  /** A span that a client posted. */
  readonly spanId?: string
  readonly assistantId?: string
  /** The example, prompt or span that a request about a document of a client concerns. */
  readonly documentId?: string
  /** Set if the caller belongs to another tenant than the clients of the workload. */
  readonly tenant?: 'foreign'
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly startMs: number
  readonly endMs: number
  /** Undefined if the connection broke: the server may or may not have executed the request. */
  readonly status?: number
  /** The run that the response names. */
  readonly runId?: string
  readonly response?: unknown
  /** The header `retry-after`. */
  readonly retryAfter?: string
}

/** The start of the history, by the clock that the servers have. */
export interface Start {
  readonly type: 'start'
  /** Milliseconds since 1970. */
  readonly wallMs: number
  readonly atMs: number
}

/** A fault that was injected. Calls that overlap it may fail. */
export interface Fault {
  readonly type: 'fault'
  readonly name: string
  readonly startMs: number
  readonly endMs: number
}

/** A request of the graph to the receiver of effects. */
export interface Effect {
  readonly type: 'effect'
  readonly name: 'charge' | 'mail' | 'draft'
  readonly token: string
  readonly key: string
  readonly atMs: number
}

/** A webhook that the receiver got: the run, with the status that it names. */
export interface Webhook {
  readonly type: 'webhook'
  readonly runId: string
  readonly status: string
  readonly atMs: number
}

/** A webhook of a run that a cron made. */
export interface Tick {
  readonly type: 'tick'
  /** Token of the request that created the cron. */
  readonly cron: string
  readonly runId: string
  /** Creation of the run, in milliseconds since 1970. */
  readonly wallMs: number
  readonly atMs: number
}

/** The end of the load: no call of the workload follows, and each run has ended or never will. */
export interface Quiet {
  readonly type: 'quiet'
  readonly atMs: number
}

export type Entry = Call | Fault | Effect | Webhook | Tick | Start | Quiet

/** Records the history of one round in memory. The caller provides the clock, in milliseconds. */
export class History {
  readonly entries: Entry[] = []
  readonly #clockMs: () => number
  readonly #startMs: number

  constructor(clockMs: () => number) {
    this.#clockMs = clockMs
    this.#startMs = clockMs()
  }

  /** Milliseconds since the start of the history. */
  nowMs(): number {
    return Math.round((this.#clockMs() - this.#startMs) * 1_000) / 1_000
  }

  add(entry: Entry): void {
    this.entries.push(entry)
  }
}

/** Records the history of one round, in memory and in a file. */
export class HistoryWriter extends History {
  readonly #file: WriteStream

  constructor(file: string) {
    super(() => performance.now())
    this.#file = createWriteStream(file)
  }

  override add(entry: Entry): void {
    super.add(entry)
    this.#file.write(`${JSON.stringify(entry)}\n`)
  }

  /** Resolves when all entries are in the file. */
  close(): Promise<void> {
    return new Promise((resolve) => this.#file.end(resolve))
  }
}

/** Reads a history. Throws if a line is no JSON. */
export async function readHistory(file: string): Promise<Entry[]> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry)
}
