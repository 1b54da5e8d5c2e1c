/** Takes what the code of runs writes to the console, inside a worker. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { formatWithOptions } from 'node:util'

import { namesIn } from '../../json/index.ts'
import { keptOfRun, lineBytes, lineMax } from './run-line.ts'
import type { LineLevel, WrittenLine, WrittenLines } from './run-line.ts'

/** Ports of a capture: the way out of the worker, the current node, and the filter of secrets. */
export interface LineCaptureParts {
  /** Sends lines of a job. */
  send(job: number, lines: WrittenLines): void
  /** Calls `flush` before messages are sent the next time. */
  schedule(flush: () => void): void
  nowMs(): number
  /** The node whose code is executed now. */
  node(): string | undefined
  /** Hides secrets. */
  hide(text: string): string
  /** False if lines of jobs are taken only, and not printed as well. */
  readonly printsJobs?: boolean
}

/** A log with one function for each level. */
export type LineLog = Readonly<Record<LineLevel, (text: string) => void>>

/** The console's own way to print. */
type Print = (...words: readonly unknown[]) => void

const methods = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error' } as const

/** Lines of one job that were not sent yet. */
class OpenLines {
  readonly job: number
  #lines: WrittenLine[] = []
  #bytes = 0
  #dropped = 0

  constructor(job: number) {
    this.job = job
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0
  }

  /** Keeps no more than is kept of a run. */
  add(line: WrittenLine): void {
    this.#lines.push(line)
    this.#bytes += lineBytes(line)
    while (this.#lines.length > keptOfRun.lines || this.#bytes > keptOfRun.bytes) {
      this.#bytes -= lineBytes(this.#lines.shift()!)
      this.#dropped += 1
    }
  }

  take(): WrittenLines {
    const taken = { lines: this.#lines, dropped: this.#dropped }
    this.#lines = []
    this.#bytes = this.#dropped = 0
    return taken
  }
}

/** Costs nothing until something is printed, and then a message beside what is printed. */
export class LineCapture {
  readonly #parts: LineCaptureParts
  readonly #running = new AsyncLocalStorage<OpenLines>()

  constructor(parts: LineCaptureParts) {
    this.#parts = parts
  }

  /** Takes what is printed on this console as well. */
  watch(console: Record<keyof typeof methods, Print>): void {
    for (const method of namesIn(methods)) {
      const level = methods[method]
      const print = console[method].bind(console)
      console[method] = (...words) => {
        if (this.#prints) print(...words)
        this.take(level, ...words)
      }
    }
  }

  /** True if what is written now is to be printed. */
  get #prints(): boolean {
    return this.#parts.printsJobs !== false || this.#running.getStore() === undefined
  }

  /** A log that is written to, and whose lines are taken as well. */
  over(log: LineLog): LineLog {
    const writer = (level: LineLevel) => (text: string) => {
      if (this.#prints) log[level](text)
      this.take(level, text)
    }
    return { debug: writer('debug'), info: writer('info'), warn: writer('warn'),
      error: writer('error') }
  }

  /** Does work whose lines are those of the job. They are sent before it resolves. */
  async during<Result>(job: number, work: () => Promise<Result>): Promise<Result> {
    const open = new OpenLines(job)
    try {
      return await this.#running.run(open, work)
    } finally {
      this.#flush(open)
    }
  }

  /** Takes a line of the job whose code runs now. Never throws. */
  take(level: LineLevel, ...words: readonly unknown[]): void {
    const open = this.#running.getStore()
    if (open === undefined) return
    const { nowMs, schedule, node: nodeNow } = this.#parts
    const node = quietly(nodeNow)
    const text = this.#textOf(words)
    if (open.isEmpty) schedule(() => this.#flush(open))
    open.add({ atMs: nowMs(), level, text, ...node !== undefined && { node } })
  }

  #textOf(words: readonly unknown[]): string {
    const text = quietly(() => formatWithOptions({ breakLength: Infinity }, ...words)) ?? ''
    // Secrets are hidden before the cut, which may fall into the middle of one.
    const shown = this.#parts.hide(text.slice(0, 2 * lineMax))
    return shown.length > lineMax || text.length > 2 * lineMax
      ? `${shown.slice(0, lineMax - 1)}…`
      : shown
  }

  #flush(open: OpenLines): void {
    if (!open.isEmpty) this.#parts.send(open.job, open.take())
  }
}

/** Result of `read`; undefined if user code throws while its value is printed. */
function quietly<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
