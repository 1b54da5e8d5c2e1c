/** Shared parts of the commands of developers: their output and their end. */

import { CommanderError } from 'commander'
import type { Command } from 'commander'

import { CodedError } from '../errors.ts'
import { RevisionError } from '../revision/index.ts'
import { asCommandError, CommandError } from './admin-command.ts'
import type { CommandSource } from './admin-command.ts'
import { mistakeIn } from './command-line.ts'

/** Output of such a command: its result goes to `print`, all else to `note`. */
export interface ProjectCommandSource extends CommandSource {
  note(text: string): void
}

/**
 * Runs a command. Throws CommandError, whose exit code is 2 for a mistake and 3 for a refusal;
 * `incomplete` says what is missing if it has subcommands and none is named.
 */
export async function runProjectCommand(command: Command, { args, print }: ProjectCommandSource,
  incomplete = 'say what to do'): Promise<void> {
  for (const each of [command, ...command.commands]) {
    each.helpOption('-h, --help', 'Print this help.').exitOverride()
      .configureOutput({ writeOut: print, writeErr: () => {} })
  }
  for (const each of command.commands.length > 0 ? command.commands : [command]) {
    each.option('--json', 'Answer in JSON.')
  }
  const help = `see ${command.name().replace('heddle ', '')} --help`
  try {
    await command.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return
      const mistake = error.code === 'commander.help' ? incomplete : mistakeIn(error)
      throw new CommandError(`${mistake}; ${help}`, 'misused')
    }
    if (error instanceof RevisionError) throw new CommandError(error.message, 'refused')
    if (error instanceof CodedError) throw asCommandError(error)
    throw error
  }
}
