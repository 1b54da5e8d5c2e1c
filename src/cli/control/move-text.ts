/** A pointer that has moved, in words. */

import type { ControlMove } from '../../api/index.ts'

/**
 * One line: what is active now, on how many members, and what goes on with another revision, or
 * moves from it at its next superstep.
 */
export function moveText(move: ControlMove, movesRuns = false): string {
  const { active, previous, next, members, unconfirmed, pointer_ms: ms, still_running } = move
  const was = previous === null ? '' : ` (was ${previous})`
  const confirmed = members.length - unconfirmed.length
  const running = still_running.filter(({ runs }) => runs > 0)
    .map(({ revision, runs }) =>
      movesRuns
        ? `; ${count(runs, 'run')} of ${revision} move${runs === 1 ? 's' : ''} if possible`
        : `; ${count(runs, 'run')} ${runs === 1 ? 'goes' : 'go'} on with ${revision}`
    )
  const share = next === null ? '' : `; ${next.revision} takes ${next.percent} % of new runs`
  const silent = unconfirmed.length === 0 ? '' : `; no word yet from ${unconfirmed.join(', ')}`
  return `active ${active ?? 'none'}${was}${share}, ${confirmed} of ` +
    `${count(members.length, 'member')}, ${(ms / 1_000).toFixed(1)} s${running.join('')}${silent}`
}

/** A number with its noun: `1 run`, `2 runs`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
