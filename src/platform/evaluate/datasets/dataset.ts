/** A dataset: a name under which examples are kept, with all of their versions. */

import type { Uuid } from '../../spans/span.ts'

/** A dataset as its catalog keeps it. */
export interface Dataset {
  readonly id: Uuid
  readonly name: string
  readonly description: string | null
  readonly dataType: 'kv' | 'llm' | 'chat'
  /** JSON texts of schemas that inputs and outputs must fit; null for none. */
  readonly inputsSchema: string | null
  readonly outputsSchema: string | null
  /** JSON text of a list, as it was sent; null for none. */
  readonly transformations: string | null
  /** JSON text of an object. */
  readonly metadataJson: string
  readonly baseline: Uuid | null
  readonly createdMs: number
  readonly modifiedMs: number
  /** Examples of the newest version. */
  readonly count: number
  /** The newest version; null before the first example. */
  readonly head: string | null
  /** Examples were removed from versions before this one; null if none ever was. */
  readonly erasedBefore: string | null
  /** Names of versions, and the versions. */
  readonly tags: Readonly<Record<string, string>>
  /** Digest of the uploaded file that the dataset was made for; null without an upload. */
  readonly upload: string | null
}

/** Members of a dataset that a change sets; absent ones stay as they are. */
export type DatasetChange = Partial<
  Pick<Dataset,
    'name' | 'description' | 'dataType' | 'inputsSchema' | 'outputsSchema' | 'transformations'
      | 'metadataJson' | 'baseline' | 'upload'>
>

/** Selects the datasets of a list, ordered by `sortBy`, then by id. */
export interface DatasetQuery {
  readonly ids?: readonly Uuid[]
  readonly name?: string
  readonly nameContains?: string
  readonly dataTypes?: readonly string[]
  /** JSON that the metadata contain. */
  readonly metadataJson?: string
  readonly sortBy: 'name' | 'created' | 'modified'
  readonly descending: boolean
  readonly limit: number
  readonly offset: number
}

/** A version that is to be published: the next one of a dataset. */
export interface Publication {
  readonly tenant: string
  readonly dataset: Uuid
  /** The version that it follows. */
  readonly after: string | null
  readonly version: string
  readonly count: number
  /** True if examples were removed from all versions before. */
  readonly erases: boolean
}

/** The datasets of tenants. All methods throw HeddleError. */
export interface DatasetCatalog {
  /** Those that exist, in any order. */
  get(tenant: string, ids: readonly Uuid[]): Promise<readonly Dataset[]>
  find(tenant: string, query: DatasetQuery): Promise<
    { readonly datasets: readonly Dataset[]; readonly total: number }
  >
  /** `exists` if the name or the id is taken. */
  create(tenant: string,
    dataset: DatasetChange & { readonly name: string; readonly id?: Uuid }): Promise<Dataset>
  /** Changes the members that are present; absent ones stay. `not_found`, `exists`. */
  patch(tenant: string, id: Uuid, change: DatasetChange): Promise<Dataset>
  /** At once invisible everywhere. `not_found`. */
  delete(tenant: string, id: Uuid): Promise<void>
  /** Names a version, or no version any more. */
  tag(tenant: string, id: Uuid, tag: string, version: string | null): Promise<Dataset>
  /** Counts bytes that are about to be written, or that were removed. `full`, `not_found`. */
  charge(tenant: string, id: Uuid, bytes: number): Promise<void>
  /** `stale` if another version was published meanwhile. */
  publish(publication: Publication): Promise<void>
}
