/** The command `input.inject`: a message for a run that executes. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { createRun } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { isObject, objectOf } from '../../json/index.ts'
import { seqBefore, userIdOf } from '../../thread/index.ts'
import { requireAllowed } from '../http/caller.ts'
import { InjectInput } from '../schema/protocol-v2.ts'
import { checkerOf } from '../schema/validation.ts'
import type { CommandContext } from './command-context.ts'
import { ProtocolError } from './envelope.ts'
import type { Outcome } from './envelope.ts'
import { lastRun } from './run-commands.ts'
import { membersOf } from './spelling.ts'

const checkInject = checkerOf(InjectInput)
const checkRun = checkerOf(createRun.body)

/**
 * Adds a message to the state of the run that executes, at its next superstep. If the run ends
 * before, the message is the input of a run of its own. That run has the configuration and the
 * context of the run that executed if both have the same user.
 */
export async function inject(context: CommandContext, params: unknown): Promise<Outcome> {
  requireAllowed(context.caller, 'change')
  const { namespace, message } = checkInject(membersOf(params, ['namespace', 'message']))
  if (namespace != null && namespace.length > 0) {
    throw new ProtocolError('not_supported', 'Only the graph itself takes messages: leave ' +
      'namespace out, or send [].')
  }
  const { runs, caller, threadId, runCaller } = context
  const executing = await executingRun(context)
  const { assistantId } = executing
  const { content, role, name, id } = message
  const body = checkRun({ assistant_id: assistantId, ...await settingsOf(context, executing),
    input: {
      messages: [{ role, content, ...name != null && { name }, id: id ?? context.newId() }],
    } })
  const row = await runs.inject(caller, threadId, body, runCaller).catch(asNoRun)
  return { result: '{}', appliedThroughSeq: seqBefore(row) }
}

/** The run that executes. Whether it still does is decided by its thread. */
async function executingRun(context: CommandContext) {
  const { runs, caller, threadId, left } = context
  const [running] = await runs.list(caller, threadId, { limit: 1, status: 'running',
    select: ['run_id'] }, left)
  return running === undefined
    ? await lastRun(context)
    : await runs.get(caller, { threadId, runId: running.runId })
}

/**
 * The config and the context of a run, for one that may follow it. Empty for the run of another
 * user, because both may contain secrets of that user.
 */
async function settingsOf({ json, caller, runCaller }: CommandContext,
  run: RunRow): Promise<object> {
  const sender = caller.user?.identity ?? runCaller.userId ?? ''
  if (userIdOf(run) !== sender) return {}
  const [config, given] = await json.pick(caller.tenant, run.kwargsJson, [['config'], ['context']])
  const { configurable, ...rest } = objectOf(valueOf(config))
  const { run_id: _, checkpoint_id: __, ...shared } = objectOf(configurable)
  const value = valueOf(given)
  return { config: { ...rest, configurable: shared }, ...isObject(value) && { context: value } }
}

function valueOf(text: string | undefined): unknown {
  return text ? JSON.parse(text) : undefined
}

/** For a `catch`: the thread is there, so what is missing is a run that executes. */
function asNoRun(error: unknown): never {
  const { code, message } = HeddleError.from(error)
  if (code !== 'not_found') throw error
  throw new ProtocolError('no_such_run', message, { cause: error })
}
