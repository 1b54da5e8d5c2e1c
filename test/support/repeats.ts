/** How often the long tests repeat what they do: few times for a landing, many by night. */

/** Set by `npm run test:nightly`. */
export const isNight = process.env['HEDDLE_NIGHTLY'] === '1'

/** Of one bound, a count or a time: the one for a landing, or the one for the night. */
export function repeats({ day, night }: { readonly day: number; readonly night: number }): number {
  return isNight ? night : day
}

/** Numbers from 0: as many as there is time for, at least one, and `count` at most. */
export function* timesWithin(count: number, minutes: number): Generator<number> {
  const endsMs = performance.now() + minutes * 60_000
  for (let time = 0; time < count && (time === 0 || performance.now() < endsMs); time++) yield time
}
