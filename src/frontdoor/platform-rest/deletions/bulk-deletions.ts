/**
 * Routes of deletions of all traces that a question finds. They go on after the answer. The paths
 * are our own, in the manner of the bulk exports of the hosted API.
 */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { HeddleError } from '../../../errors.ts'
import { withoutUndefined } from '../../../json/index.ts'
import { deletionJson } from '../../../platform/index.ts'
import type { DeletionConditions } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { Json, Nullable, OneOf, Uuid } from '../../schema/json.ts'
import { requireId } from '../path-id.ts'
import { platformRoute, projectsOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { questionOfV1 } from '../runs-question.ts'

const words = () => Type.Optional(Nullable(Type.String({ maxLength: 8_192 })))
const flag = () => Type.Optional(Nullable(Type.Boolean()))

/** A misspelt condition that was dropped would delete too much: unknown members are refused. */
const BulkDeletion = Type.Object({
  session: Type.Array(Uuid(), { minItems: 1, maxItems: 100 }),
  run_type: words(),
  reference_example: Type.Optional(Nullable(Type.Array(Uuid(), { maxItems: 100 }))),
  start_time: Type.Optional(Json()),
  end_time: Type.Optional(Json()),
  error: flag(),
  query: words(),
  search_filter: words(),
  filter: words(),
  trace_filter: words(),
  tree_filter: words(),
  is_root: flag(),
}, { additionalProperties: false })

const Change = Type.Object({ status: OneOf(['Cancelled']) })
const IdPath = Type.Object({ id: Type.String() })

/** Adds the routes below `/api/v1`. */
export function bulkDeletionRoutes(app: App, { platform }: PlatformParts): void {
  const { deletions } = platform
  if (deletions === undefined) return

  app.post('/bulk-deletions', platformRoute('change', { body: BulkDeletion }),
    async (request, reply) => {
      const { body, caller: { tenant } } = request
      const projects = await projectsOf(platform, request, body.session)
      if (projects.length < new Set(body.session).size) {
        throw new HeddleError('not_found', 'session: one of these projects does not exist.')
      }
      const made = await deletions.create(tenant, {
        projects: projects.map(({ id }) => id),
        conditions: conditionsIn(tenant, body),
        asked: withoutUndefined(body),
      })
      return reply.code(202).send(deletionJson(made))
    })

  app.get('/bulk-deletions', platformRoute('read'),
    async ({ caller: { tenant } }) => (await deletions.list(tenant)).map(deletionJson))

  app.get('/bulk-deletions/:id', platformRoute('read', { params: IdPath }),
    async ({ params, caller: { tenant } }) =>
      deletionJson(await deletions.get(tenant, requireId(params.id, 'deletion'))))

  app.patch('/bulk-deletions/:id', platformRoute('change', { params: IdPath, body: Change }),
    async ({ params, caller: { tenant } }) =>
      deletionJson(await deletions.cancel(tenant, requireId(params.id, 'deletion'))))
}

/** Throws `invalid` if there are none: more often a mistake than meant so. */
function conditionsIn(tenant: string, body: Static<typeof BulkDeletion>): DeletionConditions {
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
