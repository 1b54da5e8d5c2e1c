/** The clock of records, in which two writes of one millisecond have no order. */

import { setTimeout as pause } from 'node:timers/promises'

/** Resolves when later writes have a later time than all earlier ones. */
export async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  while (Date.now() <= now) await pause(1)
}
