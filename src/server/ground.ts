/** What a member stands on: the durable ports, who owns which shard, and the ways to the others. */

import type { Activations, ClusterStatus, Gate, Ownership, Transport } from '../../cluster/index.ts'
import type { LogPort } from '../checkpoint/index.ts'
import type {
  AdmitsQuestion, AssistantIndex, BillingTable, KeyTable, LimitTable, RecentAdmits, RunTable,
  ScatteredIndex, ThreadIndex, UnfinishedThread,
} from '../records/index.ts'

export interface Ground {
  readonly log: LogPort
  /** Of what this member owns. */
  readonly threads: Pick<ThreadIndex, 'get'>
  readonly runs: RunTable
  readonly assistants: Pick<AssistantIndex, 'get'>
  /** Who may call. */
  readonly keys: KeyTable
  readonly limits: LimitTable
  /** What is billed. */
  readonly billing: BillingTable
  /** Finds what any member has. */
  readonly everybody: ScatteredIndex
  readonly ownership: Ownership
  /** Undefined where nobody else can own anything. */
  readonly gate: Gate | undefined
  readonly transport: Transport
  /**
   * What each front door let through of late under a limit, undefined for one that does not
   * say; nothing where none of it counts any more that this member has not counted itself.
   */
  askDoors(question: AdmitsQuestion, recentMs: number):
    Promise<readonly (RecentAdmits | undefined)[]>
  /**
   * Others are heard, and shards are taken, from now on. Resolves when what is this member's to own
   * is owned.
   */
  begin(tenants: Tenants): Promise<void>
  /** Gives everything back, if there is anybody to take it. */
  giveBack(): Promise<void>
  /** Throws a HeddleError where the data is out of reach right now. */
  check(): Promise<void>
  /** Where the data is, for whoever started it to read. */
  readonly place: string
  /** Who this member is to others; undefined where there are none. */
  readonly name: string | undefined
  /** How the cluster looks from here. */
  status(): ClusterStatus
  /** When no actor is left. */
  close(deadline: AbortSignal): Promise<void>
}

/** What lives on the ground. */
export interface Tenants {
  readonly activations: Activations
  /** Brings back what an earlier owner left at work. */
  wake(threads: readonly UnfinishedThread[]): Promise<void>
  /** What this front door let through of late. */
  toldOf(question: AdmitsQuestion): RecentAdmits
  /** How long an actor has to let go where its shard moves. */
  readonly letGoMs: number
}
