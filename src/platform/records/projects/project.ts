/** A tracing project: a name under which traces are filed. On the wire it is a session. */

import type { Uuid } from '../../spans/span.ts'
import type { FiledRun } from './former-names.ts'

/** A project as its catalog keeps it. */
export interface Project {
  readonly id: Uuid
  readonly name: string
  readonly startMs: number
  readonly endMs: number | null
  readonly description: string | null
  /** JSON of `extra`. */
  readonly extraJson: string
  /** The dataset of an experiment. */
  readonly referenceDatasetId: Uuid | null
  /** Days that its spans live. */
  readonly retentionDays: number
  /** True if its spans live for the longer time. */
  readonly longLived: boolean
  readonly createdMs: number
  readonly modifiedMs: number
  /** All other members that a client gave, as the JSON of an object. */
  readonly restJson: string
  /** The same for an experiment that is sent whole once more. */
  readonly upload?: string
}

/** Choice of projects to list. Lists are sorted by `sortBy`, then by id. */
export interface ProjectQuery {
  readonly ids?: readonly Uuid[]
  readonly name?: string
  readonly nameContains?: string
  readonly referenceDatasetIds?: readonly Uuid[]
  /** True for projects without a dataset, false for those with one. */
  readonly referenceFree?: boolean
  /** JSON that `extra.metadata` contains. */
  readonly metadataJson?: string
  readonly sortBy: 'start_time' | 'name' | 'created_at'
  readonly descending: boolean
  readonly limit: number
  readonly offset: number
  /** The page begins after the place that this project has, or had. */
  readonly after?: Pick<Project, 'id' | 'name' | 'startMs' | 'createdMs'>
}

/** The project of a run of this server. */
export interface FiledProject {
  /** `undefined` if the project was deleted, or does not exist yet. */
  readonly project: Project | undefined
  /** True if the call made the project. */
  readonly isNew: boolean
  readonly isDeleted: boolean
}

/** The projects of tenants. All methods throw HeddleError. Deleted projects are never answered. */
export interface Projects {
  /**
   * The projects of these names, made on first use. In the order of the names. They may be used for
   * one second from the moment of the call. One that is made begins at its place in `startsMs`, or
   * now if that is earlier.
   */
  named(tenant: string, names: readonly string[],
    startsMs?: readonly number[]): Promise<readonly Project[]>
  /**
   * Returns the project of each run of this server, in the order of the runs: the project that had
   * the name when the run started. If `make`, a missing project is made, unless it was deleted, and
   * the projects may be used like those of `named`.
   */
  filed(tenant: string, runs: readonly FiledRun[], make: boolean): Promise<readonly FiledProject[]>
  /** Those that exist, in any order. With `keeps` they may be used as those of `named`. */
  get(tenant: string, ids: readonly Uuid[], keeps?: boolean): Promise<readonly Project[]>
  find(tenant: string, query: ProjectQuery): Promise<
    { readonly projects: readonly Project[]; readonly total: number }
  >
  /** `exists` if the name is taken, unless `upsert`. */
  create(tenant: string, project: Partial<Project> & { readonly name: string },
    upsert: boolean): Promise<Project>
  /**
   * Changes a project. Members that are absent stay. Runs that started under its former name stay
   * with it. `exists` if the new name is taken,
   * `not_found`.
   */
  patch(tenant: string, id: Uuid, change: Partial<Project>): Promise<Project>
  /** Deletes a project, which is invisible everywhere at once. `not_found` if there is none. */
  delete(tenant: string, id: Uuid): Promise<void>
}
