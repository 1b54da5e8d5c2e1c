/** Routes of deletions of all traces that a question finds. They go on after the answer. */

import { cancelBulkDeletion, createBulkDeletion, getBulkDeletion,
  listBulkDeletions } from '../../../api/index.ts'
import type { BulkDeletionBody } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { withoutUndefined } from '../../../json/index.ts'
import { deletionJson } from '../../../platform/index.ts'
import type { DeletionConditions } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { requireId } from '../path-id.ts'
import { projectsOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { questionOfV1 } from '../runs-question.ts'

/** Adds the routes below `/api/v1`. */
export function bulkDeletionRoutes(app: App, { platform }: PlatformParts): void {
  const { deletions } = platform
  if (deletions === undefined) return

  serve(app, createBulkDeletion, async (request) => {
    const { body, caller: { tenant } } = request
    const projects = await projectsOf(platform, request, body.session)
    if (projects.length < new Set(body.session).size) {
      throw new HeddleError('not_found', 'session: one of these projects does not exist.')
    }
    return deletionJson(
      await deletions.create(tenant, {
        projects: projects.map(({ id }) => id),
        conditions: conditionsIn(tenant, body),
        asked: withoutUndefined(body),
      }),
    )
  })
  serve(app, listBulkDeletions,
    async ({ caller: { tenant } }) => (await deletions.list(tenant)).map(deletionJson))
  serve(app, getBulkDeletion,
    async ({ params, caller: { tenant } }) =>
      deletionJson(await deletions.get(tenant, requireId(params.id, 'deletion'))))
  serve(app, cancelBulkDeletion,
    async ({ params, caller: { tenant } }) =>
      deletionJson(await deletions.cancel(tenant, requireId(params.id, 'deletion'))))
}

/** Throws `invalid` if there are none: more often a mistake than meant so. */
function conditionsIn(tenant: string, body: BulkDeletionBody): DeletionConditions {
  const { session: _, is_root: _isRoot, ...conditions } = body
  const isSaid = (value: unknown) =>
    value != null && value !== '' &&
    !(Array.isArray(value) && value.length === 0)
  if (!Object.values(conditions).some(isSaid)) {
    throw new HeddleError('invalid', 'Name a condition, such as a filter or an end_time: without ' +
      'one, all traces of the projects would be deleted. DELETE /sessions deletes projects.')
  }
  const { type, fromUs, endToUs, failed, rootsOnly, isRoot, examples, text, filter, traceFilter,
    treeFilter } = questionOfV1(tenant, [], body)
  return withoutUndefined({ type, fromUs, endToUs, failed, rootsOnly, isRoot, examples, text,
    filter, traceFilter, treeFilter })
}
