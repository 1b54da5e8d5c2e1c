/** How often tests of effects kill: as often as HEDDLE_KILLS says, or as a night has time for. */

import { timesWithin } from '../../support/repeats.ts'
import type { Orders } from './orders.ts'

const asked = process.env['HEDDLE_KILLS']
/** Kills between two lines that say how far it is. */
const lineEvery = 20
/** Time for a kill and its checks, on a machine that does much else. */
const slowestMs = 60_000

/** Seed of the random choices. */
export const killSeed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)

/** Time for a start, and for a round that has begun, on a machine that does much else. */
export const patienceMs = 240_000

/** Most time that a night has, or that the kills that were asked for may take. */
export function killsMs(nightMinutes: number): number {
  return asked === undefined ? nightMinutes * 60_000 : Number(asked) * slowestMs
}

/** Numbers of kills from 0, and now and then a line that says what was seen so far. */
export function* killTimes(orders: readonly Orders[], nightMinutes: number): Generator<number> {
  const beganMs = performance.now()
  for (const kill of timesWithin(Number(asked ?? Infinity), killsMs(nightMinutes) / 60_000)) {
    if (asked !== undefined && kill > 0 && kill % lineEvery === 0) {
      console.log(killLine(orders, kill, beganMs))
    }
    yield kill
  }
}

/** A line with the number of kills, the time of one, and what their effects became. */
export function killLine(orders: readonly Orders[], kills: number, beganMs: number): string {
  const seconds = (performance.now() - beganMs) / 1_000 / kills
  const sum = (of: keyof Orders['tally']) => orders.reduce((all, { tally }) => all + tally[of], 0)
  return `${kills} kills, ${seconds.toFixed(1)} s each: ${sum('orders')} runs, ${sum('effects')} ` +
    `effects, ${sum('inFlight')} under way at a kill, ${sum('again')} sent again with their key, ` +
    `${sum('questions')} asked about, ${sum('ordered')} done once more as decided, ` +
    `${sum('late')} given up, 0 twice`
}
