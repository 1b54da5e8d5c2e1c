/** The last lines of runs that this member executed, in memory and within bounds. */

import { keptOfRun, lineBytes, lineMax } from './run-line.ts'
import type { WrittenLine, WrittenLines } from './run-line.ts'

/** Full name of a run, under which its lines are kept. */
export interface LoggedRun {
  readonly tenant: string
  readonly threadId: string
  readonly runId: string
}

/** A line as it is kept. `seq` counts the lines of the run, from 1. */
export interface LoggedLine extends WrittenLine {
  readonly seq: number
  readonly attempt: number
}

/** Choice of lines: up to `limit` after the number `after`, or the last ones without it. */
export interface LinePage {
  readonly limit: number
  readonly after?: number | undefined
}

/** Lines of a run, oldest first. */
export interface LoggedLines {
  readonly lines: readonly LoggedLine[]
  /** Lines of the run that were written and are not kept any more. */
  readonly dropped: number
  /** True if more lines are kept than the page has. */
  readonly truncated: boolean
}

interface Kept extends LoggedRun {
  lines: LoggedLine[]
  bytes: number
  lastSeq: number
  dropped: number
}

/** Bounds of what all runs, and those of one tenant, keep. */
export interface LogLimits {
  readonly bytes: number
  readonly bytesOfTenant: number
}

const mebibyte = 1024 * 1024
const logLimits: LogLimits = { bytes: 32 * mebibyte, bytesOfTenant: 8 * mebibyte }

/** Bytes of a run beside its lines. */
const bytesOfRun = 512

/** Keeps the last lines of each run. Runs that wrote nothing for longest are forgotten first. */
export class RunLogs {
  readonly #limits: LogLimits
  /** By name, the one that wrote last comes last. */
  readonly #runs = new Map<string, Kept>()
  readonly #tenants = new Map<string, number>()
  #bytes = 0

  constructor(limits = logLimits) {
    this.#limits = limits
  }

  /** Bytes of everything that is kept. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds lines of an attempt. */
  add(run: LoggedRun & { readonly attempt: number }, { lines, dropped }: WrittenLines): void {
    const kept = this.#newest(run)
    kept.lastSeq += dropped
    kept.dropped += dropped
    for (const { text, ...line } of lines) {
      const added = { ...line, text: text.slice(0, lineMax), seq: ++kept.lastSeq,
        attempt: run.attempt }
      kept.lines.push(added)
      this.#count(kept, lineBytes(added))
    }
    let surplus = 0
    let { bytes } = kept
    for (; kept.lines.length - surplus > keptOfRun.lines || bytes > keptOfRun.bytes; surplus++) {
      bytes -= lineBytes(kept.lines[surplus]!)
    }
    kept.lines.splice(0, surplus)
    kept.dropped += surplus
    this.#count(kept, bytes - kept.bytes)
    this.#forgetOldest(run.tenant)
  }

  /** Nothing for a run that wrote nothing here, or whose lines were forgotten. */
  read(run: LoggedRun, { limit, after }: LinePage): LoggedLines {
    const { lines = [], dropped = 0 } = this.#runs.get(nameOf(run)) ?? {}
    const later = after === undefined ? lines : lines.filter(({ seq }) => seq > after)
    const page = after === undefined ? later.slice(-limit) : later.slice(0, limit)
    return { lines: page, dropped, truncated: page.length < later.length }
  }

  #newest({ tenant, threadId, runId }: LoggedRun): Kept {
    const name = nameOf({ tenant, threadId, runId })
    const kept = this.#runs.get(name)
      ?? { tenant, threadId, runId, lines: [], bytes: 0, lastSeq: 0, dropped: 0 }
    if (!this.#runs.delete(name)) this.#count(kept, bytesOfRun)
    this.#runs.set(name, kept)
    return kept
  }

  #count(kept: Kept, bytes: number): void {
    kept.bytes += bytes
    this.#bytes += bytes
    const ofTenant = (this.#tenants.get(kept.tenant) ?? 0) + bytes
    if (ofTenant > 0) this.#tenants.set(kept.tenant, ofTenant)
    else this.#tenants.delete(kept.tenant)
  }

  #forgetOldest(tenant: string): void {
    const { bytes, bytesOfTenant } = this.#limits
    for (const [name, kept] of this.#runs) {
      const isOver = (this.#tenants.get(tenant) ?? 0) > bytesOfTenant
      if (!isOver && this.#bytes <= bytes) return
      if (this.#bytes <= bytes && kept.tenant !== tenant) continue
      this.#runs.delete(name)
      this.#count(kept, -kept.bytes)
    }
  }
}

function nameOf({ tenant, threadId, runId }: LoggedRun): string {
  return `${tenant}\n${threadId}\n${runId}`
}
