/** Rows of assistants. */

import type { PurgeSubject } from '../../../checkpoint/index.ts'
import type { AssistantFilter, AssistantSort } from '../../../search/index.ts'
import type { Database } from '../file/database.ts'
import type { NumberOf } from '../search/row-number.ts'
import type { UnlistedShards } from '../search/unlisted-shards.ts'
import { OwnedRowTable } from './owned-row-table.ts'
import type { ChangedRow, OwnedRowKind } from './owned-row-table.ts'
import type { TenantUses } from './tenant-uses.ts'

/** A row as the writer takes it. */
export interface AssistantEntry {
  readonly tenant: string
  readonly assistantId: string
  readonly branchId: string
  readonly epoch: number
  readonly seq: number
  readonly graphId: string
  readonly name: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly metadataJson: string
  /** An encoded storage.v1.AssistantRow without its metadata. */
  readonly body: Uint8Array
  /** Bytes of its log. Missing from what an older program left in its write-ahead file. */
  readonly bytes?: number
}

/** Table of assistants. `folded_name` is the name without upper and lower case. */
export const assistantSchema = `
  CREATE TABLE assistant (
    tenant TEXT NOT NULL,
    assistant_id TEXT NOT NULL,
    branch_key BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    graph_id TEXT NOT NULL,
    name TEXT NOT NULL,
    folded_name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    body BLOB NOT NULL
  );
  CREATE UNIQUE INDEX assistant_assistant_id ON assistant (tenant, assistant_id);
`

const columnOf: Readonly<Record<AssistantSort, string>> = {
  assistant_id: 'assistant_id',
  graph_id: 'graph_id',
  name: 'name',
  created_at: 'created_at',
  updated_at: 'updated_at',
}

const kind: OwnedRowKind<AssistantFilter, AssistantSort> = {
  name: 'assistant',
  columns: ['graph_id', 'name', 'folded_name', 'created_at', 'updated_at', 'metadata', 'body'],
  columnOf,
  conditionsOf: ({ graphId, name }) => ({
    sql: [...graphId === undefined ? [] : ['graph_id = :graphId'],
      ...name === undefined ? [] : ['instr(folded_name, :name) > 0']],
    values: { ...graphId !== undefined && { graphId },
      ...name !== undefined && { name: fold(name) } },
  }),
}

/** Stores and searches rows of assistants. Belongs to `Tables`. */
export class AssistantTable extends OwnedRowTable<AssistantFilter, AssistantSort> {
  readonly #uses: TenantUses

  /** Without `numberOf`, SQLite numbers new rows. */
  constructor(database: Database, uses: TenantUses, numberOf?: NumberOf,
    unlisted?: UnlistedShards) {
    super(database, kind, numberOf, unlisted)
    this.#uses = uses
  }

  /** Stores a row. Changes nothing if the stored row is newer. */
  put(entry: AssistantEntry): void {
    const { assistantId, graphId, name, bytes = 0 } = entry
    const changed = this.write({ ...entry, id: assistantId }, [graphId, name, fold(name),
      entry.createdAtMs, entry.updatedAtMs, entry.metadataJson, entry.body])
    this.#use(changed, bytes)
  }

  /** Removes a row, unless the assistant was made again with another branch. */
  remove(subject: PurgeSubject): void {
    this.#use(this.erase(subject), 0)
  }

  #use(changed: ChangedRow | undefined, bytes: number): void {
    if (changed === undefined) return
    const { tenant, id, no } = changed
    this.#uses.setAssistant({ tenant, assistantId: id, no }, bytes)
  }
}

/** The name without upper and lower case. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase()
}
