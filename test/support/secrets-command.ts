/** The command that checks and reseals secrets, as a test calls it. */

import type { Ended } from './command.ts'

/** Runs the command with these arguments; the result is what it says to programs. */
export type SecretsCommand = (...args: readonly string[]) => Promise<object>

/** The command over a data directory and a file of keys, run by `run`. */
export function secretsCommand(run: (...args: readonly string[]) => Promise<Ended>, data: string,
  keyFile: string): SecretsCommand {
  return async (...args) => {
    const { status, stdout, stderr } = await run('secrets', ...args, '--json', '--data', data,
      '--secrets-key', keyFile)
    return { status, stderr, ...JSON.parse(stdout || '{}') as object }
  }
}
