/** Shared parts of the commands that ask the control API. */

import { Option } from 'commander'
import type { Command } from 'commander'

import { systemEnv } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { runProjectCommand } from '../project-command.ts'
import { controlClient } from './control-client.ts'
import type { ControlClient, ControlTarget } from './control-client.ts'
import type { ControlCommandSource } from './control-source.ts'
import { findName, findTarget } from './target.ts'
import type { TypedTarget } from './target.ts'

/** Options that all these commands have. */
export interface TypedControl extends TypedTarget {
  readonly json?: boolean
}

/** A server that was found, and a deployment of it. */
export interface ControlAccess {
  readonly client: ControlClient
  readonly env: Env
  /** The deployment's name. */
  readonly name: string
}

/**
 * Gives a command and its subcommands these options, and runs it. Throws CommandError; `incomplete`
 * says what is missing if no subcommand is named.
 */
export function runControlCommand(command: Command, source: ControlCommandSource,
  incomplete?: string): Promise<void> {
  for (const each of command.commands.length > 0 ? command.commands : [command]) {
    const add = (flags: string, text: string) =>
      each.addOption(new Option(flags, text).helpGroup('Which deployment:'))
    if (!each.options.some(({ long }) => long === '--config')) {
      add('--config <path>', 'The project: its langgraph.json, or the folder of it.')
    }
    add('-d, --deployment <name>', 'By default as the project says, or its folder.')
    add('--url <url>', 'The server (env: HEDDLE_URL). By default as the project says, or the one ' +
      'on this machine.')
    add('--key <key>', 'An API key of the role admin or deployer (env: HEDDLE_API_KEY).')
  }
  return runProjectCommand(command, source, incomplete)
}

/** Finds the server, without asking it anything yet. */
export async function openControl(source: ControlCommandSource, typed: TypedControl): Promise<
  Pick<ControlAccess, 'client' | 'env'> & { readonly target: ControlTarget }
> {
  const env = source.env ?? systemEnv({ level: 'warn' })
  const target = await findTarget(source, typed, env)
  return { client: controlClient(target), env, target }
}

/** Finds the server and the deployment. */
export async function openDeployment(source: ControlCommandSource, typed: TypedControl,
  named?: string): Promise<ControlAccess> {
  const name = await findName(source, typed, named)
  return { ...await openControl(source, typed), name }
}

/** A value as JSON on a line of its own. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
