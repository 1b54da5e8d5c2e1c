/** The command `heddle rollback`: makes an earlier revision active again. */

import { Command } from 'commander'

import { assert } from '../../errors.ts'
import type { ControlChange, ControlMove } from '../../api/index.ts'
import { jsonLine, openDeployment, runControlCommand } from './control-command.ts'
import type { ControlAccess, TypedControl } from './control-command.ts'
import type { ControlCommandSource } from './control-source.ts'
import { NoAnswerError } from './control-error.ts'
import { moveText } from './move-text.ts'

interface Typed extends TypedControl {
  readonly to?: string
  readonly now?: boolean
  readonly message?: string
}

/** Time for members to load an earlier revision that they no longer have. */
export const loadMs = 330_000

/** Moves the pointer back. Throws CommandError. */
export function runRollbackCommand(source: ControlCommandSource): Promise<void> {
  const command = new Command('heddle rollback')
    .description('Makes an earlier revision active again. Secrets and data stay as they are.')
    .argument('[name]', 'The deployment.')
    .option('--to <revision>', 'Which one, as r11; by default the one before.')
    .option('--now', 'Move runs under way, too: each at its next superstep, if it can go on there.')
    .option('--message <text>', 'Why, for the log of the deployment.')
    .action(async (name: string | undefined, { to, now, message, ...typed }: Typed) => {
      const access = await openDeployment(source, typed, name)
      const params = { deployment: access.name }
      const move = await moved(access,
        access.client.ask('POST /control/v1/deployments/:deployment/rollback', { params,
          body: { to, now, message }, withinMs: loadMs }))
      source.print(typed.json ? jsonLine(move) : `${moveText(move, now)}${secretsText(move)}\n`)
    })
  return runControlCommand(command, source)
}

/** Text about the secrets, which a rollback leaves as they are; empty from a server before sets. */
function secretsText({ env_version: version, kept_secrets: kept = [] }: Partial<ControlMove>) {
  if (version === undefined) return ''
  const waiting = kept.length === 0 ? '' : `; ${kept.join(', ')} wait for the next deploy`
  return `; with the secrets of now (version ${version})${waiting}`
}

/** A move of the pointer that was asked for once: a repeated request could move it further. */
export async function moved({ name }: ControlAccess,
  asked: Promise<ControlMove | ControlChange>): Promise<ControlMove> {
  try {
    const move = await asked
    assert('active' in move, 'the server waits for the members')
    return move
  } catch (error) {
    if (!(error instanceof NoAnswerError) || !error.sent) throw error
    throw new NoAnswerError(`${error.message}\nIt may have been done: see "heddle deployments ` +
      `show ${name}" before you repeat it.`, true)
  }
}
