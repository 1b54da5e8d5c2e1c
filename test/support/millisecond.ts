/** The clock in which records tell their times: two of one millisecond have no order. */

import { setTimeout as pause } from 'node:timers/promises'

/** Resolves when whatever is written from now on has a later time than all that was. */
export async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  while (Date.now() <= now) await pause(1)
}
