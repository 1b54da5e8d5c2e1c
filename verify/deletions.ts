/** The end of a round: everything is deleted, and then nothing is found or counted any more. */

import { setTimeout as pause } from 'node:timers/promises'

import { indexHistory, isSuccess } from './checker/history-index.ts'
import { remainsOf } from './checker/tenant-rules.ts'
import type { Entry } from './history/history.ts'
import { lastReader } from './workload/session.ts'
import type { Session } from './workload/session.ts'

/** Time in which storage of what was deleted is released. */
const releaseMs = 20_000
const retries = 20

/** Records how much the tenant uses. Does nothing if the target has no tenants. */
export async function readUsage(session: Session, signal: AbortSignal): Promise<void> {
  if (!session.offers('usage.get')) return
  await session.call(lastReader, { operation: 'usage.get', method: 'GET', path: '/limits' }, signal)
}

/** Deletes all that the round has created, searches for it, and reads the usage until it falls. */
export async function deleteEverything(session: Session, signal: AbortSignal): Promise<void> {
  for (const path of listCreated(session)) await deletePath(session, path, signal)
  for (const [kind, field] of [['threads', 'verify'], ['threads', 'mortal'], ['runs/crons',
    'verify'], ['assistants', 'verify']] as const) {
    const name = { 'threads': 'thread', 'runs/crons': 'cron', 'assistants': 'assistant' }[kind]
    if (!session.offers(`${name}.search`)) continue
    await session.call(lastReader, { operation: 'final.search', method: 'POST',
      path: `/${kind}/search`, body: { metadata: { [field]: session.name } } }, signal)
  }
  const endMs = performance.now() + releaseMs
  do {
    await readUsage(session, signal)
    if (remainsOf(session.history.entries.filter((entry) => entry.type === 'call')).length === 0) {
      return
    }
    await pause(500)
  } while (performance.now() < endMs && !signal.aborted)
}

/** Paths of all that exists, or may exist. */
function listCreated({ history, name }: Session): readonly string[] {
  const { threads, calls, ticks } = indexHistory(history.entries)
  const created = calls.filter(({ status }) => isSuccess(status)).flatMap((call) => {
    const toPath = creations[call.operation]
    return toPath ? [toPath(call.response as Ids)] : []
  })
  const items = new Set(calls.filter(isItem).map(({ client }) => client))
  return [
    ...created.toSorted((one, other) => Number(isCron(other)) - Number(isCron(one))),
    ...[...threads.keys(), ...new Set(ticks.map(({ runId }) => runId))]
      .map((id) => `/threads/${id}`),
    ...[...items].map((client) => `/store/items?namespace=verify.${name}&key=client-${client}`),
  ]
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
  'mortal.create': ({ thread_id: id }) => `/threads/${id}`,
  'project.create': ({ id }) => `/api/v1/sessions/${id}`,
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
