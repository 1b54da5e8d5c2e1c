/** Foundation of a member: the durable ports, ownership, and the transport to other members. */

import type { ActivationTable, ClusterStatus, Member, OwnershipCheck, Ownership, Service,
  Transport } from '../../../cluster/index.ts'
import type { KeyTable } from '../../access/index.ts'
import type { BillingTable } from '../../billing/index.ts'
import type { LogPort } from '../../checkpoint/index.ts'
import type { AdmitsQuestion, LimitTable, RecentAdmits } from '../../limits/index.ts'
import type { SpanStorePlace } from '../../platform/index.ts'
import type { AssistantIndex, CronIndex, DueCrons, DueThreads, ItemIndex, RunTable, ScatteredIndex,
  ThreadIndex, UnfinishedThread } from '../../search/index.ts'
import type { HeldRuns } from '../../thread/index.ts'

/** The backend of one member. There is one for a data directory and one for Cassandra. */
export interface Backend {
  /** The newest version of the store's tables that this program supports. */
  readonly tables: number
  /** The logs of all actors that this member owns. */
  readonly log: LogPort
  /** Stateless runs that this member keeps back: its own rows of threads and runs lack them. */
  readonly heldRuns: HeldRuns
  /** Rows of threads that this member owns. */
  readonly threads: Pick<ThreadIndex, 'get'>
  /** Rows of runs. They are read for threads that this member owns. */
  readonly runs: RunTable
  /** Rows of assistants that this member owns. */
  readonly assistants: Pick<AssistantIndex, 'get'>
  /** Rows of crons that this member owns. */
  readonly crons: Pick<CronIndex, 'get'>
  /** Rows of items that this member owns. */
  readonly items: Pick<ItemIndex, 'get' | 'ended'>
  /** The API keys. */
  readonly keys: KeyTable
  /** Admits of durable limits whose counters this member owns. */
  readonly limits: LimitTable
  /** The billing records. */
  readonly billing: BillingTable
  /** Store of spans, which threads of the platform open. */
  readonly spans: SpanStorePlace
  /** Searches over all members. */
  readonly everybody: ScatteredIndex
  /** Threads of this member that sleep until a run is due. */
  readonly due: DueThreads
  /** Crons of this member that are or will be due. */
  readonly dueCrons: DueCrons
  /** Owners of all shards, as far as this member knows. */
  readonly ownership: Ownership
  /** Undefined if no other member can own anything. */
  readonly ownershipCheck: OwnershipCheck | undefined
  /** Rows of the log in memory; undefined for a data directory. */
  readonly logCache?: { readonly stats: LogCacheStats }
  /** The way to other members. */
  readonly transport: Transport
  /** Asks a service of another member. Throws if it does not answer. */
  askMember(member: Member, service: string, question: unknown,
    cancelled?: AbortSignal): Promise<unknown>
  /**
   * Recent admits of each front door under a limit; undefined for one that does not answer. Empty
   * if this member has counted all that still matters.
   */
  askDoors(question: AdmitsQuestion,
    recentMs: number): Promise<readonly (RecentAdmits | undefined)[]>
  /**
   * From now on other members are answered and shards are taken. Resolves when this member has
   * taken its share.
   */
  begin(actors: HostedActors): Promise<void>
  /** Gives everything back, if another member can take it. */
  giveBack(): Promise<void>
  /** Throws a HeddleError if the data cannot be reached now. */
  check(): Promise<void>
  /** Description of the place of the data, for the banner at the start. */
  readonly place: string
  /** Name by which other members know this one; undefined if there can be no others. */
  readonly name: string | undefined
  /** The cluster as this member sees it. */
  status(): ClusterStatus
  /** Closes the backend. Call when no actor is left. */
  close(deadline: AbortSignal): Promise<void>
}

/** Reads of the log that memory answered (hits) and did not (misses), and its bytes. */
export interface LogCacheStats {
  readonly hits: number
  readonly misses: number
  readonly bytes: number
}

/** The actors on a backend, and the services that members offer one another. */
export interface HostedActors {
  readonly activations: ActivationTable
  /** Wakes threads that an earlier owner left unfinished. */
  wake(threads: readonly UnfinishedThread[]): Promise<void>
  /**
   * Wakes threads whose rows a member of an earlier version left behind. Resolves when each has
   * been awake, or belongs to a removed deployment. Throws `not_owner` if they were given back
   * first.
   */
  opened(threads: readonly UnfinishedThread[]): Promise<void>
  /** Wakes the threads and crons that sleep and are due by then. */
  wakeAt(atMs: number): void
  /** Further services for other members. */
  readonly services: readonly Service[]
  /** Requests that this front door let through recently under a limit. */
  recentOf(question: AdmitsQuestion): RecentAdmits
  /** Time that an actor may take to passivate when its shard moves. */
  readonly releaseMs: number
}
