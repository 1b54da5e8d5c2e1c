/** Command-line options. A mistake is one sentence that points to --help. */

import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'

type Parsed<Config extends ParseArgsConfig> = ReturnType<typeof parseArgs<Config>>

/** Reads options. Throws an Error with a message. */
export function typedOptions<const Config extends ParseArgsConfig>(config: Config): Parsed<Config> {
  try {
    return parseArgs(config)
  } catch (error) {
    const [message] = (error as Error).message.split(/\.(?=\s|$)/)
    throw new Error(`${message}; see --help.`, { cause: error })
  }
}

/** Returns the result of `read`. If that throws, prints the message and exits with code 2. */
export function orExit<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    console.error((error as Error).message)
    process.exit(2)
  }
}

/** Reads a whole number. Throws an Error with a message. */
export function wholeNumber(name: string, text: string, min: number, max: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : NaN
  if (number >= min && number <= max) return number
  throw new Error(`--${name} must be a whole number from ${min} to ${max}, not "${text}".`)
}
