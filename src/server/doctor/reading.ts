/** Readings of a machine and its store, for the doctor. A part that cannot be read is missing. */

/** A certificate in a file. */
export interface CertificateReading {
  readonly file: string
  readonly endsAtMs: number
}

/** A member that has left a heartbeat lately. */
export interface MemberReading {
  readonly id: string
  readonly address: string
}

/** Deletions and repairs of a table with several replicas. */
export interface RepairReading {
  /** With its keyspace. */
  readonly table: string
  /** The time after which Cassandra forgets that a row was deleted. */
  readonly gcGraceMs: number
  readonly createdAtMs: number
  /** The begin of the repairs that all rows have been through since; missing if there are none. */
  readonly repairedAtMs?: number
}

/** Readings that only Cassandra has. */
export interface CassandraReading {
  /** Milliseconds by which the clock of this machine is ahead of Cassandra's. */
  readonly clockAheadMs: number
  readonly nodes: number
  /** Replicas of the data and of the control rows in the local data center; 0 if not replicated. */
  readonly replicas: { readonly data: number; readonly control: number }
  readonly members: readonly MemberReading[]
  readonly shards: number
  /** Shards that were owned once and whose owner has left no heartbeat lately. */
  readonly orphaned: readonly number[]
  /** Tables that need repairs. Missing if the history of repairs cannot be read. */
  readonly repairs?: readonly RepairReading[]
}

/** Versions of a schema, to compare with those that this program knows. */
export interface SchemaReading {
  /** Steps that this program knows. */
  readonly known: number
  /** The oldest program that can work with the tables. */
  readonly oldest: number
  /** The newest step that they have seen. */
  readonly newest: number
}

/** Everything that checks look at. */
export interface Reading {
  readonly nowMs: number
  readonly node: string
  /** The median of several. */
  readonly fsyncMs?: number
  readonly disk?: { readonly freeBytes: number; readonly allBytes: number; readonly kind: string }
  /** Files that this process may have open. */
  readonly descriptors?: number
  readonly memory: { readonly limitMb: number; readonly workers: number;
    /** MiB that one worker's graphs may fill; missing for a share of the limit. */
    readonly heapMb?: number;
    /** MiB that graph processes of deployments may fill together; missing if it is not known. */
    readonly graphsMb?: number }
  /** Users that deployments run as, and why they cannot; missing if they run as the server. */
  readonly graphsUsers?: { readonly count: number; readonly fault: string | undefined }
  readonly certificates: readonly CertificateReading[]
  /** Files that are named in settings and cannot be read. */
  readonly unreadable: readonly string[]
  /** Files with secrets or data, and those of them that others may read, with their modes. */
  readonly privateFiles?: { readonly count: number;
    readonly exposed: readonly { readonly file: string; readonly mode: number }[] }
  /** The last jump of the clock that a server here noticed; null if none is known. */
  readonly clockJump?: { readonly atMs: number; readonly byMs: number } | null
  /** API keys that are not revoked, by when they end; missing if they cannot be read. */
  readonly keys?: readonly { readonly id: string; readonly expiresAtMs: number | null }[]
  readonly auth: 'none' | 'keys'
  /** True if other machines can reach the front door. */
  readonly isPublic: boolean
  readonly trustedProxies: number
  /** Addresses of this machine in `--user-proxies`; missing without such proxies. */
  readonly posing?: readonly string[]
  /** Secrets of workspaces; missing if they cannot be counted. */
  readonly secrets?: { readonly stored: number; readonly unopened: number;
    readonly sealedWithOlder: number }
  /** Revisions that are kept, and those of which chunks are missing or not true, as `shop r3`. */
  readonly revisions?: { readonly stored: number; readonly broken: readonly string[];
    /** True if all bytes were read. */
    readonly deep: boolean }
  readonly schema?: SchemaReading
  /** Missing on Cassandra; null if none is known. */
  readonly lastBackupMs?: number | null
  /** Damage of the last backup; missing if it is whole, was not read, or was moved elsewhere. */
  readonly lastBackupFault?: string
  /** True if the cluster has a secret of its own, or certificates. */
  readonly hasClusterSecret?: boolean
  readonly cassandra?: CassandraReading
  /** Why the store could not be read. */
  readonly storeFault?: string
}
