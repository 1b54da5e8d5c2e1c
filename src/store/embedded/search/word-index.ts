/**
 * The words of threads in a full-text index. Threads whose words may have changed are noted with
 * their row. They are indexed together when there are enough of them, or when a search asks, in
 * steps between other work: no run waits for it.
 */

import { ThreadRow } from '../../../../proto/gen/storage/v1/row.ts'
import { idWord, mayBeginId, wordsOfThread } from '../../../search/index.ts'
import type { Database, Statement } from '../file/database.ts'
import { tenantMark } from './tenant-mark.ts'

/**
 * `thread_words` has a row for each listed thread, with its number. Its words begin with a mark of
 * the tenant, so that no search reads words of others. `word_due` are threads to be indexed.
 * `opened` are those whose opening was noted. `word_life` is the last process that noted all.
 */
export const wordSchema = `
  CREATE VIRTUAL TABLE thread_words USING fts5(words, content = '', contentless_delete = 1,
    detail = none, tokenize = 'ascii');
  CREATE TABLE word_due (seq INTEGER PRIMARY KEY, no INTEGER NOT NULL);
  CREATE TABLE opened (no INTEGER PRIMARY KEY);
  CREATE TABLE word_life (epoch INTEGER NOT NULL);
  INSERT INTO word_life VALUES (0);
`

/** Threads that are indexed in one step: some milliseconds. */
const stepThreads = 64

type Row = readonly [tenant: string, threadId: string, hidden: number, metadataJson: string,
  body: Uint8Array]

/** Notes and indexes words. Belongs to `ThreadTable`. */
export class WordIndex {
  readonly #database: Database
  readonly #note: Statement<never>
  readonly #open: Statement<never>
  readonly #close: Statement<never>
  readonly #due: Statement<readonly [seq: number, no: number]>
  readonly #row: Statement<Row>
  readonly #last: Statement<readonly [seq: number | null]>
  readonly #first: Statement<readonly [seq: number | null]>

  constructor(database: Database) {
    this.#database = database
    this.#note = database.prepare('INSERT INTO word_due (no) VALUES (?)')
    this.#open = database.prepare('INSERT OR IGNORE INTO opened VALUES (?)')
    this.#close = database.prepare('DELETE FROM opened WHERE no = ?')
    this.#due = database.prepare('SELECT seq, no FROM word_due ORDER BY seq LIMIT ?')
    this.#row = database.prepare(
      'SELECT tenant, thread_id, hidden, metadata, body FROM thread WHERE no = ?',
    )
    this.#last = database.prepare('SELECT max(seq) FROM word_due')
    this.#first = database.prepare('SELECT min(seq) FROM word_due')
  }

  /** Notes that the words of a thread may have changed, or that it is gone. */
  note(no: number): void {
    this.#note.run(no)
  }

  /** Notes a thread whose opening is known from now on. */
  open(no: number): void {
    this.#open.run(no)
  }

  /** Forgets a thread that is being removed. */
  remove(no: number): void {
    this.#close.run(no)
    this.#note.run(no)
  }

  /** The newest note; 0 if all are indexed. */
  get newest(): number {
    return this.#last.get()![0] ?? 0
  }

  /** True if there are enough notes for a step. One for each thread would cost much more. */
  get isStepDue(): boolean {
    const [first] = this.#first.get()!
    return first !== null && this.newest - first >= stepThreads
  }

  /** True if all notes up to this one are indexed. */
  isIndexed(upTo: number): boolean {
    const [first] = this.#first.get()!
    return first === null || first > upTo
  }

  /** Indexes some noted threads. Call within a transaction. */
  step(): void {
    const due = this.#due.all(stepThreads)
    for (const no of new Set(due.map(([, each]) => each))) this.#index(no)
    const last = due.at(-1)
    if (last) this.#database.prepare('DELETE FROM word_due WHERE seq <= ?').run(last[0])
  }

  /**
   * Call once in each process. If the one before did not note changes, all threads are noted: an
   * older program, or one that had no index yet.
   */
  begin(epoch: number): void {
    const life = this.#database.prepare<readonly [epoch: number]>('SELECT epoch FROM word_life')
    const [before] = life.get()!
    this.#database.prepare('UPDATE word_life SET epoch = ?').run(epoch)
    if (before === epoch - 1 && epoch > 1) return
    for (const table of ['word_due', 'opened']) {
      this.#database.prepare(`DELETE FROM ${table}`).run()
    }
    this.#database.prepare("INSERT INTO thread_words (thread_words) VALUES ('delete-all')").run()
    this.#database.prepare('INSERT INTO word_due (no) SELECT no FROM thread WHERE hidden = 0').run()
  }

  /** Makes the entry of a thread what its row says now. */
  #index(no: number): void {
    this.#database.prepare('DELETE FROM thread_words WHERE rowid = ?').run(no)
    const row = this.#row.get(no)
    if (!row) return
    const [tenant, threadId, hidden, metadataJson, body] = row
    if (hidden === 1) return
    const { opening } = ThreadRow.decode(body)
    const mark = tenantMark(tenant)
    const words = wordsOfThread({ metadataJson, opening }).map((word) => `${mark}w${word}`)
    this.#database.prepare('INSERT INTO thread_words (rowid, words) VALUES (?, ?)')
      .run(no, [...words, `${mark}i${idWord(threadId)}`].join(' '))
  }
}

/** The words of a search, as the full-text index takes them. */
export function matchOf(tenant: string, words: readonly string[]): string {
  const mark = tenantMark(tenant)
  return words.map((word) => {
    const own = `"${mark}w${word}"*`
    return mayBeginId(word) ? `(${own} OR "${mark}i${word}"*)` : own
  }).join(' AND ')
}
