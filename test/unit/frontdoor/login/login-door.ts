/** A front door before a project with a login, asked in this process. */

import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'
import { expect, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'

import type { FrontDoorOptions } from '../../../../src/frontdoor/index.ts'
import { loginOver } from '../../../../src/graph/app-thread/login-handlers.ts'
import type { AuthSettings, ProjectLogin } from '../../../../src/graph/index.ts'
import { isMeant } from '../../../../src/search/index.ts'
import { viewOf } from '../fake-threads.ts'
import { call, graphHost, openDoor } from '../open-front-door.ts'
import type { Answer, OpenDoor } from '../open-front-door.ts'

export type Json = Record<string, unknown>

/** The thread of Ann. */
export const threadId = '0198a2f0-0000-7000-8000-000000000001'

/** A text in everything that is Ann's. */
export const mark = 'only-for-ann'

/** Shows each user their own, and lets `out` do nothing. A token is the name of its user. */
export function eachTheirOwn(): Auth {
  return new Auth()
    .authenticate((request) => {
      const [, name] = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '') ?? []
      if (name === undefined) throw new HTTPException(401, { message: 'Who is it?' })
      return name
    })
    .on('*', ({ value, user }) => {
      if (user.identity === 'out') return false
      if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity }
      return { owner: user.identity }
    })
    .on('assistants:search', ({ user }) => user.identity !== 'out')
    .on('assistants:read', ({ user }) => user.identity !== 'out') as Auth
}

/** A front door before this login. */
export interface LoginDoor {
  readonly door: OpenDoor
  /** What the login got wrong, as the log has it. */
  readonly faults: readonly string[]
  /** Sends as a user; without a name, as nobody. */
  as(name: string | undefined, method: string, path: string, body?: unknown,
    headers?: Record<string, string>): Promise<Answer>
}

/** Members by which a test changes the login. */
export interface LoginDoorOptions extends Partial<FrontDoorOptions> {
  readonly settings?: Omit<AuthSettings, 'path'>
  /** Changes the login that asks in this process. */
  readonly change?: (login: ProjectLogin) => ProjectLogin
}

export async function openLoginDoor(auth: unknown = eachTheirOwn(),
  { settings, change = (login) => login, ...options }: LoginDoorOptions = {}): Promise<LoginDoor> {
  const faults: string[] = []
  const login = change(
    loginOver(auth,
      (reason, error) => faults.push(`${reason} ${error instanceof Error ? error.message : ''}`)),
  )
  const named: AuthSettings = { path: './auth.ts:auth', ...settings }
  let runs: OpenDoor['threads']['runs'] = new Map()
  const door = await openDoor({ graphs: { ...graphHost('agent'), app: () => ({ login }) },
    projectAuth: () => named, ...options, runIndex: { search: async (query) => ({
      rows: [...runs.values()].map(({ row }) => row).filter((row) => isMeant(query, row)),
      next: undefined,
    }) } })
  runs = door.threads.runs
  return { door, faults,
    as: (name, method, path, body, headers = {}) =>
      call(door, method, path, body, { ...name && { authorization: `Bearer ${name}` },
        ...headers }) }
}

/** Gives Ann a thread with a run. Resolves with the id of the run. */
export async function giveAnn({ door, as }: LoginDoor): Promise<string> {
  door.threads.views.set(threadId,
    viewOf('local', threadId, { owner: 'ann', mark }, JSON.stringify({ messages: [mark] })))
  const { status } = await as('ann', 'POST', `/threads/${threadId}/runs`, { assistant_id: 'agent',
    input: { mark }, metadata: { mark } })
  expect(status).toBe(200)
  door.threads.calls.length = 0
  return door.threads.lastRun.row.runId
}

/** Calls of threads that only look. All others do something. */
const looks: ReadonlySet<string> = new Set(['get', 'getRun', 'listRuns', 'search', 'count', 'state',
  'history', 'runGraphs', 'runEffects', 'runLogs', 'followThread', 'followRun', 'joinRun'])

/** What was done to threads since Ann got hers. */
export function done({ threads }: OpenDoor): readonly string[] {
  return threads.calls.map(({ name }) => name).filter((name) => !looks.has(name))
}

/** A WebSocket on Ann's thread, as a user. */
export async function socketOf({ url }: OpenDoor, name: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/threads/${threadId}/stream/events`, {
    headers: { authorization: `Bearer ${name}` },
  })
  onTestFinished(() => socket.terminate())
  const frames: Json[] = []
  const waiting = new Map<unknown, (frame: Json) => void>()
  socket.on('error', () => {})
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as Json
    frames.push(frame)
    waiting.get(frame['id'])?.(frame)
  })
  const closed = new Promise<number>((resolve) => {
    socket.once('close', resolve)
  })
  await Promise.race([closed, new Promise((resolve) => {
    socket.once('open', resolve)
  })])
  const ask = (method: string, params: unknown, id: number) => {
    const answer = new Promise<Json>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    return answer
  }
  return { frames, closed, ask }
}
