/** The lines that are shown of a log that is followed: bounded, and none twice after a break. */

import type { LogLine } from '../../api/control/deployment.ts'

/** Lines kept: the newest ones. */
export const linesMax = 2_000

/** The lines, the oldest first. */
export interface LogState {
  readonly lines: readonly LogLine[]
  /** Number of older lines that were dropped while the page looked. */
  readonly dropped: number
  /** Lines up to this time may come again; null while none does. */
  readonly repeatsUntil: string | null
}

/** State of a log before its first line. */
export const noLines: LogState = { lines: [], dropped: 0, repeatsUntil: null }

/** The state after the connection was opened: the server sends its last lines once more. */
export const reopened = (state: LogState): LogState => ({ ...state,
  repeatsUntil: state.lines.at(-1)?.at ?? null })

/** The state after further lines. Those that came before the break are not added again. */
export function withLines(state: LogState, more: readonly LogLine[], max = linesMax): LogState {
  const { repeatsUntil } = state
  const known = repeatsUntil === null ? undefined : new Set(state.lines.map(keyOf))
  const fresh = known === undefined
    ? more
    : more.filter((line) => line.at > repeatsUntil! || !known.has(keyOf(line)))
  if (fresh.length === 0) return state
  const all = [...state.lines, ...fresh]
  const over = Math.max(0, all.length - max)
  return { lines: all.slice(over), dropped: state.dropped + over, repeatsUntil }
}

const keyOf = ({ at, member, run_id: run, text }: LogLine): string =>
  JSON.stringify([at, member, run, text])
