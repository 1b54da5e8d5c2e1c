/** Debian's Chromium, as tests drive it. */

import { existsSync } from 'node:fs'

import { isNight } from './repeats.ts'

const whole = '/usr/bin/chromium'
/** The same engine without windows: a tab takes a quarter of the processor. */
const shell = '/usr/bin/chromium-headless-shell'

/** Path of the browser: by day the one without windows, if both are there. */
export const chromiumPath = (isNight ? [whole, shell] : [shell, whole]).find((path) =>
  existsSync(path)
)
