/** A line that the code of a run wrote to its console or to its logger. */

/** Levels of lines: the console method or the logger method that wrote the line. */
export const lineLevels = ['debug', 'info', 'warn', 'error'] as const
/** One of the levels, from `debug` to `error`. */
export type LineLevel = typeof lineLevels[number]

/** A line as its worker sends it. */
export interface WrittenLine {
  readonly atMs: number
  readonly level: LineLevel
  readonly text: string
  /** The node whose code wrote it; missing outside of nodes. */
  readonly node?: string
}

/** Lines of a run, the oldest first. */
export interface WrittenLines {
  readonly lines: readonly WrittenLine[]
  /** Lines before these that are not kept. */
  readonly dropped: number
}

/** Characters of a line; the rest is cut. */
export const lineMax = 8 * 1024

/** Bounds on the last lines of a run that are kept. */
export const keptOfRun = { lines: 1_000, bytes: 200 * 1024 } as const

/** Bytes that a line takes beside its text. */
const bytesOfLine = 96

/** About how many bytes a line takes. */
export function lineBytes({ text, node = '' }: Pick<WrittenLine, 'text' | 'node'>): number {
  return bytesOfLine + text.length + node.length
}
