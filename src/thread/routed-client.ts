/** The client of threads: each call becomes a command, which the router brings to its thread. */

import { readAhead } from '../../cluster/index.ts'
import type { ActorKey, Env, Router } from '../../cluster/index.ts'
import type { RunRow, ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import { AnswerRoom } from '../answer-room.ts'
import type { JsonText } from '../checkpoint/index.ts'
import { contains } from '../containment.ts'
import { HeddleError, asUnread, unlessGone } from '../errors.ts'
import type { LongJson } from '../json/index.ts'
import { unlessGoneByThis } from '../records/index.ts'
import type { ThreadFilter, ThreadQuery, ThreadSearch } from '../records/index.ts'
import type { ThreadClient, ThreadView, ValuesFilter } from './client.ts'
import type { ThreadCommand } from './command.ts'
import { followSteadily } from './steady-follow.ts'
import { joinSteadily } from './steady-join.ts'

export interface ThreadClientOptions {
  readonly router: Router
  readonly threads: ThreadSearch
  readonly newThreadId: () => string
  readonly env: Pick<Env, 'after' | 'monotonicMs' | 'log'>
  /** Reads long states beside the main thread. */
  readonly json?: Pick<LongJson, 'contains'>
}

/** A filter on values reads the state of every candidate: this many at the most. */
const candidatesMax = 1_000
/**
 * States that a search reads at the same time: at first for a filter, at first for a page that
 * shows them (all of a small one), and while they are short.
 */
const [fewStates, pageStates, manyStates] = [4, 10, 16]
/** Characters read at the same time, if all states are as long as the longest so far. */
const togetherMax = 4 * 1024 * 1024
/** A state longer than this takes a turn of the event loop of its own. */
const longState = 64 * 1024

type Finder<Found> = (view: ThreadView) => Found | Promise<Found>

/** Without a reader, everything is parsed at once. */
const atOnce: Pick<LongJson, 'contains'> = {
  contains: async (_tenant, text, part) => contains(JSON.parse(text), part),
}

export function createThreadClient({ router, threads, newThreadId, env, json = atOnce }:
ThreadClientOptions): ThreadClient {
  const keyOf = (tenant: string, id: string): ActorKey => ({ kind: 'thread', tenant, id })
  const ask = <Reply>(tenant: string, id: string, command: ThreadCommand, gone?: AbortSignal) =>
    router.ask(keyOf(tenant, id), command, gone) as Promise<Reply>
  const read = <Reply>(tenant: string, id: string, command: ThreadCommand) =>
    ask<Reply>(tenant, id, command).catch(asUnread)

  /** Undefined for a thread that was deleted after it was found. */
  const viewOf = ({ tenant, threadId }: ThreadRow) =>
    read<ThreadView>(tenant, threadId, { type: 'get' }).catch(unlessGone)

  /** Reads fewer at a time if they are long, so that other requests get their turn. */
  async function* viewsOf(rows: readonly ThreadRow[], atFirst: number):
  AsyncGenerator<ThreadView, void, void> {
    let [together, longest] = [atFirst, 1]
    for await (const view of readAhead(() => together, rows, viewOf)) {
      if (!view) continue
      const { length } = view.values
      longest = Math.max(longest, length)
      together = Math.min(manyStates, Math.max(1, Math.floor(togetherMax / longest)))
      if (length > longState) await new Promise((nextTurn) => setImmediate(nextTurn))
      yield view
    }
  }

  const search = async <Found>(query: ThreadQuery & ValuesFilter,
    found: Finder<Found>) => {
    const { values, withoutValues = false, ...plain } = query
    if (values) return searchValues(plain, values, found)
    const { rows, total } = await threads.search(plain)
    using _ = roomOf(rows)
    const kept: Found[] = []
    if (withoutValues) for (const row of rows) kept.push(await found({ row, values: '{}' }))
    else for await (const view of viewsOf(rows, pageStates)) kept.push(await found(view))
    return { threads: kept, total }
  }

  const searchValues = async <Found>(query: ThreadQuery,
    wanted: Readonly<Record<string, unknown>>, found: Finder<Found>) => {
    const { offset, limit } = query
    const candidates = await threads.search({ ...query, offset: 0, limit: candidatesMax })
    if (candidates.total > candidatesMax) {
      throw new HeddleError('invalid', 'A filter on values looks into each thread: narrow it to ' +
        `${candidatesMax} threads at most by metadata, status or ids (${candidates.total} match).`)
    }
    using _ = roomOf(candidates.rows)
    const kept: Found[] = []
    let total = 0
    for await (const view of viewsOf(candidates.rows, fewStates)) {
      if (!await json.contains(query.tenant, view.values, wanted)) continue
      if (total >= offset && kept.length < limit) kept.push(await found(view))
      total++
    }
    return { threads: kept, total }
  }

  return {
    create: (tenant, request) => ask(tenant, request.threadId, { type: 'create', request }),
    get: (tenant, id) => read(tenant, id, { type: 'get' }),
    patch: (tenant, id, metadata) => ask(tenant, id, { type: 'patch', metadata }),
    delete: async (tenant, id) => {
      // Retried after its owner died, the delete must not hit a thread made since with the same id.
      const { row } = await read<ThreadView>(tenant, id, { type: 'get', brief: true })
      const command = { type: 'delete', branchId: row.branch?.id } as const
      await ask<void>(tenant, id, command).catch(unlessGoneByThis)
    },
    copy: (tenant, id) => ask(tenant, id, { type: 'copy', targetId: newThreadId() }),
    search,
    count: async (filter: ThreadFilter & ValuesFilter) => {
      const { values, withoutValues: _, ...plain } = filter
      if (!values) return threads.count(plain)
      const order = { sortBy: 'created_at', sortOrder: 'desc' } as const
      const query = { ...plain, ...order, limit: 0, offset: 0 }
      return (await searchValues(query, values, () => {})).total
    },
    state: (tenant, id, query) => read<JsonText>(tenant, id, { type: 'state', query }),
    history: (tenant, id, query) => read<JsonText>(tenant, id, { type: 'history', query }),
    updateState: (tenant, id, update) => ask<JsonText>(tenant, id, { type: 'edit', update }),
    startRun: (tenant, id, run) => ask<RunRow>(tenant, id, { type: 'start', run }),
    getRun: (tenant, id, runId) => read<RunRow>(tenant, id, { type: 'get_run', runId }),
    listRuns: (query) => read<RunRow[]>(query.tenant, query.threadId, { type: 'list_runs', query }),
    cancelRun: (tenant, id, runId, cancel) => ask(tenant, id, { type: 'cancel', runId, cancel }),
    deleteRun: (tenant, id, runId) => ask(tenant, id, { type: 'delete_run', runId }),
    joinRun: (tenant, id, runId, join = {}) => joinSteadily({
      env, ...join,
      join: () => ask<JsonText>(tenant, id, { type: 'join', runId }, join.gone),
    }),
    followRun: (tenant, id, runId, { after, modes, made = false }, listener) => followSteadily({
      env, runId, after, made, listener,
      follow: (from, steady) =>
        router.follow(keyOf(tenant, id), { runId, follow: { after: from, modes } }, steady),
    }).catch(asUnread),
  }
}

/** Accounts for the rows that were found: they are kept while their states are read. */
function roomOf(rows: readonly ThreadRow[]): Disposable {
  const room = new AnswerRoom()
  try {
    for (const { metadataJson, configJson } of rows) room.take(metadataJson, configJson)
  } catch (error) {
    room[Symbol.dispose]()
    throw error
  }
  return room
}
