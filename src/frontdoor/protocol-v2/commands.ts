/** The commands of protocol v2 and what carries out each. They call the operations of the API. */

import type { Command, CommandContext } from './command-context.ts'
import { ProtocolError } from './envelope.ts'
import type { Outcome } from './envelope.ts'
import { inject } from './inject-command.ts'
import { fork, respond, startRun } from './run-commands.ts'
import { getState, getTree, listCheckpoints } from './state-commands.ts'

/** Carries out a command. Throws ProtocolError or HeddleError. */
export function perform(context: CommandContext, { method, params }: Command): Promise<Outcome> {
  switch (method) {
    case 'run.start':
      return startRun(context, params)
    case 'input.respond':
      return respond(context, params)
    case 'state.get':
      return getState(context, params)
    case 'state.listCheckpoints':
      return listCheckpoints(context, params)
    case 'state.fork':
      return fork(context, params)
    case 'agent.getTree':
      return getTree(context, params)
    case 'input.inject':
      return inject(context, params)
    case 'subscription.reconnect':
      return refuse('not_supported', 'Subscribe again: what is kept is replayed, after `since` ' +
        'if that is given.')
    case 'subscription.subscribe':
    case 'subscription.unsubscribe':
      return refuse('not_supported', 'Subscriptions need a WebSocket; over HTTP, each ' +
        'stream/events request is one.')
    default:
      return refuse('unknown_command', typeof method === 'string'
        ? `There is no command ${method.slice(0, 100)}.`
        : 'method: must be a string.')
  }
}

/** True for a command that starts a run. */
export function startsRun(method: unknown): boolean {
  return method === 'run.start' || method === 'input.respond' || method === 'state.fork'
}

async function refuse(...reason: ConstructorParameters<typeof ProtocolError>): Promise<never> {
  throw new ProtocolError(...reason)
}
