/** Loaded before a server: its wall clock is ahead by what a file says. SIGUSR2 reads it again. */

import { readFileSync } from 'node:fs'

const file = process.env.HEDDLE_TEST_CLOCK
const real = Date.now.bind(Date)
const read = () => Number(readFileSync(file, 'utf8'))
let aheadMs = file === undefined ? 0 : read()

Date.now = () => real() + aheadMs
if (file !== undefined) {
  process.on('SIGUSR2', () => {
    aheadMs = read()
  })
}
