/** Runs a command of developers in this process. */

import { resolve } from 'node:path'

import { CommandError } from '../../src/cli/admin-command.ts'
import type { ControlCommandSource } from '../../src/cli/control/control-source.ts'
import { hurriedEnv } from './hurried-env.ts'

/** As `src/main.ts` has them. */
const exitCodes = { failed: 1, misused: 2, refused: 3 } as const

/** Where a command is run. */
export interface CommandPlace {
  readonly folder: string
  readonly environment?: Readonly<Record<string, string>>
  /** True if a person is shown progress. */
  readonly isTerminal?: boolean
  /** What is typed when it asks. */
  readonly typed?: string
  /** Called with all that was noted so far, and with what ends the command. */
  readonly noted?: (stderr: string, interrupt: () => void) => void
  /** Called with what ends the command once it can be ended. */
  readonly interruptible?: (interrupt: () => void) => void
}

/** Runs it in a folder. Resolves with its exit code and with what it printed. */
export async function runIn(place: string | CommandPlace,
  command: (source: ControlCommandSource) => Promise<void>, ...args: readonly string[]) {
  const { folder, environment = {}, isTerminal = false, typed = '', noted = () => {},
    interruptible = () => {} } = typeof place === 'string' ? { folder: place } : place
  let [stdout, stderr] = ['', '']
  const ends = new Set<() => void>()
  const note = (text: string) => {
    stderr += text
    noted(stderr, () => ends.forEach((end) => end()))
  }
  const status = await command({ args, folder, environment, note, isTerminal, env: hurriedEnv(),
    starter: resolve(import.meta.dirname, '../../deploy/starter/langgraph.json'),
    print: (text) => void (stdout += text), readSecret: async (prompt) => {
      note(prompt)
      return typed
    }, readLine: async (prompt) => {
      note(prompt)
      return typed
    }, interrupted: (callback) => {
      ends.add(callback)
      interruptible(callback)
      return () => void ends.delete(callback)
    } })
    .then(() => 0, (error: unknown) => {
      if (!(error instanceof CommandError)) throw error
      stderr += error.message
      return exitCodes[error.fault]
    })
  return { status, stdout, stderr }
}
