/** RunService: the typed API of runs over the same operations as REST. */

import type { HandlerContext, ServiceImpl } from '@connectrpc/connect'

import type { JoinRunStreamRequest, RunService,
  RunSpec } from '../../../proto/gen/frontdoor/v1/run_pb.js'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { getRun, getThread, joinRunStream, listRuns, streamRun } from '../../api/index.ts'
import type { FeedEvent, WatchRun } from '../../thread/index.ts'
import { whileValid } from '../http/credential-check.ts'
import type { RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { whenAborted } from '../http/when-aborted.ts'
import { nameOf } from '../operations/index.ts'
import type { RunName } from '../operations/index.ts'
import { checkerOf } from '../schema/validation.ts'
import { callerOf, goneSignal, tenantOf } from './caller-value.ts'
import { EventQueue } from './event-queue.ts'
import { bytesOf } from './json-bytes.ts'
import { pageOf, runMessage } from './messages.ts'
import { startAndWait, startRun } from './run-spec.ts'
import { endUnread } from './unread.ts'

type Parts = Pick<RouteParts, 'runs' | 'ticker' | 'quotas' | 'reads'>

/** The calls of `RunService`, over the operations. */
export function runService(parts: Parts): ServiceImpl<typeof RunService> {
  return { ...creationCalls(parts), ...recordCalls(parts) }
}

function creationCalls(parts: Parts) {
  const { quotas } = parts
  return {
    createRun: async ({ run }, context) => ({
      run: runMessage(await startRun(parts, run, context)),
    }),
    streamRun: async function*({ run: spec, namespaces }, context) {
      const watch = fromTheStart(namespaces)
      using _stream = quotas.stream(tenantOf(context))
      const run = await startRun(parts, spec, context, { follows: true })
      using _ = cancelWhenGone(parts, spec, run, context)
      yield { payload: { case: 'run', value: runMessage(run) } } as const
      for await (const event of eventsOf(parts, nameOf(run), watch, context)) {
        yield { payload: { case: 'event', value: eventMessage(event) } } as const
      }
    },
    waitRun: async ({ run: spec }, context) => {
      using _stream = quotas.stream(tenantOf(context))
      const { row: run, result } = await startAndWait(parts, spec, context)
      using _ = cancelWhenGone(parts, spec, run, context)
      const text = await longAnswer(parts, context, result)
      return { runId: run.runId, resultJson: bytesOf(text) }
    },
    joinRunStream: async function*(request, context) {
      const options = fromWhereItLeft(request)
      using _ = quotas.stream(tenantOf(context))
      for await (const event of eventsOf(parts, runNamed(request), options, context)) {
        yield { event: eventMessage(event) }
      }
    },
  } satisfies Partial<ServiceImpl<typeof RunService>>
}

function recordCalls(parts: Parts) {
  const { runs, reads } = parts
  return {
    getRun: async (request, context) => ({
      run: runMessage(await runs.get(callerOf(context), runNamed(request))),
    }),
    listRuns: async ({ threadId, page, status }, context) => {
      const { thread_id } = checkerOf(getThread.params)({ thread_id: threadId })
      const body = checkerOf(listRuns.query)({ ...pageOf(page), status })
      const rows = await runs.list(callerOf(context), thread_id, body, goneSignal(context))
      using share = reads.share(tenantOf(context))
      takeRows(share, rows)
      return { runs: rows.map(runMessage) }
    },
    joinRun: async (request, context) => {
      const run = runNamed(request)
      using _ = parts.quotas.stream(tenantOf(context))
      const text = await longAnswer(parts, context,
        (cancelled) => runs.join(callerOf(context), run, cancelled))
      return { resultJson: bytesOf(text) }
    },
    cancelRun: async (request, context) => {
      const action = request.rollback ? 'rollback' : 'interrupt'
      await runs.cancel(callerOf(context), runNamed(request), { action })
      return {}
    },
    deleteRun: async (request, context) => {
      await runs.delete(callerOf(context), runNamed(request))
      return {}
    },
  } satisfies Partial<ServiceImpl<typeof RunService>>
}

/** Follows a run from its first event, for the caller that makes it. */
function fromTheStart(namespaces: readonly string[]): WatchRun {
  const { namespace } = checkerOf(streamRun.query)({ namespace: unlessEmpty(namespaces) })
  return { after: null, modes: null, made: true, ...namespace && { namespaces: namespace } }
}

/** Follows a run from where the client left off. */
function fromWhereItLeft(request: JoinRunStreamRequest): WatchRun {
  const { stream_mode: modes = null, namespace, checkpoint_id: checkpointId } = checkerOf(
    joinRunStream.query,
  )({ stream_mode: unlessEmpty(request.streamModes), namespace: unlessEmpty(request.namespaces),
    checkpoint_id: request.checkpointId })
  return { after: request.lastEventId ?? null, modes, ...namespace && { namespaces: namespace },
    ...checkpointId !== undefined && { checkpointId } }
}

function unlessEmpty(texts: readonly string[]): readonly string[] | undefined {
  return texts.length > 0 ? texts : undefined
}

/** Names a run. A stateless run has no thread id here: its thread has the run's own id. */
function runNamed(
  { threadId, runId }: { readonly threadId: string; readonly runId: string },
): RunName {
  const path = checkerOf(getRun.params)({ thread_id: threadId || runId, run_id: runId })
  return { threadId: path.thread_id, runId: path.run_id }
}

async function* eventsOf({ runs, ticker }: Parts, run: RunName, watch: WatchRun,
  context: HandlerContext): AsyncGenerator<FeedEvent> {
  const queue = new EventQueue<FeedEvent>({ stillValid: callerOf(context).stillValid,
    charactersOf: ({ json }) => json.length, ended: () => endUnread(context) })
  using _ = whenAborted(context.signal, () => queue.abandon())
  ticker.add(queue, { kind: 'rpc', runId: run.runId })
  let unfollow = () => {}
  try {
    unfollow = await runs.follow(callerOf(context), run, watch, queue)
    yield* queue.emitted()
  } finally {
    ticker.remove(queue)
    unfollow()
  }
}

function longAnswer<Answer>({ ticker }: Parts, context: HandlerContext,
  ask: (cancelled: AbortSignal) => Promise<Answer>): Promise<Answer> {
  return whileValid({ caller: callerOf(context), ticker, left: context.signal, ask })
}

/** Cancels the run if the client leaves. Dispose of the result when the call ends by itself. */
function cancelWhenGone({ runs, ticker }: Parts, spec: RunSpec | undefined, run: RunRow,
  context: HandlerContext): Disposable {
  const cancel = runs.abandoner(callerOf(context), nameOf(run))
  return whenAborted(context.signal, () => {
    if (!spec?.cancelOnDisconnect || ticker.stopped) return
    // The run may have ended already, and no client is left to receive an error.
    cancel().catch(() => {})
  })
}

function eventMessage({ id, name, json }: FeedEvent) {
  return { id, name, dataJson: bytesOf(json) }
}
