/** The commands of protocol v2 and what carries out each. They call the operations of the API. */

import type { Command, CommandContext } from './command-context.ts'
import { ProtocolError } from './envelope.ts'
import type { Outcome } from './envelope.ts'
import { inject } from './inject-command.ts'
import { fork, respond, startRun } from './run-commands.ts'
import { getState, getTree, listCheckpoints } from './state-commands.ts'

/** Carries out a command with these params. Throws ProtocolError or HeddleError. */
type Perform = (context: CommandContext, params: unknown) => Promise<Outcome>

const needsSocket: Perform = refusing('Subscriptions need a WebSocket; over HTTP, each ' +
  'stream/events request is one.')

/** Functions that carry out the commands. A WebSocket carries out those of subscriptions itself. */
const commands = {
  'run.start': startRun,
  'input.respond': respond,
  'input.inject': inject,
  'state.get': getState,
  'state.listCheckpoints': listCheckpoints,
  'state.fork': fork,
  'agent.getTree': getTree,
  'subscription.subscribe': needsSocket,
  'subscription.unsubscribe': needsSocket,
  'subscription.reconnect': refusing('Subscribe again: what is kept is replayed, after `since` ' +
    'if that is given.'),
} satisfies Readonly<Record<string, Perform>>

/** The name of a command. */
export type CommandName = keyof typeof commands

/** All commands. */
export const commandNames = Object.keys(commands) as readonly CommandName[]

/** Carries out a command. Throws ProtocolError or HeddleError. */
export async function perform(context: CommandContext,
  { method, params }: Command): Promise<Outcome> {
  if (isCommand(method)) return await commands[method](context, params)
  throw new ProtocolError('unknown_command', typeof method === 'string'
    ? `There is no command ${method.slice(0, 100)}.`
    : 'method: must be a string.')
}

/** True for a command that starts a run. */
export function startsRun(method: unknown): boolean {
  return method === 'run.start' || method === 'input.respond' || method === 'state.fork'
}

function isCommand(method: unknown): method is CommandName {
  return typeof method === 'string' && Object.hasOwn(commands, method)
}

function refusing(reason: string): Perform {
  return async () => {
    throw new ProtocolError('not_supported', reason)
  }
}
