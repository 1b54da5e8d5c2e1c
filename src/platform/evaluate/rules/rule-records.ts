/** The records of rules: what they say, what they have done, and which of them are awake. */

import type { Env } from '../../../../cluster/index.ts'
import type { RuleBody } from '../../../api/index.ts'
import { ignoreNotFound } from '../../../errors.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import { collection } from '../../records/catalog/collection.ts'
import { namedId } from '../../records/catalog/named-id.ts'
import { wakeList } from '../../records/catalog/wake-list.ts'
import type { WakeList } from '../../records/catalog/wake-list.ts'
import type { Project } from '../../records/projects/project.ts'
import type { Uuid } from '../../spans/span.ts'
import type { Reader } from '../../ingest/ended/ended-span.ts'
import { ownerOf, recordName, ruleOf, rulesMax } from './rule.ts'
import type { Rule } from './rule.ts'
import { unbegun } from './rule-state.ts'
import type { RuleState } from './rule-state.ts'

/** A rule of any tenant. */
export interface RuleName {
  readonly tenant: string
  readonly id: Uuid
}

/** The records of rules. All methods throw HeddleError. */
export interface RuleRecords {
  get(tenant: string, id: Uuid): Promise<Rule | undefined>
  /** All of a tenant, the oldest first. */
  all(tenant: string): Promise<readonly Rule[]>
  create(tenant: string, id: Uuid, body: RuleBody): Promise<Rule>
  /** `stale` if the rule was changed since `before`. */
  change(tenant: string, before: Pick<Rule, 'id' | 'revision'>, body: RuleBody): Promise<Rule>
  delete(tenant: string, id: Uuid): Promise<void>
  /** Whose enabled rules read the spans of each project; most have none. */
  readersOf(tenant: string,
    projects: readonly Pick<Project, 'id' | 'referenceDatasetId'>[]
  ): Promise<
    ReadonlyMap<Uuid, readonly Reader[]>
  >
  state(rule: RuleName): Promise<RuleState | undefined>
  /** Makes the first state, or replaces one of the version before. `stale` if there is another. */
  saveState(rule: RuleName, state: RuleState): Promise<void>
  deleteState(rule: RuleName): Promise<void>
  /** Rules of all tenants that are woken after a restart. */
  readonly awake: WakeList
}

/** Records of rules over the catalogs of all tenants, with their states. */
export function ruleRecords(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'uuid'>): RuleRecords {
  const rules = collection(catalogs, env, { name: 'rule', parse: ruleOf })
  const states = collection(catalogs, env, { name: 'rule_state', parse: stateOf })
  // Asked for with each request of traces, so the bodies of rules are not parsed.
  const owners = collection(catalogs, env, { name: 'rule',
    parse: ({ id, parentId }) => ({ id, owner: parentId }) })
  return {
    get: async (tenant, id) => (await rules.some(tenant, [id]))[0],
    all: async (tenant) => (await rules.list(tenant, { limit: rulesMax })).values,
    create: (tenant, id, body) => rules.create(tenant, { id, ...fieldsOf(id, body) }),
    change: (tenant, { id, revision }, body) => {
      // Rules of earlier versions have none.
      const expected = { revision: revision === 0 ? null : revision }
      const after = fieldsOf(id, { ...body, revision: revision + 1 })
      return rules.change(tenant, id, { ...after, expected })
    },
    delete: (tenant, id) => rules.delete(tenant, id),
    readersOf: async (tenant, projects) => {
      const read = projects.flatMap(projectAndDataset)
      if (read.length === 0) return new Map()
      const { values } = await owners.list(tenant, { parentIds: [...new Set(read)] })
      const byOwner = Map.groupBy(values, ({ owner }) => owner)
      return new Map(projects.flatMap((project) => {
        const readers = projectAndDataset(project).flatMap((owner): Reader[] => {
          const own = byOwner.get(owner)
          return own === undefined ? [] : [{ owner, rules: own.map(({ id }) => id) }]
        })
        return readers.length === 0 ? [] : [[project.id, readers] as const]
      }))
    },
    state: async ({ tenant, id }) => (await states.some(tenant, [id]))[0],
    saveState: async ({ tenant, id }, state) => {
      const expected = { version: state.version - 1 }
      if (state.version > 1) await states.change(tenant, id, { body: state, expected })
      else await states.create(tenant, { id, body: state })
    },
    deleteState: ({ tenant, id }) => states.delete(tenant, id).catch(ignoreNotFound),
    awake: wakeList(catalogs, env, 'rule_wake',
      ({ tenant, id }) => namedId('rule', `wake\n${tenant}\n${id}`)),
  }
}

/** Only enabled rules are found by what they read. */
function fieldsOf(id: Uuid, body: RuleBody & Partial<Pick<Rule, 'revision'>>) {
  return { name: recordName(id, body.display_name ?? ''),
    parentId: body.is_enabled ? ownerOf(body) : '', body }
}

function stateOf({ bodyJson }: CatalogRecord): RuleState {
  return { ...unbegun, ...JSON.parse(bodyJson) as Partial<RuleState> }
}

function projectAndDataset(
  { id, referenceDatasetId }: Pick<Project, 'id' | 'referenceDatasetId'>,
): Uuid[] {
  return referenceDatasetId === null ? [id] : [id, referenceDatasetId]
}
