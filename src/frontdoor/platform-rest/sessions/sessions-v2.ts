/** The list of projects in v2, page by page. */

import { listProjectsV2 } from '../../../api/index.ts'
import type { Query } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { sessionJsonV2 } from '../../../platform/index.ts'
import type { Project, ProjectQuery } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { cursorParts, cursorText } from '../../schema/cursor.ts'
import type { PlatformParts } from '../platform-route.ts'
import { filtersOf, statsOf } from './sessions.ts'

/** Adds the route below `/api/v2`. */
export function sessionRoutesV2(app: App, parts: PlatformParts): void {
  serve(app, listProjectsV2, async ({ query, caller: { tenant } }, reply) => {
    const limit = query.page_size ?? query.limit ?? 20
    const question = { ...questionOf(query), limit }
    const { projects } = await parts.platform.projects.find(tenant, question)
    const stats = await statsOf(parts, tenant, query.include_stats ? projects : [], reply)
    const last = projects.length < limit ? undefined : projects.at(-1)
    return {
      items: projects.map((each) => sessionJsonV2(tenant, each, stats.get(each.id))),
      next_cursor: last === undefined ? null : cursorAfter(last),
    }
  })
}

function questionOf(query: Query<typeof listProjectsV2>): ProjectQuery {
  const { sort_by: sortBy = '', sort_order: order = 'desc', reference_dataset_id: datasets, cursor,
    type } = query
  return {
    ...filtersOf(query),
    sortBy: sortBy.toLowerCase() === 'name' ? 'name' : 'start_time',
    descending: order.toLowerCase() !== 'asc',
    limit: 1,
    offset: 0,
    ...datasets && { referenceDatasetIds: datasets },
    ...kindsOf(type),
    ...cursor !== undefined && { after: placeIn(cursor) },
  }
}

/** Experiments are the projects with a dataset. */
function kindsOf(types: readonly string[] = []): Pick<ProjectQuery, 'referenceFree'> {
  const kinds = new Set(types.map((type) => type.toUpperCase()))
  const experiments = kinds.has('EXPERIMENT')
  const others = kinds.has('PROJECT') || kinds.has('AGENT')
  return experiments === others ? {} : { referenceFree: others }
}

type Place = NonNullable<ProjectQuery['after']>

function cursorAfter({ id, name, startMs, createdMs }: Project): string {
  return cursorText([id, name, startMs, createdMs])
}

function placeIn(cursor: string): Place {
  const [id, name, startMs, createdMs] = cursorParts(cursor)
  if (typeof id === 'string' && typeof name === 'string' && typeof startMs === 'number'
    && typeof createdMs === 'number') return { id, name, startMs, createdMs }
  throw new HeddleError('malformed', 'cursor: take the one of the page before.')
}
