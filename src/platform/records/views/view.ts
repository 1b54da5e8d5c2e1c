/** Saved views of projects: named filters, kept in catalogs. */

import type { Env } from '../../../../cluster/index.ts'
import { viewsMax, viewTypes } from '../../../api/index.ts'
import type { View, ViewBody } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import type { CatalogRecord } from '../catalog/catalog-record.ts'
import { collection } from '../catalog/collection.ts'
import { zonedTextUs } from '../../spans/time.ts'
import type { Uuid } from '../../spans/span.ts'

/** Full name of a view. */
export interface ViewName {
  readonly tenant: string
  readonly project: Uuid
  readonly id: Uuid
}

/** Choice of a project's views, oldest first. */
export interface ViewQuery {
  readonly type?: View['type']
  readonly limit: number
  readonly offset: number
}

/** The views of projects that exist. All methods throw HeddleError. */
export interface Views {
  list(tenant: string, project: Uuid, query: ViewQuery): Promise<
    { readonly views: readonly View[]; readonly total: number }
  >
  /** `full` if the project has too many. */
  create(tenant: string, project: Uuid, body: ViewBody): Promise<View>
  /** `not_found`. */
  get(name: ViewName): Promise<View>
  /**
   * Changes a view. Members that are absent stay, and so do the name and the type if they are null.
   * `not_found`.
   */
  patch(name: ViewName, body: ViewBody): Promise<View>
  /** `not_found`. */
  delete(name: ViewName): Promise<void>
  /** Deletes those of a project. */
  deleteAll(tenant: string, project: Uuid): Promise<void>
}

/** The views of projects, kept in catalogs. */
export function viewsOver(catalogs: CatalogClient, env: Pick<Env, 'nowMs' | 'uuid'>): Views {
  const views = collection(catalogs, env, { name: 'view', parse: viewOf, missing,
    max: { count: viewsMax, of: 'parent',
      full: `A project may have ${viewsMax} views. Delete those that nobody needs.` } })
  const one = async ({ tenant, project, id }: ViewName) => {
    const view = await views.get(tenant, id)
    if (view.session_id === project) return view
    throw new HeddleError('not_found', missing())
  }
  return {
    list: async (tenant, project, { type, limit, offset }) => {
      const { values, total } = await views.list(tenant, { limit, offset, parentIds: [project],
        ...type && { metadata: { type } } })
      return { views: values, total }
    },
    create: (tenant, project, body) =>
      views.create(tenant, { ...changeOf({ ...body, type: body.type ?? viewTypes[0] }),
        parentId: project }),
    get: one,
    patch: async (name, body) => {
      const { id } = await one(name)
      return views.change(name.tenant, id, changeOf(body))
    },
    delete: async (name) => {
      const { id } = await one(name)
      await views.delete(name.tenant, id)
    },
    deleteAll: (tenant, project) => views.deleteOf(tenant, project),
  }
}

const missing = () => 'There is no such view.'

/** Change of a record. Null members other than the name and the type clear what the view had. */
function changeOf({ display_name: name, type, ...rest }: ViewBody) {
  return {
    ...type && { metadata: { type } },
    body: { ...rest, ...name && { display_name: name }, ...type && { type } },
  }
}

function viewOf({ id, parentId, createdAtMs, modifiedAtMs, bodyJson }: CatalogRecord): View {
  return {
    display_name: '',
    description: null,
    filter_string: null,
    trace_filter_string: null,
    tree_filter_string: null,
    type: viewTypes[0],
    start_time: null,
    end_time: null,
    duration: null,
    ...JSON.parse(bodyJson) as Partial<View>,
    id,
    session_id: parentId,
    created_at: zonedTextUs(createdAtMs * 1_000),
    updated_at: zonedTextUs(modifiedAtMs * 1_000),
  }
}
