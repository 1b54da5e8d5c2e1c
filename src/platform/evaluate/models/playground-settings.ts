/** Models that a workspace has configured, and which of them is asked by default. */

import type { Env } from '../../../../cluster/index.ts'
import type { ConfiguredModel, ModelChange, NewModel } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import { collection } from '../../records/catalog/collection.ts'
import { zonedTextUs } from '../../spans/time.ts'
import { endpointOf, withoutLogins } from './endpoint.ts'
import type { ModelEndpoint } from './model.ts'

/** The configured models of tenants. All methods throw HeddleError. */
export interface PlaygroundSettings {
  list(tenant: string): Promise<readonly ConfiguredModel[]>
  create(tenant: string, body: NewModel): Promise<ConfiguredModel>
  patch(tenant: string, id: string, body: ModelChange): Promise<ConfiguredModel>
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

/** A configured model as it is kept. */
interface Setting
  extends Body, Pick<CatalogRecord, 'id' | 'name' | 'createdAtMs' | 'modifiedAtMs'> {}

/** The configured models in catalogs. */
export function playgroundSettingsOver(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'uuid'>): PlaygroundSettings {
  const settings = collection(catalogs, env, { name: 'playground', parse: settingOf,
    max: { count: settingsMax, full: `A workspace may have ${settingsMax} models: delete one.` },
    sort: { sortBy: 'name', descending: false } })
  const json = async (tenant: string, setting: Setting) =>
    settingJson(setting, defaultOf(await settings.all(tenant)))
  return {
    list: async (tenant) => {
      const all = await settings.all(tenant)
      const chosen = defaultOf(all)
      return all.map((setting) => settingJson(setting, chosen))
    },
    create: async (tenant,
      { name, description = null, settings: model, is_default: isDefault }) => {
      endpointOf(model)
      const body: Body = { description, settings: model, defaultAt: isDefault ? env.nowMs() : 0 }
      return json(tenant, await settings.create(tenant, { name, body }))
    },
    patch: async (tenant, id, { name, description, settings: model, is_default: isDefault }) => {
      if (model !== undefined) endpointOf(model)
      const body: Partial<Body> = { ...description !== undefined && { description },
        ...model && { settings: model },
        ...isDefault !== undefined && { defaultAt: isDefault ? env.nowMs() : 0 } }
      return json(tenant,
        await settings.change(tenant, id, { ...name !== undefined && { name }, body }))
    },
    delete: settings.delete,
    defaultModel: async (tenant) => {
      const chosen = defaultOf(await settings.all(tenant))
      if (chosen !== undefined) return endpointOf(chosen.settings)
      throw new HeddleError('invalid',
        'No model is chosen, and the workspace has no default model: choose one, or make one ' +
          'the default.')
    },
  }
}

/** Of several that were made the default, the latest; a single model is the default by itself. */
function defaultOf(all: readonly Setting[]): Setting | undefined {
  if (all.length === 1) return all[0]
  return all.filter(({ defaultAt }) => defaultAt > 0)
    .toSorted((a, b) => b.defaultAt - a.defaultAt)[0]
}

function settingOf({ id, name, bodyJson, createdAtMs, modifiedAtMs }: CatalogRecord): Setting {
  return { ...JSON.parse(bodyJson) as Body, id, name, createdAtMs, modifiedAtMs }
}

function settingJson({ id, name, description, settings, createdAtMs, modifiedAtMs }: Setting,
  chosen: Setting | undefined): ConfiguredModel {
  return { id, name, description, settings: withoutLogins(settings) as ConfiguredModel['settings'],
    is_default: id === chosen?.id, created_at: zonedTextUs(createdAtMs * 1_000),
    updated_at: zonedTextUs(modifiedAtMs * 1_000) }
}
