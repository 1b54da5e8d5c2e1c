/** Loaded before a server: its wall clock is ahead by what a file says. SIGUSR2 reads it again. */

import { readFileSync } from 'node:fs'

/** The variable that names the file. Without it the clock is right. */
export const clockVariable = 'HEDDLE_TEST_CLOCK'

const file = process.env[clockVariable]
if (file !== undefined) {
  const now = Date.now.bind(Date)
  const read = () => Number(readFileSync(file, 'utf8'))
  let aheadMs = read()
  Date.now = () => now() + aheadMs
  process.on('SIGUSR2', () => {
    aheadMs = read()
  })
}
