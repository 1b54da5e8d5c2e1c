/** Translates a run request of the typed API into the body of a REST request. */

import type { HandlerContext } from '@connectrpc/connect'

import type { RunSpec } from '../../../proto/gen/frontdoor/v1/run_pb.js'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { createRun, createStatelessRun, getThread } from '../../api/index.ts'
import type { CreateRun, CreateStatelessRun } from '../../api/index.ts'
import { textAt } from '../../json/index.ts'
import type { AwaitedRun } from '../../thread/index.ts'
import { userOf } from '../http/caller.ts'
import type { Caller } from '../http/caller.ts'
import type { RouteParts } from '../http/route.ts'
import { revisionHeader } from '../operations/index.ts'
import type { RunCaller } from '../operations/index.ts'
import { checkerOf, invalid } from '../schema/validation.ts'
import { callerOf } from './caller-value.ts'
import { detailsKey } from './request-details.ts'
import { jsonIn } from './json-bytes.ts'
import { checkpointOf } from './messages.ts'

/** Characters of a key. It is stored with the run and compared with others. REST bounds headers. */
const longestKey = 8_192

/**
 * Creates the run of a typed call. The request is checked as on REST. `follows`: the call goes on
 * with the run's events.
 */
export function startRun({ runs }: Pick<RouteParts, 'runs'>, spec: RunSpec | undefined,
  context: HandlerContext, { follows = false } = {}): Promise<RunRow> {
  return made(spec, context, {
    stateless: (who, body, caller) => runs.createStateless(who, body, { ...caller, follows }),
    onThread: (who, id, body, caller) => runs.create(who, id, body, { ...caller, follows }),
  })
}

/** As `startRun`, for a call that waits for the result. */
export function startAndWait({ runs }: Pick<RouteParts, 'runs'>, spec: RunSpec | undefined,
  context: HandlerContext): Promise<AwaitedRun> {
  return made(spec, context, {
    stateless: (who, body, caller) => runs.createStatelessAndWait(who, body, caller),
    onThread: (who, id, body, caller) => runs.createAndWait(who, id, body, caller),
  })
}

/** The operations that make a run. */
interface Making<Made> {
  stateless(who: Caller, body: CreateStatelessRun, caller: RunCaller): Promise<Made>
  onThread(who: Caller, threadId: string, body: CreateRun, caller: RunCaller): Promise<Made>
}

function made<Made>(spec: RunSpec | undefined, context: HandlerContext,
  { stateless, onThread }: Making<Made>): Promise<Made> {
  if (spec === undefined) throw invalid([{ field: 'run', message: 'is required' }])
  const caller = runCallerOf(context, spec.idempotencyKey)
  const who = callerOf(context)
  const body = bodyOf(spec)
  if (spec.threadId === '') {
    return stateless(who, checkerOf(createStatelessRun.body)(body), caller)
  }
  const { thread_id } = checkerOf(getThread.params)({ thread_id: spec.threadId })
  return onThread(who, thread_id, checkerOf(createRun.body)(body), caller)
}

/** The caller who asks for runs, with its key. Throws `invalid` if the key is too long. */
export function runCallerOf(context: HandlerContext, idempotencyKey: string): RunCaller {
  if (idempotencyKey.length > longestKey) {
    const message = `must have ${longestKey} characters at most`
    throw invalid([{ field: 'idempotency_key', message }])
  }
  const revision = context.requestHeader.get(revisionHeader)
  const caller = callerOf(context)
  return {
    commandId: idempotencyKey,
    ...revision !== null && { revision },
    userId: userOf(caller),
    requestId: textAt(context.values.get(detailsKey), 'requestId'),
    graphHeaders: caller.graphHeaders,
    headers: Object.fromEntries(context.requestHeader.entries()),
  }
}

function bodyOf(spec: RunSpec): Record<string, unknown> {
  return {
    assistant_id: spec.assistantId,
    input: jsonIn('input_json', spec.inputJson),
    command: jsonIn('command_json', spec.commandJson),
    config: jsonIn('config_json', spec.configJson),
    context: jsonIn('context_json', spec.contextJson),
    metadata: jsonIn('metadata_json', spec.metadataJson),
    stream_mode: spec.streamModes.length > 0 ? spec.streamModes : undefined,
    stream_subgraphs: spec.streamSubgraphs,
    stream_resumable: spec.streamResumable,
    interrupt_before: breakpointsOf(spec.interruptBefore),
    interrupt_after: breakpointsOf(spec.interruptAfter),
    multitask_strategy: spec.multitaskStrategy,
    if_not_exists: spec.createThread ? 'create' : 'reject',
    on_completion: spec.keepThread ? 'keep' : 'delete',
    after_seconds: spec.afterSeconds,
    durability: spec.durability,
    checkpoint: checkpointOf(spec.checkpoint),
    webhook: spec.webhook || undefined,
    strict_resume: spec.strictResume,
  }
}

/** Node names in the words of the request schemas; undefined for none. */
export function breakpointsOf(nodes: readonly string[]): '*' | readonly string[] | undefined {
  if (nodes.length === 0) return undefined
  return nodes.includes('*') ? '*' : nodes
}
