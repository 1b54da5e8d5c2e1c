/** ThreadService: the typed API of threads and their state over the same operations as REST. */

import type { ServiceImpl } from '@connectrpc/connect'

import type { CountThreadsRequest, SearchThreadsRequest, StateUpdate, ThreadService,
  TimeToLive } from '../../../proto/gen/frontdoor/v1/thread_pb.js'
import { copyThread, countThreads, createThread, getThread, postThreadHistory,
  postThreadStateAtCheckpoint, searchThreads, threadFields, updateThread,
  updateThreadState } from '../../api/index.ts'
import type { RouteParts } from '../http/route.ts'
import { checkerOf } from '../schema/validation.ts'
import { callerOf, goneSignal, tenantOf } from './caller-value.ts'
import { bytesOf, jsonIn } from './json-bytes.ts'
import { checkpointOf, pageOf, threadMessage, timeTextOf } from './messages.ts'
import { followThread } from './thread-events.ts'

type Parts = Pick<RouteParts, 'threads' | 'reads' | 'ticker' | 'quotas'>

/** The calls of `ThreadService`, over the operations. */
export function threadService(parts: Parts): ServiceImpl<typeof ThreadService> {
  return {
    ...recordCalls(parts),
    ...stateCalls(parts),
    followThread: (request, context) => followThread(parts, request, context),
  }
}

function recordCalls({ threads, reads }: Parts) {
  return {
    createThread: async (request, context) => {
      const body = checkerOf(createThread.body)({
        thread_id: request.threadId,
        metadata: jsonIn('metadata_json', request.metadataJson),
        if_exists: request.keepExisting ? 'do_nothing' : 'raise',
        ttl: lifeOf(request.timeToLive),
        supersteps: request.supersteps.map(({ updates }) => ({ updates: updates.map(updateOf) })),
      })
      return { thread: threadMessage(await threads.create(callerOf(context), body)) }
    },
    getThread: async (request, context) => ({
      thread: threadMessage(await threads.get(callerOf(context), threadIdOf(request))),
    }),
    updateThread: async (request, context) => {
      const metadata = jsonIn('metadata_json', request.metadataJson)
      const body = checkerOf(updateThread.body)({ metadata, ttl: lifeOf(request.timeToLive) })
      const view = await threads.patch(callerOf(context), threadIdOf(request), body)
      return { thread: threadMessage(view) }
    },
    deleteThread: async (request, context) => {
      await threads.delete(callerOf(context), threadIdOf(request))
      return {}
    },
    copyThread: async (request, context) => {
      const { checkpoint_id: checkpointId } = checkerOf(copyThread.body)(
        { checkpoint_id: request.checkpointId },
      )
      const copy = threads.copy(callerOf(context), threadIdOf(request), checkpointId ?? undefined)
      return { thread: threadMessage(await copy) }
    },
    searchThreads: async (request, context) => {
      const { threadIds, sortBy: sort_by, sortOrder: sort_order, withoutValues, extract } = request
      const tenant = tenantOf(context)
      using share = reads.share(tenant)
      const body = checkerOf(searchThreads.body)({
        ...filterOf(request),
        ...pageOf(request.page),
        sort_by,
        sort_order,
        ids: threadIds.length > 0 ? threadIds : undefined,
        extract: Object.keys(extract).length > 0 ? extract : undefined,
        select: withoutValues ? threadFields.filter((name) => name !== 'values') : undefined,
      })
      const { threads: found, total } = await threads.search(callerOf(context), body, { share,
        cancelled: goneSignal(context) })
      return { threads: found.map(threadMessage), total: BigInt(total) }
    },
    countThreads: async (request, context) => {
      const body = checkerOf(countThreads.body)(filterOf(request))
      const count = await threads.count(callerOf(context), body, goneSignal(context))
      return { count: BigInt(count) }
    },
  } satisfies Partial<ServiceImpl<typeof ThreadService>>
}

function stateCalls({ threads, reads }: Parts) {
  return {
    getThreadState: async (request, context) => {
      const body = checkerOf(postThreadStateAtCheckpoint.body)(
        { checkpoint: checkpointOf(request.checkpoint) ?? {}, subgraphs: request.subgraphs },
      )
      const { checkpoint = {} } = body
      const text = await threads.state(callerOf(context), threadIdOf(request), checkpoint, body,
        goneSignal(context))
      return { stateJson: bytesOf(text) }
    },
    updateThreadState: async (request, context) => {
      const update = request.update && updateOf(request.update)
      const body = checkerOf(updateThreadState.body)(
        { ...update, checkpoint: checkpointOf(request.checkpoint) },
      )
      const text = await threads.updateState(callerOf(context), threadIdOf(request), body)
      return { checkpointJson: bytesOf(text) }
    },
    getThreadHistory: async (request, context) => {
      const body = checkerOf(postThreadHistory.body)({
        limit: request.limit || undefined,
        before: request.beforeCheckpointId,
        metadata: jsonIn('metadata_json', request.metadataJson),
        checkpoint: checkpointOf(request.checkpoint),
      })
      const tenant = tenantOf(context)
      // The answer is one message. It is gathered, and refused if it gets too long.
      using share = reads.share(tenant)
      const cancelled = goneSignal(context)
      using turn = new DisposableStack()
      const states: string[] = []
      for await (const { texts, isLast } of threads.history(callerOf(context), threadIdOf(request),
        body, cancelled)) {
        share.take(...texts)
        states.push(...texts)
        if (!isLast && states.length === texts.length)
          turn.defer(await reads.turn(tenant, cancelled))
      }
      return { statesJson: bytesOf(`[${states.join(',')}]`) }
    },
  } satisfies Partial<ServiceImpl<typeof ThreadService>>
}

function threadIdOf({ threadId }: { readonly threadId: string }): string {
  return checkerOf(getThread.params)({ thread_id: threadId }).thread_id
}

/** In the words of the request schemas. */
function lifeOf(life: TimeToLive | undefined): object | undefined {
  return life && { ttl: life.minutes, strategy: life.strategy || undefined }
}

function updateOf({ valuesJson, commandJson, asNode }: StateUpdate): Record<string, unknown> {
  return {
    values: jsonIn('values_json', valuesJson),
    command: jsonIn('command_json', commandJson),
    as_node: asNode,
  }
}

function filterOf(request: SearchThreadsRequest | CountThreadsRequest): Record<string, unknown> {
  return {
    status: request.status,
    metadata: jsonIn('metadata_json', request.metadataJson),
    values: jsonIn('values_json', request.valuesJson),
    q: request.q,
    updated_after: timeTextOf(request.updatedAfter),
    updated_before: timeTextOf(request.updatedBefore),
  }
}
