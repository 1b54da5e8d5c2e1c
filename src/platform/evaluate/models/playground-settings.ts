/** Models that a workspace has configured, and which of them is asked by default. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import { zonedTextUs } from '../../spans/time.ts'
import { endpointOf, withoutLogins } from './endpoint.ts'
import type { ModelEndpoint } from './model.ts'

/** A configured model as a client gives it. */
export interface PlaygroundSettingBody {
  readonly name?: string
  readonly description?: string | null
  /** A serialised model. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** True: it is asked where none is named, in place of the one before. */
  readonly is_default?: boolean
}

/** A configured model in an answer. */
export type PlaygroundSettingJson = Readonly<Record<string, unknown>>

/** The configured models of tenants. All methods throw HeddleError. */
export interface PlaygroundSettings {
  list(tenant: string): Promise<readonly PlaygroundSettingJson[]>
  create(tenant: string,
    body: PlaygroundSettingBody & { readonly name: string;
      readonly settings: Readonly<Record<string, unknown>> }): Promise<PlaygroundSettingJson>
  patch(tenant: string, id: string, body: PlaygroundSettingBody): Promise<PlaygroundSettingJson>
  delete(tenant: string, id: string): Promise<void>
  /** The model that is asked where none is named. Throws `invalid` if there is none. */
  defaultModel(tenant: string): Promise<ModelEndpoint>
}

interface Body {
  readonly description: string | null
  readonly settings: Readonly<Record<string, unknown>>
  /** When it was made the default; 0 if it was not. The latest counts. */
  readonly defaultAt: number
}

const settingsMax = 100

/** The configured models in catalogs. */
export function playgroundSettingsOver(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'uuid'>): PlaygroundSettings {
  const catalog = (tenant: string) => ({ tenant, collection: 'playground' }) as const
  const all = async (tenant: string) => {
    const { records } = await catalogs.list(catalog(tenant), { sortBy: 'name', descending: false,
      limit: settingsMax, offset: 0 })
    return records
  }
  const json = async (tenant: string, record: CatalogRecord) =>
    settingJson(record, defaultOf(await all(tenant)))
  return {
    list: async (tenant) => {
      const records = await all(tenant)
      const chosen = defaultOf(records)
      return records.map((record) => settingJson(record, chosen))
    },
    create: async (tenant, { name, description = null, settings, is_default: isDefault }) => {
      endpointOf(settings)
      const records = await all(tenant)
      if (records.length >= settingsMax) {
        throw new HeddleError('full', `A workspace may have ${settingsMax} models: delete one.`)
      }
      const body: Body = { description, settings, defaultAt: isDefault ? env.nowMs() : 0 }
      const made = await catalogs.create(catalog(tenant), { id: env.uuid(), name,
        orderMs: env.nowMs(), parentId: '', metadataJson: '{}', bodyJson: JSON.stringify(body) })
      return await json(tenant, made)
    },
    patch: async (tenant, id, { name, description, settings, is_default: isDefault }) => {
      if (settings !== undefined) endpointOf(settings)
      const body: Partial<Body> = { ...description !== undefined && { description },
        ...settings && { settings },
        ...isDefault !== undefined && { defaultAt: isDefault ? env.nowMs() : 0 } }
      const changed = await catalogs.change(catalog(tenant), id, {
        ...name !== undefined && { name },
        bodyJson: JSON.stringify(body),
      })
      return await json(tenant, changed)
    },
    delete: (tenant, id) => catalogs.delete(catalog(tenant), id),
    defaultModel: async (tenant) => {
      const chosen = defaultOf(await all(tenant))
      if (chosen !== undefined) return endpointOf(bodyOf(chosen).settings)
      throw new HeddleError('invalid',
        'No model is named, and the workspace has no default: name ' +
          'one as `model`, or set one with POST /playground-settings and `is_default`.')
    },
  }
}

/** Of several that were made the default, the latest; a single model is the default by itself. */
function defaultOf(records: readonly CatalogRecord[]): CatalogRecord | undefined {
  if (records.length === 1) return records[0]
  const chosen = records.filter((record) => bodyOf(record).defaultAt > 0)
  return chosen.toSorted((a, b) => bodyOf(b).defaultAt - bodyOf(a).defaultAt)[0]
}

function bodyOf({ bodyJson }: CatalogRecord): Body {
  return JSON.parse(bodyJson) as Body
}

function settingJson(record: CatalogRecord,
  chosen: CatalogRecord | undefined): PlaygroundSettingJson {
  const { id, name, createdAtMs, modifiedAtMs } = record
  const { description, settings } = bodyOf(record)
  return { id, name, description, settings: withoutLogins(settings), is_default: id === chosen?.id,
    created_at: zonedTextUs(createdAtMs * 1_000), updated_at: zonedTextUs(modifiedAtMs * 1_000) }
}
