/** ThreadService: the typed API of threads and their state over the same operations as REST. */

import type { ServiceImpl } from '@connectrpc/connect'

import type { StateUpdate, ThreadService } from '../../../proto/gen/frontdoor/v1/thread_pb.js'
import type { RouteParts } from '../rest/route.ts'
import { ReadHistory, ReadStateAt, UpdateState } from '../schema/state.ts'
import {
  CountThreads, CreateThread, PatchThread, SearchThreads, threadFields, ThreadPath,
} from '../schema/thread.ts'
import { checkerOf } from '../validation.ts'
import { bytesOf, jsonIn } from './json-bytes.ts'
import { checkpointOf, pageOf, threadMessage } from './messages.ts'

type Parts = Pick<RouteParts, 'threads' | 'tenant'>

export function threadService(parts: Parts): ServiceImpl<typeof ThreadService> {
  return { ...recordCalls(parts), ...stateCalls(parts) }
}

function recordCalls({ threads, tenant }: Parts) {
  return {
    createThread: async (request) => {
      const body = checkerOf(CreateThread)({
        thread_id: request.threadId, metadata: jsonIn('metadata_json', request.metadataJson),
        if_exists: request.keepExisting ? 'do_nothing' : 'raise',
        supersteps: request.supersteps.map(({ updates }) => ({ updates: updates.map(updateOf) })),
      })
      return { thread: threadMessage(await threads.create(tenant, body)) }
    },
    getThread: async (request) =>
      ({ thread: threadMessage(await threads.get(tenant, threadIdOf(request))) }),
    updateThread: async (request) => {
      const metadata = jsonIn('metadata_json', request.metadataJson)
      const body = checkerOf(PatchThread)({ metadata })
      return { thread: threadMessage(await threads.patch(tenant, threadIdOf(request), body)) }
    },
    deleteThread: async (request) => {
      await threads.delete(tenant, threadIdOf(request))
      return {}
    },
    copyThread: async (request) =>
      ({ thread: threadMessage(await threads.copy(tenant, threadIdOf(request))) }),
    searchThreads: async (request) => {
      const { threadIds, sortBy: sort_by, sortOrder: sort_order, withoutValues } = request
      const { threads: found, total } = await threads.search(tenant, checkerOf(SearchThreads)({
        ...filterOf(request), ...pageOf(request.page), sort_by, sort_order,
        ids: threadIds.length > 0 ? threadIds : undefined,
        select: withoutValues ? threadFields.filter((name) => name !== 'values') : undefined,
      }))
      return { threads: found.map(threadMessage), total: BigInt(total) }
    },
    countThreads: async (request) => {
      const body = checkerOf(CountThreads)(filterOf(request))
      return { count: BigInt(await threads.count(tenant, body)) }
    },
  } satisfies Partial<ServiceImpl<typeof ThreadService>>
}

function stateCalls({ threads, tenant }: Parts) {
  return {
    getThreadState: async (request) => {
      const { checkpoint = {}, subgraphs } = checkerOf(ReadStateAt)(
        { checkpoint: checkpointOf(request.checkpoint) ?? {}, subgraphs: request.subgraphs })
      const text = await threads.state(tenant, threadIdOf(request), checkpoint, subgraphs ?? false)
      return { stateJson: bytesOf(text) }
    },
    updateThreadState: async (request) => {
      const update = request.update && updateOf(request.update)
      const body = checkerOf(UpdateState)(
        { ...update, checkpoint: checkpointOf(request.checkpoint) })
      const text = await threads.updateState(tenant, threadIdOf(request), body)
      return { checkpointJson: bytesOf(text) }
    },
    getThreadHistory: async (request) => {
      const body = checkerOf(ReadHistory)({
        limit: request.limit || undefined, before: request.beforeCheckpointId,
        metadata: jsonIn('metadata_json', request.metadataJson),
        checkpoint: checkpointOf(request.checkpoint),
      })
      return { statesJson: bytesOf(await threads.history(tenant, threadIdOf(request), body)) }
    },
  } satisfies Partial<ServiceImpl<typeof ThreadService>>
}

function threadIdOf({ threadId }: { readonly threadId: string }): string {
  return checkerOf(ThreadPath)({ thread_id: threadId }).thread_id
}

function updateOf({ valuesJson, commandJson, asNode }: StateUpdate): Record<string, unknown> {
  return {
    values: jsonIn('values_json', valuesJson), command: jsonIn('command_json', commandJson),
    as_node: asNode,
  }
}

function filterOf({ status, metadataJson, valuesJson }: { readonly status?: string
  readonly metadataJson: Uint8Array; readonly valuesJson: Uint8Array }): Record<string, unknown> {
  return {
    status, metadata: jsonIn('metadata_json', metadataJson),
    values: jsonIn('values_json', valuesJson),
  }
}
