/** The route that tells admins where a thread lives. */

import { getThreadPlace } from '../../api/index.ts'
import type { ThreadPlace } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { sendJson } from '../http/list-reply.ts'
import type { App, RouteParts } from '../http/route.ts'
import { serve } from '../http/serve.ts'

/** Port that finds the place of a thread. */
export interface ThreadPlaces {
  placeOf(tenant: string, threadId: string): Promise<ThreadPlace>
}

/** Adds the route. It activates no thread. */
export function threadPlaceRoutes(app: App, { threads, placeOf }: RouteParts & ThreadPlaces): void {
  serve(app, getThreadPlace, async ({ params: { thread_id: id }, caller }, reply) => {
    if (!await threads.exists(caller, id)) {
      throw new HeddleError('not_found', `Thread ${id} not found.`)
    }
    return sendJson(reply, JSON.stringify(await placeOf(caller.tenant, id)))
  })
}
