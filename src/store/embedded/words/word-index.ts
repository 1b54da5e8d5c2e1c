/**
 * The index of words: which spans have a word that begins so. Triggers note which spans it lacks
 * (schema.ts), so programs that do not know the index leave it whole. A word is mixed with its
 * project, so no question costs more because other projects have a word often.
 */

import type { IndexedWord } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'

/** Spans with the words of a question beyond which it is quicker to look at all of them. */
const candidatesMax = 8_000
/** Spans that are not in the index and are looked at by each question; with more it is not used. */
const missingMax = 2_000
/**
 * Words of a question that the index is asked for, and characters that one must have of which only
 * the beginning is known: the index reads all words that begin so, at once.
 */
const [askedMax, prefixMin] = [4, 4]
/** Between the number of the project and the word. No word has it. */
const divider = '\uE000'

/** A span for which the words of a question speak, or that has to be looked at. */
export type WordCandidate = readonly [no: number, startUs: number, id: Uint8Array]

/** What is indexed of a span. */
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
   * The spans of a project that may have all of the words, and start in this time. Undefined if
   * they are too many, or too many are not in the index.
   */
  candidates(project: number, words: readonly IndexedWord[],
    { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number }
  ):
    | readonly WordCandidate[]
    | undefined {
    const asked = words.filter(({ text, isPrefix }) => !isPrefix || text.length >= prefixMin)
      // The longest are the rarest, as far as that is known.
      .toSorted((a, b) => b.text.length - a.text.length).slice(0, askedMax)
    if (asked.length === 0) return undefined
    // Before the index is asked: what is missing now may be in it then.
    const missing = this.#missing()
    if (missing === undefined) return undefined
    const found = this.#database.prepare<[number]>(
      'SELECT rowid FROM word WHERE word MATCH ? LIMIT ?',
    ).all(matchOf(project, asked), candidatesMax + 1)
    if (found.length > candidatesMax) return undefined
    const numbers = [...new Set([...missing, ...found].map(([number]) => number))]
    return this.#database.prepare<WordCandidate>(`
      SELECT no, start_us, id FROM span WHERE no IN (SELECT value FROM json_each(?))
        AND +project = ? AND start_us >= ? AND start_us < ?
    `).all(JSON.stringify(numbers), project, fromUs, toUs)
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

function matchOf(project: number, words: readonly IndexedWord[]): string {
  const all = words.map(({ text, isPrefix }) =>
    `"${inProject(project, text)}"${isPrefix ? ' *' : ''}`
  )
  return `(${all.join(' AND ')}) OR "${inProject(project, '')}"`
}

function inProject(no: number, word: string): string {
  return `${no.toString(36)}${divider}${word}`
}
