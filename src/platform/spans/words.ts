/**
 * Words: their beginnings in a text, and the words that an index keeps. The search for words and
 * the index of words both use this, so that the index finds all that the search does. Pure.
 */

/** Characters of a word that an index keeps. */
const keptCharacters = 32
/** Characters of a word from which on it is looked for in linear time. */
const longFrom = 16

/** A part of a word as an index has it. */
export interface IndexedWord {
  readonly text: string
  /** True if longer words with this beginning are meant as well. */
  readonly isPrefix: boolean
}

/** Letters of scripts that are written without spaces: each of them may begin a word. */
const alone =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
const letter = /[\p{L}\p{N}]/u

/** Kinds of UTF-16 code units: between words, part of a word, or a word by itself. */
const [between, within, single] = [0, 1, 2]
/** Kind of each code unit, once it was asked for; 255 before that. */
const kinds = new Uint8Array(0x1_00_00).fill(255)

function kindOf(unit: number): number {
  const known = kinds[unit]!
  if (known <= single) return known
  const text = String.fromCharCode(unit)
  return kinds[unit] = alone.test(text) ? single : letter.test(text) ? within : between
}

/** True if a word is in a text where a word may begin. Both are in lower case. */
export function hasWord(text: string, word: string): boolean {
  const isAnywhere = kindOf(word.charCodeAt(0)) !== within
  for (let from = 0;;) {
    const at = positionOf(text, word, from)
    if (at < 0) return false
    if (isAnywhere || at === 0 || kindOf(text.charCodeAt(at - 1)) !== within) return true
    // No other place in the same run of letters is a beginning.
    from = at + 1
    while (from < text.length && kindOf(text.charCodeAt(from)) === within) from++
  }
}

/** Like `text.indexOf(word, from)`, but the time is not a product of two lengths. */
export function positionOf(text: string, word: string, from = 0): number {
  return word.length < longFrom ? text.indexOf(word, from) : linearPosition(text, word, from)
}

/** Position of a word, by the algorithm of Knuth, Morris and Pratt. */
function linearPosition(text: string, word: string, from: number): number {
  const back = fallbacksOf(word)
  let matched = 0
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && word.charCodeAt(matched) !== unit) matched = back[matched - 1]!
    if (word.charCodeAt(matched) === unit) matched++
    if (matched === word.length) return at - matched + 1
  }
  return -1
}

/**
 * Table of the word before: for each position, the length of the longest beginning that also ends
 * there, with which the search goes on after a mismatch.
 */
let last: { readonly word: string; readonly back: Uint16Array } | undefined

function fallbacksOf(word: string): Uint16Array {
  if (last?.word === word) return last.back
  const back = new Uint16Array(word.length)
  let matched = 0
  for (let at = 1; at < word.length; at++) {
    while (matched > 0 && word[matched] !== word[at]) matched = back[matched - 1]!
    if (word[matched] === word[at]) matched++
    back[at] = matched
  }
  last = { word, back }
  return back
}

/** Adds the words of a text in lower case, as an index keeps them. */
export function addWords(words: Set<string>, text: string): void {
  let begin = -1
  for (let at = 0; at < text.length; at++) {
    const kind = kindOf(text.charCodeAt(at))
    if (kind === within) {
      if (begin < 0) begin = at
      continue
    }
    if (begin >= 0) words.add(text.slice(begin, Math.min(at, begin + keptCharacters)))
    begin = -1
    if (kind === single) words.add(text[at]!)
  }
  if (begin >= 0) words.add(text.slice(begin, begin + keptCharacters))
}

/** Words that an index has for each text in which `hasWord` finds the word; none for `?!`. */
export function indexedWords(word: string): readonly IndexedWord[] {
  const whole = new Set<string>()
  const isOpen = kindOf(word.charCodeAt(word.length - 1)) === within
  let from = word.length
  if (isOpen) { while (from > 0 && kindOf(word.charCodeAt(from - 1)) === within) from-- }
  addWords(whole, word.slice(0, from))
  const prefix = word.slice(from, from + keptCharacters)
  return [...[...whole].map((text) => ({ text, isPrefix: false })),
    ...isOpen ? [{ text: prefix, isPrefix: true }] : []]
}
