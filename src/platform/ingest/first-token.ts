/** When a model gave its first token: the first event of that name. */

import { readTimeUs } from '../spans/time.ts'
import { itemsAt, memberAt, stringAt } from '../../json/index.ts'

/** Events that are looked at. */
const eventsMax = 1000

/** The time in microseconds, from valid events; undefined if none says it. */
export function firstTokenOf(events: Buffer): number | undefined {
  if (!events.includes('"new_token"')) return undefined
  let looked = 0
  for (const { from } of itemsAt(events, 0)) {
    if (++looked > eventsMax) return undefined
    const name = memberAt(events, from, 'name')
    if (name === undefined || events[name.from] !== quote) continue
    if (stringAt(events, name.from, name.to) !== 'new_token') continue
    const time = memberAt(events, from, 'time')
    return time && readTimeUs(JSON.parse(events.toString('utf8', time.from, time.to)))
  }
  return undefined
}

const quote = 34
