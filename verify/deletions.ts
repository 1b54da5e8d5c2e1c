/** The end of a round: everything is deleted, and then nothing is found or counted any more. */

import { setTimeout as pause } from 'node:timers/promises'

import { indexHistory, isSuccess } from './checker/history-index.ts'
import { findRemains } from './checker/tenant-rules.ts'
import type { Entry } from './history/history.ts'
import { lastReader } from './workload/session.ts'
import type { Reply, Session } from './workload/session.ts'

/** Time in which storage of what was deleted is released. */
const releaseMs = 20_000
const retries = 20

/** Records how much the tenant uses. Does nothing if the target has no tenants. */
export async function readUsage(session: Session, signal: AbortSignal): Promise<Reply> {
  if (!session.offers('usage.get')) return {}
  return await session.call(lastReader, { operation: 'usage.get', method: 'GET', path: '/limits' },
    signal)
}

/**
 * Deletes all that the round has created, searches for it, and reads the usage until it falls. Does
 * nothing if the target has no deletion.
 */
export async function deleteEverything(session: Session, signal: AbortSignal): Promise<void> {
  if (!session.offers('thread.delete')) return
  const { calls } = indexHistory(session.history.entries)
  for (const path of listCreated(session)) await deletePath(session, path, signal)
  await deleteExperiments(session, signal)
  for (const search of listSearches(session)) {
    if (search.path.endsWith('/threads/search') && session.offers('thread.remove')) {
      await pruneThreads(session, search, signal)
    } else await deleteFound(session, search, signal)
    await session.call(lastReader, { ...search, operation: 'final.search', method: 'POST' }, signal)
  }
  const first = calls.find(({ operation }) => operation === 'usage.get')
  if (first === undefined) return
  const endMs = performance.now() + releaseMs
  do {
    const { status, response } = await readUsage(session, signal)
    if (status === 200 && findRemains(first, { response }).length === 0) return
    await pause(500)
  } while (performance.now() < endMs && !signal.aborted)
}

interface Search {
  readonly path: string
  readonly body: { readonly metadata: Readonly<Record<string, string>> }
}

function listSearches(session: Session): readonly Search[] {
  const { name, bases } = session
  const search = (path: string, field: string, value = name): Search => ({ path: `${path}/search`,
    body: { metadata: { [field]: value } } })
  return [
    ...bases.map((base) => search(`${base}/threads`, 'verify')),
    // A tool that asks has a thread until the answer.
    ...session.offers('mcp.call') ? [search('/threads', 'mcp_session', '')] : [],
    ...session.offers('mortal.create') ? [search('/threads', 'mortal')] : [],
    ...session.offers('cron.create') ? [search('/runs/crons', 'verify')] : [],
    ...session.offers('assistant.create') ? [search('/assistants', 'verify')] : [],
  ]
}

/** Deletes what a search finds: its creation had no response. */
async function deleteFound(session: Session, search: Search, signal: AbortSignal): Promise<void> {
  const { response } = await session.call(lastReader, { ...search, operation: 'final.find',
    method: 'POST' }, signal)
  const path = search.path.replace('/search', '')
  for (const { thread_id: thread, cron_id: cron, assistant_id: assistant }
    of (response ?? []) as Ids[]) {
    // Threads and crons have the id of their assistant, too.
    await deletePath(session, `${path}/${cron ?? thread ?? assistant}`, signal)
  }
}

/** Deletes the threads that a search finds, also those whose creation had no response. */
async function pruneThreads(session: Session, { path, body }: Search,
  signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < retries; tries++) {
    const { status, response } = await session.call(lastReader, { operation: 'final.prune',
      method: 'POST', path: path.replace('/search', '/prune'),
      body: { filter: body, strategy: 'delete' } }, signal)
    const { pruned_count: count } = (response ?? {}) as { pruned_count?: number }
    if (status === 200 && count === 0) return
    if (status !== 200) await pause(100)
  }
}

/** Paths of all that exists, or may exist. */
function listCreated(session: Session): readonly string[] {
  const { history, name } = session
  const { threads, calls, ticks } = indexHistory(history.entries)
  const created = calls.filter(({ status }) => isSuccess(status)).flatMap((call) => {
    const toPath = creations[call.operation]
    return toPath ? [toPath(call.response as Ids)] : []
  })
  const items = new Set(calls.filter(isItem).map(({ client }) => client))
  return [
    ...created.toSorted((one, other) => Number(isCron(other)) - Number(isCron(one))),
    ...session.offers('thread.remove') ? [] : [...threads.keys()].map((id) => `/threads/${id}`),
    ...[...new Set(ticks.map(({ runId }) => runId))].map((id) => `/threads/${id}`),
    ...[...items].map((client) => `/store/items?namespace=verify.${name}&key=client-${client}`),
  ]
}

/** Deletes the datasets in which replays of the deployment are kept, with their experiments. */
async function deleteExperiments(session: Session, signal: AbortSignal): Promise<void> {
  if (session.replays.length === 0) return
  const path = `/d/${session.deployment?.name}/api/v1`
  for (const id of listExperiments(session)) {
    await deletePath(session, `${path}/sessions/${id}`, signal)
  }
  const { response } = await session.call(lastReader, { operation: 'final.find', method: 'GET',
    path: `${path}/datasets?limit=100` }, signal)
  for (const { id } of (response ?? []) as Ids[]) {
    await deletePath(session, `${path}/datasets/${id}`, signal)
  }
}

/** Experiments of replays. */
function listExperiments({ history }: Session): ReadonlySet<string> {
  return new Set(history.entries.flatMap((entry) => {
    if (entry.type !== 'call' || entry.operation !== 'replay.get') return []
    const { replay } = (entry.response ?? {}) as { replay?: { experiment: string | null } }
    return replay?.experiment ?? []
  }))
}

type Ids = Readonly<Record<'assistant_id' | 'cron_id' | 'thread_id' | 'id', string>>

/** Crons are deleted first, so that they make no more threads. */
function isCron(path: string): boolean {
  return path.startsWith('/runs/crons/')
}

/** Paths of what an operation has created. */
const creations: Readonly<Record<string, (ids: Ids) => string>> = {
  'cron.create': ({ cron_id: id }) => `/runs/crons/${id}`,
  'assistant.create': ({ assistant_id: id }) => `/assistants/${id}`,
  'project.create': ({ id }) => `/api/v1/sessions/${id}`,
  'dataset.create': ({ id }) => `/api/v1/datasets/${id}`,
  'queue.create': ({ id }) => `/api/v1/annotation-queues/${id}`,
}

function isItem(entry: Entry): boolean {
  return entry.type === 'call' && entry.operation === 'item.put'
}

/** Deletes it, and tries again while no server serves. */
async function deletePath(session: Session, path: string, signal: AbortSignal): Promise<void> {
  const [bare, query] = path.split('?')
  const { namespace = '', key } = Object.fromEntries(new URLSearchParams(query))
  const body = query === undefined ? undefined : { namespace: namespace.split('.'), key }
  for (let tries = 0; tries < retries; tries++) {
    const { status } = await session.call(lastReader, { operation: 'final.delete', method: 'DELETE',
      path: bare!, body }, signal)
    if (status !== undefined && status < 500) return
    await pause(100)
  }
}
