/** The client of threads: each call becomes a command, which the router brings to its thread. */

import type { Env, Router } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { asUnread, HeddleError, ignoreNotFound } from '../../errors.ts'
import type { LoggedLines } from '../../graph/index.ts'
import { listOf, memberOf, valueIn } from '../../json/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { ReadQuota } from '../../limits/index.ts'
import type { ThreadSearch } from '../../search/index.ts'
import { onlyIn } from '../feed/namespace-filter.ts'
import type { ThreadCommand } from '../model/command.ts'
import { eventId, fromOwnRun } from '../model/event-position.ts'
import type { RunEffects } from '../model/effect-fold.ts'
import type { RunGraphs } from '../model/graph-fold.ts'
import type { ReplayAnswer } from '../model/replay-reading.ts'
import { planOf } from '../model/run-request.ts'
import { threadEventOf } from '../model/thread-event-head.ts'
import { placeOfThreadSeq } from '../model/thread-event.ts'
import type { ThreadEventListener } from '../model/thread-event.ts'
import type { CopyOptions, FeedListener, ThreadClient, ThreadView } from '../model/thread-client.ts'
import { followAtPace } from './follow-at-pace.ts'
import { followSteadily } from './follow-across-owners.ts'
import { joinSteadily } from './join-across-owners.ts'
import { startAndWait } from './start-and-wait.ts'
import { ThreadCalls } from './thread-calls.ts'
import { ThreadFinder } from './thread-finder.ts'
import { historyOf } from './thread-history.ts'

/** Ports and quotas with which calls to threads are made. */
export interface ThreadClientOptions {
  readonly router: Router
  readonly threads: ThreadSearch
  readonly newThreadId: () => string
  readonly reads: ReadQuota
  readonly env: Pick<Env, 'after' | 'monotonicMs' | 'nowMs' | 'random' | 'log'>
  /** Reads long states beside the main thread. */
  readonly json?: Pick<LongJson, 'contains'>
}

/** The client of all threads of the cluster. */
export function createThreadClient(options: ThreadClientOptions): ThreadClient {
  const { router, threads, newThreadId, reads, env, json } = options
  const calls = new ThreadCalls(router)
  const finder = new ThreadFinder({ calls, threads, reads, env, ...json && { json } })
  return {
    ...threadCommands(calls, newThreadId),
    ...runCommands(calls, env),
    ...followers(calls, env),
    search: (query, found, cancelled) => finder.search(query, found, cancelled),
    count: (filter, cancelled) => finder.count(filter, cancelled),
    history: (tenant, id, query, cancelled) =>
      historyOf({ calls, reads }, { tenant, id }, query, cancelled),
  }
}

type ThreadCommands = Pick<ThreadClient,
  'create' | 'get' | 'patch' | 'delete' | 'discard' | 'prune' | 'copy' | 'state' | 'patchState'
    | 'storage' | 'updateState'>

function threadCommands(calls: ThreadCalls, newThreadId: () => string): ThreadCommands {
  return {
    create: (tenant, request) => calls.ask(tenant, request.threadId, { type: 'create', request }),
    get: (tenant, id, brief) => calls.read(tenant, id, { type: 'get', ...brief && { brief } }),
    patch: (tenant, id, metadata, timeToLive, allowed) =>
      calls.ask(tenant, id, { type: 'patch', metadata, ...timeToLive && { timeToLive }, allowed }),
    delete: (tenant, id, allowed) => calls.remove(tenant, id, { allowed }),
    discard: (tenant, id) => calls.ask<void>(tenant, id, { type: 'delete' }).catch(ignoreNotFound),
    prune: (tenant, id, strategy, allowed) =>
      strategy === 'delete'
        ? calls.remove(tenant, id, { ifIdle: true, allowed })
        : calls.ask(tenant, id, { type: 'keep_latest', allowed }),
    copy: (tenant, id, options = {}) =>
      copyThread(calls, { tenant, id, targetId: newThreadId() }, options),
    state: (tenant, id, query, cancelled) =>
      calls.read<JsonText>(tenant, id, { type: 'state', query }, cancelled),
    patchState: (tenant, id, metadata, allowed) =>
      calls.ask(tenant, id, { type: 'patch_state', metadata, allowed }),
    storage: (tenant, id, cancelled) =>
      calls.read<JsonText>(tenant, id, { type: 'storage' }, cancelled),
    updateState: (tenant, id, update, allowed) =>
      calls.ask<JsonText>(tenant, id, { type: 'edit', update, allowed }),
  }
}

async function copyThread(calls: ThreadCalls,
  { tenant, id, targetId }: { readonly tenant: string; readonly id: string;
    readonly targetId: string },
  { checkpointId, allowed, metadata }: CopyOptions): Promise<ThreadView> {
  const at = checkpointId &&
    { checkpointId, waiting: await isWaiting(calls, { tenant, id }, checkpointId) }
  const metadataJson = metadata && JSON.stringify(metadata)
  const copy = await calls.ask<ThreadView>(tenant, id, { type: 'copy', targetId, ...at && { at },
    ...metadataJson && { metadataJson }, allowed })
  const { row } = copy
  const isAsAsked = (!at || row.head?.id === checkpointId)
    && (!metadataJson || row.metadataJson === metadataJson)
  if (isAsAsked) return copy
  // The owner runs a version before, which ignores the checkpoint and the metadata.
  await calls.remove(tenant, targetId)
  throw new HeddleError('unavailable', 'The member that owns this thread cannot copy it at a ' +
    'checkpoint or with other metadata yet.')
}

