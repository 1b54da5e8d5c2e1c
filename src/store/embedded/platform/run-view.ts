/** Views for questions in SQL: the spans of their projects, and the feedback on them. */

/** The names that a question reads from. */
export const visibleTables = ['runs', 'feedback'] as const

const time = (us: string) =>
  `CASE WHEN ${us} IS NULL THEN NULL ELSE strftime('%Y-%m-%dT%H:%M:%S', (${us}) / 1000000, ` +
  `'unixepoch') || printf('.%06dZ', (${us}) % 1000000) END`

/** JSON of numbers by the kind of token, in the order in which `kinds` has them. */
const kindColumns = ['prompt_token_details', 'completion_token_details', 'prompt_cost_details',
  'completion_cost_details']

/** Not removed, and not too old: by its arrival, which few spans do not tell. */
const isKept = (hidden: string) =>
  `start_us >= ${hidden}_project.gone_us AND (start_us >= ${hidden}_project.from_us OR ranks IS ` +
  'NOT NULL OR start_us + max(coalesce(post_us, patch_us, 0), coalesce(patch_us, post_us, 0)) >= ' +
  `${hidden}_project.from_us)`

/**
 * The statements that make the views. Times are RFC 3339 texts; `start_us` is the start in
 * microseconds since 1970, by which a project is sorted. `hidden` names the views that read tables.
 * A question cannot know it, so whatever reads a table through it is one of these.
 *
 * @param hidden unguessable
 * @param kinds the column of kinds of tokens, or NULL in a file without
 */
export function viewStatements(hidden: string, kinds: string): readonly string[] {
  return [
    `CREATE TEMP TABLE ${hidden}_project (no INTEGER PRIMARY KEY, id TEXT, gone_us INTEGER,
      from_us INTEGER)`,
    `CREATE TEMP VIEW ${hidden}_runs AS SELECT
      heddle_uuid(span.id) AS id, heddle_uuid(span.trace) AS trace_id,
      CASE WHEN parent IS NULL THEN NULL WHEN length(parent) = 0
        THEN heddle_parent(dotted, span.trace) ELSE heddle_uuid(parent) END AS parent_run_id,
      ${hidden}_project.id AS project_id, name, type AS run_type,
      CASE WHEN failed = 1 THEN 'error' WHEN end_us IS NULL THEN 'pending' ELSE 'success' END
        AS status,
      ${time('start_us')} AS start_time, ${time('start_us + end_us')} AS end_time,
      start_us, end_us / 1e6 AS latency_seconds, first_us / 1e6 AS first_token_seconds,
      prompt AS prompt_tokens, completion AS completion_tokens, total AS total_tokens,
      prompt_cost, completion_cost, total_cost,
      ${kindColumns.map((name, at) => `json_extract(${kinds}, '$[${at}]') AS ${name}`).join(', ')},
      CASE typeof(thread) WHEN 'blob' THEN heddle_uuid(thread) ELSE thread END AS thread_id,
      heddle_uuid(example) AS reference_example_id, coalesce(root, 0) AS is_root
    FROM ${hidden}_project JOIN main.span ON span.project = ${hidden}_project.no
    WHERE ${isKept(hidden)}`,
    `CREATE TEMP VIEW runs AS SELECT * FROM ${hidden}_runs`,
    `CREATE TEMP VIEW ${hidden}_feedback AS SELECT heddle_uuid(feedback.id) AS id,
      heddle_uuid(feedback.span) AS run_id, key, score, value,
      ${time('created_us')} AS created_at, ${time('modified_us')} AS modified_at
    FROM ${hidden}_project JOIN main.span ON span.project = ${hidden}_project.no
      JOIN main.feedback ON feedback.tenant = span.tenant AND feedback.span = span.id
    WHERE ${isKept(hidden)}`,
    `CREATE TEMP VIEW feedback AS SELECT * FROM ${hidden}_feedback`,
  ]
}
