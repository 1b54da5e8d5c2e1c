/**
 * The tables of traces and feedback. What belongs to a trace expires. Writes need no order: cells
 * of maps and elements of sets merge by themselves.
 */

/** The table of documents. Their bodies never expire. */
export function documentTable({ keyspace, options }: PlatformTables): string {
  return `CREATE TABLE IF NOT EXISTS ${keyspace}.document (tenant text, kind text, owner blob,
  key text, data blob, chunks int, version text,
  PRIMARY KEY ((tenant, kind, owner), key)) WITH ${options}`
}

/** The table of feedback whose span is not there yet. `minute` is that of the span's id. */
export function feedbackWaitingTable({ keyspace, options }: PlatformTables): string {
  return `CREATE TABLE IF NOT EXISTS ${keyspace}.feedback_waiting (tenant text, minute bigint,
  span_id blob, id blob, present boolean,
  PRIMARY KEY ((tenant, minute), span_id, id)) WITH ${options}`
}

/** The project of a file's span; null in rows of earlier programs. */
export function fileProject(keyspace: string): string {
  return `ALTER TABLE ${keyspace}.span_file ADD IF NOT EXISTS project uuid`
}

/** Tables that are written at any time and read by key or in the order of a partition. */
interface PlatformTables {
  readonly keyspace: string
  /** Options of every table. */
  readonly options: string
}

/** The statements that make the tables and the index. */
export function platformTables({ keyspace, options }: PlatformTables): readonly string[] {
  const table = (name: string, columns: string, order = '') =>
    `CREATE TABLE IF NOT EXISTS ${keyspace}.${name} (${columns}) WITH ${order}${options}`
  return [
    // Ids are blobs, because Cassandra orders a uuid by its version first. `ops` has a cell for
    // each operation, by a hash of it; `terms` only those terms that are worth an index.
    table('span_head', `tenant text, project uuid, bucket int, start_us bigint, span_id blob,
  ops map<bigint, blob>, terms set<bigint>, feedback map<uuid, blob>,
  PRIMARY KEY ((tenant, project, bucket), start_us, span_id)`,
      'CLUSTERING ORDER BY (start_us DESC, span_id DESC) AND '),
    `CREATE INDEX IF NOT EXISTS span_head_terms ON ${keyspace}.span_head (values(terms)) ` +
    `USING 'sai'`,
    // The hours in which a project has spans, what of it is removed, and its removed traces.
    table('span_bucket', `tenant text, project uuid, hour int,
  removed_before bigint static, some_removed boolean static, present boolean,
  PRIMARY KEY ((tenant, project), hour)`, 'CLUSTERING ORDER BY (hour DESC) AND '),
    table('span_gone', `tenant text, project uuid, trace_id blob, removed boolean,
  PRIMARY KEY ((tenant, project), trace_id)`),
    // `minute` is that of the trace's start here and that of the id in `span_location`: a request
    // changes one partition of both tables in one mutation.
    table('trace_block', `tenant text, minute bigint, trace_id blob, block bigint,
  members map<bigint, blob>, data blob, chunks int,
  PRIMARY KEY ((tenant, minute), trace_id, block)`),
    table('span_location', `tenant text, minute bigint, span_id blob, project uuid,
  start_us bigint, trace_id blob, trace_start_us bigint,
  PRIMARY KEY ((tenant, minute), span_id, project)`),
    table('span_file', `tenant text, owner blob, name text, type text, trace_id blob,
  data blob, chunks int, version text, PRIMARY KEY ((tenant, owner), name)`),
    table('rollup', `tenant text, project uuid, month int, hour int, body blob,
  PRIMARY KEY ((tenant, project, month), hour)`),
    table('feedback', 'tenant text, id blob, body blob, PRIMARY KEY ((tenant, id))'),
    // `scope` is a span, a project, or zero for all of a tenant.
    table('feedback_order', `tenant text, scope uuid, created_us bigint, id blob, present boolean,
  PRIMARY KEY ((tenant, scope), created_us, id)`,
      'CLUSTERING ORDER BY (created_us DESC, id DESC) AND '),
    // `owner` is the hash of a token, or a span.
    table('feedback_token', `owner text, hash text, body blob,
  PRIMARY KEY ((owner), hash)`),
  ]
}
