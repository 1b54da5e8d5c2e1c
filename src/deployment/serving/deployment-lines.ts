/** The last lines that the code of deployments wrote on this member, in memory. */

import { lineMax } from '../../graph/index.ts'

/** A line that code wrote. */
export interface DeploymentLine {
  /** The member that it was written on. */
  readonly member: string
  /**
   * Number of the line, from 1, for this deployment on this member. Lines before its start have
   * less.
   */
  readonly seq: number
  readonly atMs: number
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly revision: string
  readonly text: string
  /** The run that wrote it; null outside of runs. */
  readonly thread_id: string | null
  readonly run_id: string | null
}

/** Choice of lines of a deployment. */
export interface LineQuery {
  /** Number after which lines are wanted … */
  readonly after?: number
  /** … or time from which on they are, in milliseconds since 1970. */
  readonly sinceMs?: number
  /** Time up to which they are, in milliseconds since 1970. */
  readonly untilMs?: number
  /** A text that is in them, in small or capital letters. */
  readonly q?: string
  readonly revision?: string
  /** Lowest level of the wanted lines. */
  readonly level?: DeploymentLine['level']
  readonly limit: number
}

/** Bounds of what is kept of a deployment. */
const kept = { lines: 5_000, bytes: 4 * 1024 * 1024 } as const
/** Bytes that a line takes beside its text. */
const bytesOfLine = 256

const levels: readonly DeploymentLine['level'][] = ['debug', 'info', 'warn', 'error']

/** A line before it has a number. */
export type NewLine = Omit<DeploymentLine, 'member' | 'seq'>

/** The last lines of one deployment. */
export class DeploymentLines {
  readonly #member: string
  #lines: DeploymentLine[] = []
  #bytes = 0
  #lastSeq = 0

  constructor(member: string) {
    this.#member = member
  }

  /** Puts lines from before the start in front of all others. */
  restore(lines: readonly NewLine[]): void {
    const restored = lines.slice(-kept.lines / 2)
      .map((line, index, all) => ({ ...line, member: this.#member, seq: index + 1 - all.length }))
    this.#lines.unshift(...restored)
    for (const line of restored) this.#bytes += bytesOf(line)
    if (this.#lines.length > kept.lines || this.#bytes > kept.bytes) this.#drop()
  }

  /** Returns the line as it is kept. */
  add(line: NewLine): NewLine {
    const text = line.text.length > lineMax ? `${line.text.slice(0, lineMax - 1)}…` : line.text
    const added = { ...line, text, member: this.#member, seq: ++this.#lastSeq }
    this.#lines.push(added)
    this.#bytes += bytesOf(added)
    if (this.#lines.length > kept.lines || this.#bytes > kept.bytes) this.#drop()
    return { ...line, text }
  }

  /** The oldest first. With `after` the next ones, otherwise the last ones. */
  read(query: LineQuery): readonly DeploymentLine[] {
    const { after, limit } = query
    const isMeant = lineCondition(query)
    const found = this.#lines.filter((line) =>
      (after === undefined || line.seq > after) && isMeant(line)
    )
    return after === undefined
      ? found.slice(Math.max(0, found.length - limit))
      : found.slice(0, limit)
  }

  /** Drops a tenth of the lines at once, because each drop moves all that stay. */
  #drop(): void {
    let [dropped, bytes] = [0, this.#bytes]
    const few = this.#lines.length > kept.lines ? Math.floor(kept.lines / 10) : 0
    for (; dropped < few || bytes > kept.bytes; dropped++) bytes -= bytesOf(this.#lines[dropped]!)
    this.#lines = this.#lines.slice(dropped)
    this.#bytes = bytes
  }
}

/** The condition of a query, apart from the numbers of lines. */
export function lineCondition(
  { sinceMs = 0, untilMs = Infinity, q, revision, level = 'debug' }: Omit<LineQuery, 'limit'>,
): (line: DeploymentLine) => boolean {
  const wanted = levels.slice(levels.indexOf(level))
  const text = q?.toLowerCase()
  return (line) =>
    line.atMs >= sinceMs && line.atMs <= untilMs && wanted.includes(line.level)
    && (revision === undefined || line.revision === revision)
    && (text === undefined || line.text.toLowerCase().includes(text))
}

function bytesOf({ text }: DeploymentLine): number {
  return bytesOfLine + 2 * text.length
}
