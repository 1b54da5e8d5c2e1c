/** Routes that delete traces by their ids, or by metadata of their roots, before they answer. */

import type { FastifyRequest } from 'fastify'

import { deleteRuns, deleteTraces } from '../../../api/index.ts'
import { tracePlace } from '../../../platform/index.ts'
import type { Platform, Uuid } from '../../../platform/index.ts'
import { leftSignal } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { projectOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { tracesWith } from './traces-with.ts'

/** Adds the routes below `/api/v1`. */
export function traceDeletionRoutes(app: App, { platform }: PlatformParts): void {
  serve(app, deleteRuns, async (request, reply) => {
    const { body, caller: { tenant } } = request
    const metadata = body.metadata ?? {}
    const signal = leftSignal(reply)
    await deleteOf(platform, request, body.session_id,
      async (project) =>
        body.trace_ids ?? (Object.keys(metadata).length === 0
          ? []
          : await tracesWith(platform, { tenant, project, metadata, signal })))
    return {}
  })

  serve(app, deleteTraces, async (request) => {
    const { session_id: project, trace_ids: ids } = request.body
    await deleteOf(platform, request, project, () => Promise.resolve(ids))
    return {}
  })
}

/** Deletes the traces of a project. Throws `not_found` if the tenant has no such project. */
async function deleteOf(platform: Platform, request: FastifyRequest, projectId: Uuid,
  idsIn: (project: Awaited<ReturnType<typeof projectOf>>) => Promise<readonly Uuid[]>
): Promise<
  void
> {
  const { tenant } = request.caller
  const project = await projectOf(platform, request, projectId)
  const ids = await idsIn(project)
  const known = await platform.query.locate({ tenant, ids })
  const located = new Set(known.map(({ id }) => id))
  // A trace of OpenTelemetry has an id that none of its spans has.
  const traces = [...known.filter((place) => place.project === project.id),
    ...ids.filter((id) => !located.has(id)).map((id) => tracePlace(tenant, project.id, id))]
  await platform.ingest.remove({ tenant, what: { kind: 'traces', traces } })
}
