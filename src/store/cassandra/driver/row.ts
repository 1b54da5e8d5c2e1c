/** The columns that statements read, with the types that the driver gives their values. */

type Bytes = Buffer | null
type Cells = Readonly<Record<string, Buffer>> | null
type Time = bigint | null
/** Times of writes, and seconds to live, of the cells of a collection. */
type Times = readonly bigint[] | null
type Lives = readonly (number | null)[] | null

/**
 * A row of an answer, which has only the columns that its statement names. Columns of one name have
 * one type in all tables. Those of 64 bits are bigints, blobs are Buffers, and a column that is in
 * no key may be null.
 */
export interface Row {
  readonly address: string
  readonly apart: boolean | null
  readonly assistant_id: string
  readonly at_ms: Time
  readonly block: bigint
  readonly body: Bytes
  readonly bucket: number
  readonly bucket_bytes: number
  readonly chunk_rank: bigint
  readonly chunks: number | null
  readonly count: Time
  readonly created_at: bigint
  readonly created_us: Time
  readonly columnfamily_names: readonly string[]
  readonly cron_id: string
  readonly data: Bytes
  readonly day: string
  readonly dead: boolean | null
  readonly ended_at: Time
  readonly epoch: bigint
  readonly expires_at: Time
  readonly feedback: Cells
  readonly gc_grace_seconds: number
  readonly graph_id: string
  readonly hash: string
  readonly head_epoch: Time
  readonly head_seq: Time
  readonly holder: string | null
  readonly hour: number | null
  readonly id: Buffer
  readonly item_id: string
  readonly key: string
  readonly key_id: string
  readonly keyspace_name: string
  readonly leaving: boolean | null
  readonly made_at: bigint
  readonly member_times: Times
  readonly member_ttls: Lives
  readonly members: Cells
  readonly name: string
  readonly now: Time
  readonly op_times: Times
  readonly op_ttls: Lives
  readonly ops: Cells
  readonly owner: Buffer
  readonly place_base: Time
  readonly place_id: string
  readonly place_seq: Time
  readonly places: Bytes
  readonly prev_epoch: Time
  readonly project: unknown
  readonly ranges: Bytes
  /** Time of a write, as a statement names it. */
  readonly rank: Time
  readonly removed_before: Time
  readonly replication: Readonly<Record<string, string>>
  readonly revoked_at: Time
  readonly role: string
  readonly row_key: string
  readonly run_id: string
  readonly seq: bigint
  readonly session: { toString(): string } | null
  readonly settled_seq: Time
  readonly some_removed: boolean | null
  readonly span_id: Buffer
  readonly start_us: Time
  readonly started_at: Time
  readonly state: string
  readonly stated: Time
  readonly stated_epoch: Time
  readonly status: string
  readonly stretches: Bytes
  readonly successful_ranges: readonly string[] | null
  readonly table_name: string
  readonly tenant: string
  readonly term_times: Times
  readonly terms: readonly bigint[] | null
  readonly thread_id: string
  readonly through: Time
  readonly tokens: number
  readonly trace_id: Buffer | null
  readonly trace_start_us: Time
  /** Seconds that a cell lives, as a statement names them. */
  readonly ttl: number | null
  readonly type: string | null
  readonly unsettled: boolean | null
  readonly used_at: Time
  readonly value: string
  readonly version: string
  /** Time of a write, as a statement names it. */
  readonly written: Time
}
