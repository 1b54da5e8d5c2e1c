/** The route that tells admins where a thread lives. */

import { HeddleError } from '../../errors.ts'
import { sendJson } from '../http/list-reply.ts'
import { route } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { ThreadPath } from '../schema/thread.ts'

/** Place of a thread: its owner, its shard and epoch, and if it is in memory. */
export interface ThreadPlace {
  /** The owner's id, and where other members reach it. */
  readonly member: string
  readonly address: string
  readonly shard: number
  /** Grows with each change of owner. */
  readonly epoch: number
  /** True if the thread is in memory; false also if its owner did not say so in time. */
  readonly active: boolean
}

/** Port that finds the place of a thread. */
export interface ThreadPlaces {
  placeOf(tenant: string, threadId: string): Promise<ThreadPlace>
}

/** Adds the route. It activates no thread. */
export function threadPlaceRoutes(app: App, { threads, placeOf }: RouteParts & ThreadPlaces): void {
  app.get('/threads/:thread_id/place',
    route('admin', 'getThreadPlace', { tag: 'Threads', params: ThreadPath, answer: 'ThreadPlace',
      summary: 'Get the member of the cluster on which a thread lives' }),
    async ({ params: { thread_id: id }, caller: { tenant } }, reply) => {
      if (!await threads.exists(tenant, id)) {
        throw new HeddleError('not_found', `Thread ${id} not found.`)
      }
      return sendJson(reply, JSON.stringify(await placeOf(tenant, id)))
    })
}
