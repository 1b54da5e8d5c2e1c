/** The tables of `traces.db`. Tenants and projects are small numbers in the rows of the others. */

import type { SchemaStep } from '../file/schema-version.ts'

/** The steps of the schema. A step never changes. */
export const traceSchema: readonly SchemaStep[] = [{ oldest: 1, sql: `
  CREATE TABLE IF NOT EXISTS tenant (no INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

  -- Spans that began before gone_us are removed, and nothing revives them.
  CREATE TABLE IF NOT EXISTS project (
    no INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, id BLOB NOT NULL,
    gone_us INTEGER NOT NULL DEFAULT -9007199254740991, life_s INTEGER,
    UNIQUE (tenant, id));

  -- Times besides start_us are relative to it. What the other columns hold: span-row.ts.
  CREATE TABLE IF NOT EXISTS span (
    no INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, id BLOB NOT NULL, project INTEGER NOT NULL,
    start_us INTEGER NOT NULL, trace BLOB NOT NULL, trace_us INTEGER NOT NULL,
    dotted, parent BLOB, root INTEGER, name TEXT, type TEXT, end_us INTEGER, first_us INTEGER,
    failed INTEGER, prompt INTEGER, completion INTEGER, total INTEGER,
    prompt_cost REAL, completion_cost REAL, total_cost REAL, thread, example BLOB,
    terms BLOB, posted INTEGER, blocks BLOB, marks TEXT,
    post_us INTEGER, patch_us INTEGER, patched INTEGER, ranks BLOB);
  CREATE UNIQUE INDEX IF NOT EXISTS span_id ON span (tenant, id, project);
  CREATE INDEX IF NOT EXISTS span_start ON span (project, start_us, id);
  CREATE INDEX IF NOT EXISTS span_root ON span (project, start_us, id) WHERE root = 1;
  CREATE INDEX IF NOT EXISTS span_trace ON span (tenant, trace, project);

  -- Which spans have a term. The term is mixed with the project.
  CREATE TABLE IF NOT EXISTS posting (
    term INTEGER, start_us INTEGER, no INTEGER,
    PRIMARY KEY (term, start_us, no)) WITHOUT ROWID;

  -- With a rowid, because such tables waste less on long rows.
  CREATE TABLE IF NOT EXISTS block (
    no INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, trace BLOB NOT NULL, id INTEGER NOT NULL,
    data BLOB NOT NULL, UNIQUE (tenant, trace, id));

  CREATE TABLE IF NOT EXISTS file (
    no INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, owner BLOB NOT NULL, name TEXT NOT NULL,
    trace BLOB NOT NULL, type TEXT NOT NULL, data BLOB NOT NULL, UNIQUE (tenant, owner, name));
  CREATE INDEX IF NOT EXISTS file_trace ON file (tenant, trace);

  -- Hours of a project that have had spans, when a write touched them last, and their roll-up.
  CREATE TABLE IF NOT EXISTS hour (
    project INTEGER, hour INTEGER, touched_us INTEGER NOT NULL, body BLOB,
    PRIMARY KEY (project, hour)) WITHOUT ROWID;

  -- Removed traces. Pending: some of their spans may still be there.
  CREATE TABLE IF NOT EXISTS gone_trace (
    trace BLOB, project INTEGER, at_us INTEGER NOT NULL, pending INTEGER NOT NULL,
    PRIMARY KEY (trace, project)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS gone_pending ON gone_trace (project, trace) WHERE pending = 1;
  CREATE INDEX IF NOT EXISTS gone_at ON gone_trace (at_us);

  -- Marked: the span's row has its mark.
  CREATE TABLE IF NOT EXISTS feedback (
    no INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, id BLOB NOT NULL, span BLOB, trace BLOB,
    project BLOB, key TEXT NOT NULL, score REAL, value TEXT, created_us INTEGER NOT NULL,
    modified_us INTEGER NOT NULL, body TEXT NOT NULL, marked INTEGER NOT NULL,
    UNIQUE (tenant, id));
  CREATE INDEX IF NOT EXISTS feedback_span ON feedback (tenant, span);
  CREATE INDEX IF NOT EXISTS feedback_project ON feedback (tenant, project, created_us, id);
  CREATE INDEX IF NOT EXISTS feedback_created ON feedback (tenant, created_us, id);
  CREATE INDEX IF NOT EXISTS feedback_unmarked ON feedback (tenant, span) WHERE marked = 0;

  CREATE TABLE IF NOT EXISTS feedback_token (
    hash TEXT PRIMARY KEY, id BLOB NOT NULL, tenant INTEGER NOT NULL, span BLOB NOT NULL,
    key TEXT NOT NULL, expires_ms INTEGER NOT NULL, config TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS feedback_token_span ON feedback_token (tenant, span);
  CREATE INDEX IF NOT EXISTS feedback_token_expiry ON feedback_token (expires_ms);
` }, { oldest: 1, sql: `
  -- The spans of a project as they arrived: a new row has the next number.
  CREATE INDEX IF NOT EXISTS span_arrival ON span (project);

  -- Bytes of each tenant. Programs that do not know it leave it wrong: tenant-use.ts sees to that.
  CREATE TABLE IF NOT EXISTS tenant_use (tenant INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);
` }, { oldest: 1, sql: `
  -- Words of spans, mixed with their project; the rowid is the span's. See ../words/word-index.ts.
  CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5(
    text, content='', contentless_delete=1, detail=none, tokenize='ascii');
  -- Each slice of the indexer makes a segment: merging few at a time would write words too often.
  INSERT INTO word (word, rank) VALUES ('automerge', 8);
  INSERT INTO word (word, rank) VALUES ('crisismerge', 32);

  -- Spans that the index lacks, by their numbers. Triggers, so that older programs note them too.
  CREATE TABLE IF NOT EXISTS unworded (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
  INSERT OR IGNORE INTO unworded VALUES (0, 9007199254740991);
  CREATE TRIGGER IF NOT EXISTS span_unworded AFTER INSERT ON span
    WHEN coalesce((SELECT last FROM unworded WHERE first <= new.no ORDER BY first DESC LIMIT 1),
      -1) < new.no
    BEGIN INSERT OR IGNORE INTO unworded VALUES (new.no, new.no); END;
  CREATE TRIGGER IF NOT EXISTS span_reworded AFTER UPDATE OF name, blocks ON span
    WHEN (new.blocks IS NOT old.blocks OR new.name IS NOT old.name) AND
      coalesce((SELECT last FROM unworded WHERE first <= new.no ORDER BY first DESC LIMIT 1),
        -1) < new.no
    BEGIN INSERT OR IGNORE INTO unworded VALUES (new.no, new.no); END;
  CREATE TRIGGER IF NOT EXISTS span_wordless AFTER DELETE ON span
    BEGIN
      DELETE FROM word WHERE rowid = old.no;
      DELETE FROM unworded WHERE first = old.no AND last = old.no;
    END;
` }, { oldest: 1, sql: `
  -- Kinds of tokens: src/platform/spans/token-kinds.ts. Missing in most spans.
  ALTER TABLE span ADD COLUMN kinds TEXT;
` }, { oldest: 1, sql: `
  -- Minutes since 1970 after which a span is deleted: span-lives.ts. Null in rows of programs that
  -- do not know it, which delete by the arrival of a span and the life of its project.
  ALTER TABLE span ADD COLUMN expires_min INTEGER;
  CREATE INDEX IF NOT EXISTS span_expiry ON span (expires_min);

  -- Projects whose spans get another end of life, and the last span that has it.
  CREATE TABLE IF NOT EXISTS life_change (
    project INTEGER PRIMARY KEY, after_us INTEGER NOT NULL, after_id BLOB NOT NULL);
` }, { oldest: 1, sql: `
  -- Ids of spans and traces that were removed on request.
  CREATE TABLE IF NOT EXISTS gone_id (
    no INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, id BLOB NOT NULL, at_us INTEGER NOT NULL,
    UNIQUE (tenant, id));

  -- Feedback whose span has not come, by its trace and by its age.
  CREATE INDEX IF NOT EXISTS feedback_trace ON feedback (tenant, trace)
    WHERE marked = 0 AND trace IS NOT NULL;
  CREATE INDEX IF NOT EXISTS feedback_waiting ON feedback (modified_us)
    WHERE marked = 0 AND span IS NOT NULL;

  -- The project of the span; null in rows of programs that do not know it. See file-rows.ts.
  ALTER TABLE file ADD COLUMN project INTEGER;
` }, { oldest: 1, sql: `
  -- 1 if no operation knew the project of the span: see span-takeover.ts.
  ALTER TABLE span ADD COLUMN guessed INTEGER;
  CREATE INDEX IF NOT EXISTS span_guessed ON span (tenant, id) WHERE guessed = 1;
` }, { oldest: 1, sql: `
  -- When spans of a tenant were last removed to free space.
  CREATE TABLE IF NOT EXISTS freed (tenant INTEGER PRIMARY KEY, until_us INTEGER NOT NULL);
` }]
