/** Calls of the control API. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import type { DeploymentBody, LinesQuery } from '../../../api/index.ts'
import { addressFor } from '../address.ts'
import { ask } from '../ask.ts'
import { follow } from '../event-stream.ts'
import type { Stream } from '../event-stream.ts'
import { pollEvery } from '../poll.ts'
import { pause } from '../../env.ts'
import type { DeploymentEvent, LogLine } from './deployment.ts'

/** Deployments and revisions of one page of a list. */
const atOnce = 50

/** All deployments of the caller's tenant: few. Asked again while somebody looks. */
export const deploymentList = infiniteQueryOptions({
  queryKey: ['deployments', 'list'],
  queryFn: async ({ pageParam, signal }) =>
    (await ask('GET /control/v1/deployments', { query: { limit: atOnce, offset: pageParam },
      signal })).deployments,
  initialPageParam: 0,
  getNextPageParam: (page, pages) => page.length < atOnce ? undefined : pages.length * atOnce,
  refetchInterval: pollEvery(5_000),
})

/** One deployment. Its events say when to ask again. */
export const deploymentQuery = (name: string) =>
  queryOptions({
    queryKey: ['deployments', name, 'whole'],
    queryFn: ({ signal }) =>
      ask('GET /control/v1/deployments/:deployment', { params: { deployment: name }, signal }),
    refetchInterval: pollEvery(15_000),
  })

/** The revisions of a deployment, the newest first. */
export const revisionList = (name: string) =>
  infiniteQueryOptions({
    queryKey: ['deployments', name, 'revisions'],
    queryFn: async ({ pageParam, signal }) =>
      (await ask('GET /control/v1/deployments/:deployment/revisions', {
        params: { deployment: name },
        query: { limit: atOnce, offset: pageParam },
        signal,
      })).revisions,
    initialPageParam: 0,
    getNextPageParam: (page, pages) => page.length < atOnce ? undefined : pages.length * atOnce,
    refetchInterval: pollEvery(15_000),
  })

/** Query of one revision of a deployment. */
export const revisionQuery = (name: string, revision: string) =>
  queryOptions({
    queryKey: ['deployments', name, 'revision', revision],
    queryFn: ({ signal }) =>
      ask('GET /control/v1/deployments/:deployment/revisions/:revision', {
        params: { deployment: name, revision },
        signal,
      }),
  })

/** Query of the secrets of a deployment, without values. */
export const secretList = (name: string) =>
  queryOptions({
    queryKey: ['deployments', name, 'secrets'],
    queryFn: ({ signal }) =>
      ask('GET /control/v1/deployments/:deployment/secrets', { params: { deployment: name },
        signal }),
  })

/** Changes the fields of a deployment that the body names. */
export const changeDeployment = (name: string, body: DeploymentBody) =>
  ask('PATCH /control/v1/deployments/:deployment', { params: { deployment: name }, body })

/** Removes a deployment with its revisions, secrets and data. */
export const removeDeployment = (name: string) =>
  ask('DELETE /control/v1/deployments/:deployment', { params: { deployment: name },
    query: { data: 'remove' } })

/** Loads a revision on one member, and compares it with the active one. */
export const checkRevision = (name: string, revision: string) =>
  ask('POST /control/v1/deployments/:deployment/revisions/:revision/check', {
    params: { deployment: name, revision },
  })

/** The events follow what a roll-out does. */
const atOnceAnswered = { prefer: 'respond-async' }

/** Options of the call that makes a revision active. */
export interface ActivateRequest {
  /** The share of new runs. */
  readonly percent: number
  /** The revision that the caller saw as active: another one is answered `stale`. */
  readonly expect: string | null
  readonly message: string
}

/** Begins to make a revision the active one, or to give it a share. */
export const activate = (name: string, revision: string, { expect, ...options }: ActivateRequest) =>
  ask('POST /control/v1/deployments/:deployment/revisions/:revision/activate', {
    params: { deployment: name, revision },
    headers: atOnceAnswered,
    body: { ...options, ...expect !== null && { expect } },
  })

/** Begins to make an earlier revision active again. */
export const rollBack = (name: string, to: string, message: string) =>
  ask('POST /control/v1/deployments/:deployment/rollback', { params: { deployment: name },
    headers: atOnceAnswered, body: { to, message } })

/** Sets a secret. Resolves when the active revision has loaded it, or when it is kept. */
export const setSecret = (deployment: string, name: string, value: string) =>
  ask('PUT /control/v1/deployments/:deployment/secrets/:name', { params: { deployment, name },
    body: { value } })

/** Removes a secret, as `setSecret` sets one. */
export const removeSecret = (deployment: string, name: string) =>
  ask('DELETE /control/v1/deployments/:deployment/secrets/:name', { params: { deployment, name } })

/** Parts of a stream that the follower gives: the signal to end it, and two callbacks. */
export type Following = Pick<Stream, 'signal' | 'away' | 'opened'>

/** Follows what happens to a deployment, from its beginning. Throws ApiError. */
export async function* followEvents(name: string,
  following: Following): AsyncGenerator<DeploymentEvent> {
  yield* endless(
    addressFor('GET /control/v1/deployments/:deployment/events', { params: { deployment: name } }),
    following,
  )
}

/** Filter of the lines that are asked for. */
export type LogRequest = Pick<LinesQuery, 'revision' | 'level' | 'limit' | 'q' | 'since' | 'until'>

/** Follows the lines of all members; after a break some may come again. Throws ApiError. */
export async function* followLogs(name: string, asked: LogRequest,
  following: Following): AsyncGenerator<LogLine> {
  yield* endless(
    addressFor('GET /control/v1/deployments/:deployment/logs', { params: { deployment: name },
      query: { follow: true, ...asked } }),
    following,
  )
}

/** A member that drains ends its streams in peace; others go on with them. */
const againMs = 500

async function* endless<Event>(path: string, following: Following): AsyncGenerator<Event> {
  let last = ''
  while (!following.signal.aborted) {
    const stream = follow({ ...following, path, headers: { accept: 'text/event-stream' },
      lastEventId: last })
    for await (const { id, text, event } of stream) {
      last = id
      const value: unknown = event === 'end' ? null : JSON.parse(text)
      if (typeof value === 'object' && value !== null && 'at' in value) yield value as Event
    }
    await pause(againMs, following.signal)
  }
}
