/** Runs a command of developers in this process. */

import { resolve } from 'node:path'

import { CommandError } from '../../src/cli/admin-command.ts'
import type { ProjectCommandSource } from '../../src/cli/project-command.ts'

/** As `src/main.ts` has them. */
const exitCodes = { failed: 1, misused: 2, refused: 3 } as const

/** Runs it in a folder. Resolves with its exit code and with what it printed. */
export async function runIn(folder: string,
  command: (source: ProjectCommandSource) => Promise<void>, ...args: readonly string[]) {
  let [stdout, stderr] = ['', '']
  const status = await command({ args, folder, environment: {},
    starter: resolve(import.meta.dirname, '../../deploy/starter/langgraph.json'),
    print: (text) => void (stdout += text), note: (text) => void (stderr += text) })
    .then(() => 0, (error: unknown) => {
      if (!(error instanceof CommandError)) throw error
      stderr += error.message
      return exitCodes[error.fault]
    })
  return { status, stdout, stderr }
}
