/** Storage of statistics: a roll-up of each hour of a project that was asked for. */

import type { Uuid } from './span.ts'

/** An hour: whole hours since 1970. */
export type Hour = number

/** The roll-ups of all tenants. They can be made again at any time. */
export interface RollUpPort {
  /**
   * Stored roll-ups of the hours from `from` to before `to`. A write into an hour removes its
   * roll-up.
   */
  rollUps(tenant: string, project: Uuid, from: Hour,
    to: Hour): Promise<ReadonlyMap<Hour, Uint8Array>>
  /**
   * Keeps the roll-up of an hour whose scan began at `scanBeganUs`. It is not kept if a write
   * touched the hour since.
   */
  putRollUp(tenant: string, project: Uuid, hour: Hour, body: Uint8Array,
    scanBeganUs: number): Promise<void>
  /** The hours from `from` to before `to` in which a project has spans. */
  hours(tenant: string, project: Uuid, from: Hour, to: Hour): Promise<readonly Hour[]>
}
