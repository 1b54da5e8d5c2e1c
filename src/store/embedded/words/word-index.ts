/**
 * The index of words: which spans have a word that begins so. Triggers note which spans it lacks
 * (schema.ts), so programs that do not know the index leave it whole. A word is mixed with its
 * project, so no question costs more because other projects have a word often. SQLite cannot be
 * stopped within a statement, so each statement reads a bounded part of the index.
 */

import type { IndexedWord } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'

/** Spans that are not in the index and are looked at by each question; with more it is not used. */
const missingMax = 2_000
/** Words of a question that the index is asked for. */
const askedMax = 4
/**
 * Words that are asked for one by one if they begin so. If more do, each statement gathers the
 * spans of all, so that these are bounded: a beginning that more have is not asked for.
 */
const [wordsOfPrefix, spansOfPrefix] = [64, 50_000]
/** Spans whose words a statement reads, by their numbers, and found ones whose rows it reads. */
const [numbersAtOnce, rowsAtOnce] = [100_000, 1_000]
/** Separator between the number of the project and the word. No word has it. */
const divider = '\uE000'

/** A span for which the words of a question speak, or that has to be looked at. */
export type WordCandidate = readonly [no: number, startUs: number, id: Uint8Array]

/** Range of a question: spans of a project that start in a time. */
export interface WordBounds {
  readonly project: number
  readonly fromUs: number
  readonly toUs: number
}

/** Text of a span for the index. */
export function indexedText(project: number, words: ReadonlySet<string> | undefined): string {
  // A span with too many words is a candidate always.
  return [...words ?? ['']].map((word) => inProject(project, word)).join(' ')
}

/** Reads the index over one connection. */
export class WordReads {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * The spans that may have all of the words. Undefined if they are more than `max`, or too many
   * are not in the index. Yields between statements, so that others have a turn.
   */
  *candidates({ project, fromUs, toUs }: WordBounds, words: readonly IndexedWord[],
    max: number): Generator<void, readonly WordCandidate[] | undefined, void> {
    // Before the index is asked: what is missing now may be in it then.
    const missing = this.#missing()
    if (missing === undefined) return undefined
    const match = yield* this.#match(project, words)
    if (match === undefined) return undefined
    const numbers = new Set(missing.map(([number]) => number))
    const find = this.#database.prepare<[number]>(
      'SELECT rowid FROM word WHERE word MATCH ? AND rowid >= ? AND rowid < ? LIMIT ?',
    )
    const [last] = this.#database.prepare<[number | null]>('SELECT max(no) FROM span').get()!
    let found = 0
    for (let from = 0; from <= (last ?? -1); from += numbersAtOnce) {
      const some = find.all(match, from, from + numbersAtOnce, max + 1 - found)
      for (const [number] of some) numbers.add(number)
      found += some.length
      if (found > max) return undefined
      yield
    }
    return yield* this.#rows({ project, fromUs, toUs }, [...numbers])
  }

  *#rows({ project, fromUs, toUs }: WordBounds,
    numbers: readonly number[]): Generator<void, readonly WordCandidate[], void> {
    const select = this.#database.prepare<WordCandidate>(`
      SELECT no, start_us, id FROM span WHERE no IN (SELECT value FROM json_each(?))
        AND +project = ? AND start_us >= ? AND start_us < ?
    `)
    const rows: WordCandidate[] = []
    for (let at = 0; at < numbers.length; at += rowsAtOnce) {
      const some = JSON.stringify(numbers.slice(at, at + rowsAtOnce))
      rows.push(...select.all(some, project, fromUs, toUs))
      yield
    }
    return rows
  }

  /** The words as the index is asked for them; undefined if it cannot be. */
  *#match(project: number,
    words: readonly IndexedWord[]): Generator<void, string | undefined, void> {
    const asked: string[] = []
    // The longest are the rarest, as far as that is known.
    const longest = words.toSorted((a, b) => b.text.length - a.text.length).slice(0, askedMax)
    for (const { text, isPrefix } of longest) {
      const word = inProject(project, text)
      const term = isPrefix ? this.#prefix(word) : quoted(word)
      if (term !== undefined) asked.push(term)
      yield
    }
    if (asked.length === 0) return undefined
    return `(${asked.join(' AND ')}) OR ${quoted(inProject(project, ''))}`
  }

  /** All words that begin so; undefined if they are too many. */
  #prefix(prefix: string): string | undefined {
    const database = this.#database
    database.prepare(`CREATE VIRTUAL TABLE IF NOT EXISTS temp.word_instance
      USING fts5vocab('main', 'word', 'instance')`).run()
    const all: string[] = []
    const end = `${prefix}\u{10FFFF}`
    const next = database.prepare<[string]>(
      'SELECT term FROM word_instance WHERE term >= ? AND term < ? LIMIT 1',
    )
    for (let from = prefix; all.length <= wordsOfPrefix;) {
      const [word] = next.get(from, end) ?? []
      if (word === undefined) return anyOf(all.length === 0 ? [prefix] : all)
      all.push(word)
      from = `${word}\0`
    }
    const [spans] = database.prepare<[number]>(`
      SELECT count(*) FROM (SELECT 1 FROM word_instance WHERE term >= ? AND term < ? LIMIT ?)
    `).get(prefix, end, spansOfPrefix + 1)!
    return spans > spansOfPrefix ? undefined : `${quoted(prefix)} *`
  }

  /** Spans that are not in the index; undefined if they are many. */
  #missing(): readonly (readonly [number])[] | undefined {
    const ranges = this.#database.prepare<[number, number]>(
      'SELECT first, last FROM unworded ORDER BY first LIMIT ?',
    ).all(missingMax + 1)
    if (ranges.length > missingMax) return undefined
    const between = this.#database.prepare<[number]>(
      'SELECT no FROM span WHERE no >= ? AND no <= ? LIMIT ?',
    )
    const missing: (readonly [number])[] = []
    for (const [first, last] of ranges) {
      missing.push(...between.all(first, last, missingMax + 1 - missing.length))
      if (missing.length > missingMax) return undefined
    }
    return missing
  }
}

function anyOf(words: readonly string[]): string {
  return `(${words.map(quoted).join(' OR ')})`
}

function quoted(word: string): string {
  return `"${word}"`
}

function inProject(no: number, word: string): string {
  return `${no.toString(36)}${divider}${word}`
}
