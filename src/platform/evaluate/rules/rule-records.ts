/** The records of rules: what they say, what they have done, and which of them are awake. */

import type { RuleBody } from '../../../api/index.ts'
import { ignoreNotFound } from '../../../errors.ts'
import type { CatalogClient, CatalogName } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import { namedId } from '../../records/catalog/named-id.ts'
import { wakeCatalog, wakePage, wakeRecord } from '../../records/catalog/wake-list.ts'
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
  create(tenant: string, id: Uuid, body: RuleBody, nowMs: number): Promise<Rule>
  change(tenant: string, id: Uuid, body: RuleBody): Promise<Rule>
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
  /** Rules that are woken after a restart, of all tenants: a page, after the given place. */
  awake(after?: CatalogRecord): Promise<readonly (RuleName & { readonly place: CatalogRecord })[]>
  setAwake(rule: RuleName, isAwake: boolean): Promise<void>
}

const pageRecords = 100
const everybody = wakeCatalog('rule_wake')

/** Records of rules over the catalogs of all tenants, with their states. */
export function ruleRecords(catalogs: CatalogClient): RuleRecords {
  const rules = (tenant: string): CatalogName => ({ tenant, collection: 'rule' })
  const states = (tenant: string): CatalogName => ({ tenant, collection: 'rule_state' })
  const fieldsOf = (id: Uuid, body: RuleBody) => ({
    name: recordName(id, body.display_name ?? ''),
    // Only enabled ones are found by what they read.
    parentId: body.is_enabled ? ownerOf(body) : '',
    bodyJson: JSON.stringify(body),
  })
  const wakeId = ({ tenant, id }: RuleName) => namedId('rule', `wake\n${tenant}\n${id}`)
  return {
    get: async (tenant, id) => {
      const [record] = await catalogs.get(rules(tenant), [id])
      return record && ruleOf(record)
    },
    all: async (tenant) => {
      const { records } = await catalogs.list(rules(tenant), { sortBy: 'created', descending: false,
        limit: rulesMax, offset: 0 })
      return records.map(ruleOf)
    },
    create: async (tenant, id, body, nowMs) =>
      ruleOf(
        await catalogs.create(rules(tenant), { id, ...fieldsOf(id, body), orderMs: nowMs,
          metadataJson: '{}' }),
      ),
    change: async (tenant, id, body) =>
      ruleOf(await catalogs.change(rules(tenant), id, fieldsOf(id, body))),
    delete: (tenant, id) => catalogs.delete(rules(tenant), id),
    readersOf: async (tenant, projects) => {
      const owners = projects.flatMap(({ id, referenceDatasetId: dataset }) =>
        dataset === null ? [id] : [id, dataset]
      )
      if (owners.length === 0) return new Map()
      const { records } = await catalogs.list(rules(tenant), { parentIds: [...new Set(owners)],
        sortBy: 'created', descending: false, limit: pageRecords, offset: 0 })
      const byOwner = Map.groupBy(records, ({ parentId }) => parentId)
      return new Map(projects.flatMap(({ id, referenceDatasetId: dataset }) => {
        const readers = [id, dataset].flatMap((owner): Reader[] => {
          const own = owner === null ? undefined : byOwner.get(owner)
          return own === undefined ? [] : [{ owner: owner!, rules: own.map((each) => each.id) }]
        })
        return readers.length === 0 ? [] : [[id, readers] as const]
      }))
    },
    state: async ({ tenant, id }) => {
      const [record] = await catalogs.get(states(tenant), [id])
      return record && { ...unbegun, ...JSON.parse(record.bodyJson) as Partial<RuleState> }
    },
    saveState: async ({ tenant, id }, state) => {
      const bodyJson = JSON.stringify(state)
      if (state.version > 1) {
        await catalogs.change(states(tenant), id, { bodyJson,
          expected: { version: state.version - 1 } })
        return
      }
      await catalogs.create(states(tenant), { id, name: id, orderMs: 0, parentId: '',
        metadataJson: '{}', bodyJson })
    },
    deleteState: ({ tenant, id }) => catalogs.delete(states(tenant), id).catch(ignoreNotFound),
    awake: (after) => wakePage(catalogs, everybody, after),
    setAwake: async (rule, isAwake) => {
      const id = wakeId(rule)
      if (!isAwake) return await catalogs.delete(everybody, id).catch(ignoreNotFound)
      await catalogs.ensure(everybody, [wakeRecord(id, rule)])
    },
  }
}
