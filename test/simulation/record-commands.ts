/** Records of a catalog as registers: each is made, changed and deleted by its name. */

import type { CatalogRecord } from '../../src/platform/records/catalog/catalog-record.ts'
import type { RegisterCommands } from './item-clients.ts'

/** Two records of one catalog. */
export const recordCommands: RegisterCommands = {
  names: ['record-a', 'record-b'],
  keyOf: () => ({ kind: 'catalog', id: 'project' }),
  get: (name) => ({ kind: 'get', ids: [name] }),
  put: (name, value) => {
    const bodyJson = JSON.stringify({ value })
    return { kind: 'create', ifExists: { bodyJson },
      record: { id: name, name, orderMs: 0, parentId: '', metadataJson: '{}', bodyJson } }
  },
  remove: (name) => ({ kind: 'delete', id: name }),
  valueIn: (reply) => {
    const [record] = reply as readonly CatalogRecord[]
    if (record === undefined) return null
    return (JSON.parse(record.bodyJson) as { readonly value: string }).value
  },
}