/** True if tasks come next at a checkpoint. */
async function isWaiting(calls: ThreadCalls,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  checkpointId: string): Promise<boolean> {
  const query = { checkpointId, checkpointNs: '', subgraphs: false, select: ['next'] }
  const text = await calls.read<JsonText>(tenant, id, { type: 'state', query })
  return listOf(memberOf(valueIn(text), 'next')).length > 0
}

type RunCommands = Pick<ThreadClient,
  'startRun' | 'startAndWait' | 'getRun' | 'runLogs' | 'runGraphs' | 'runEffects' | 'replayBase'
    | 'listRuns' | 'cancelRun' | 'deleteRun' | 'joinRun' | 'changePush'>

function runCommands(calls: ThreadCalls, env: ThreadClientOptions['env']): RunCommands {
  const start: ThreadClient['startRun'] = (tenant, id, run) =>
    calls.ask<RunRow>(tenant, id, { type: 'start', run })
  const join = (tenant: string, id: string, runId: string, cancelled?: AbortSignal) =>
    calls.ask<JsonText>(tenant, id, { type: 'join', runId }, cancelled)
  return {
    startRun: start,
    startAndWait: (tenant, id, run) =>
      startAndWait({
        env,
        run,
        start: (again) => start(tenant, id, again),
        join: (runId, cancelled) => join(tenant, id, runId, cancelled),
      }),
    getRun: (tenant, id, runId) => calls.read<RunRow>(tenant, id, { type: 'get_run', runId }),
    runLogs: async (tenant, id, runId, page) => {
      const command: ThreadCommand = { type: 'get_run', runId, lines: page }
      const found = await calls.read<LoggedLines | RunRow>(tenant, id, command)
      return 'lines' in found ? found : { lines: [], dropped: 0, truncated: false }
    },
    runGraphs: async (tenant, id, runId, cancelled) => {
      const command: ThreadCommand = { type: 'get_run', runId, graphs: true }
      const found = await calls.read<RunGraphs | RunRow>(tenant, id, command, cancelled)
      if ('graphs' in found) return found
      return { graphId: planOf(found).graphId, graphs: [], isCut: true }
    },
    runEffects: async (tenant, id, runId, cancelled) => {
      const command: ThreadCommand = { type: 'get_run', runId, effects: true }
      const found = await calls.read<RunEffects | RunRow>(tenant, id, command, cancelled)
      return 'effects' in found ? found : { effects: [], isCut: true }
    },
    replayBase: async (tenant, id, runId, replay) => {
      const command: ThreadCommand = { type: 'get_run', runId, replay }
      const found = await calls.read<ReplayAnswer | RunRow>(tenant, id, command)
      if (!('runId' in found)) return found
      throw new HeddleError('unavailable', 'A member runs an older program.')
    },
    listRuns: (query, cancelled) =>
      calls.read<RunRow[]>(query.tenant, query.threadId, { type: 'list_runs', query }, cancelled),
    cancelRun: (tenant, id, runId, cancel, allowed) =>
      calls.ask(tenant, id, { type: 'cancel', runId, cancel, allowed }),
    deleteRun: (tenant, id, runId, allowed) =>
      calls.ask(tenant, id, { type: 'delete_run', runId, allowed }),
    changePush: (tenant, id, change, allowed) =>
      calls.ask(tenant, id, { type: 'push', change, allowed }),
    joinRun: (tenant, id, runId, cancelled) =>
      joinSteadily({ env, cancelled, join: () => join(tenant, id, runId, cancelled) }),
  }
}

function followers({ router, keyOf }: ThreadCalls, env: ThreadClientOptions['env']): Pick<
  ThreadClient,
  'followRun' | 'followThread'
> {
  return {
    followRun: (tenant, id, runId, watch, listener) => {
      const { made = false, namespaces, ...follow } = watch
      return followSteadily({
        env,
        followed: { runId },
        after: follow.after,
        made,
        listener: namespaces ? onlyIn(namespaces, listener) : listener,
        follow: (after, acrossOwners) =>
          router.follow(keyOf(tenant, id), { runId, follow: { ...follow, after } }, acrossOwners),
      }).catch(asUnread)
    },
    followThread: (tenant, id, { afterSeq, ifMissing, skipsOldEnds = false }, listener) => {
      const waits = ifMissing === 'wait'
      const first = skipsOldEnds ? fromOwnRun : null
      return followSteadily({
        env,
        followed: { threadId: id },
        after: afterSeq === null ? first : eventId(placeOfThreadSeq(afterSeq)),
        made: waits,
        catchesUp: true,
        listener: threadFeedListener(listener),
        follow: (after, acrossOwners) =>
          followAtPace(acrossOwners, (paced) =>
            router.follow(keyOf(tenant, id), { runId: '', follow: { after, modes: null }, waits },
              paced)),
      }).catch(asUnread)
    },
  }
}

/** Tells a listener of a thread what the feed of the thread sends. */
function threadFeedListener(listener: ThreadEventListener): FeedListener {
  return {
    events: (batch) => listener.events(batch.map(threadEventOf)),
    ready: () => listener.ready?.(),
    ended: (how) => listener.ended(how === 'over' ? 'gone' : how),
  }
}
