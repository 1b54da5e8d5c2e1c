/** The words by which a thread is found: those of its title, and the first that a human said. */

import type { ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import { isObject } from '../json/index.ts'

/** Words of a text that count, and characters of a word that count. */
const [wordsMax, wordMax] = [64, 40]
/** Characters of a title that count. */
const titleMax = 400
/** Scripts without spaces between words: any part of a run of them is a word. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u
/** Start of an id, as written, that goes past the first dash. */
const idStart = /^[0-9a-f]{8}-[0-9a-f-]*$/i
/** A beginning of an id that is long enough to find a thread by. */
const idPart = /^[0-9a-f]{4,32}$/

/** The words of a text, in small letters without accents, each once. */
export function wordsOf(text: string): readonly string[] {
  const pieces = text.split(/\s+/).map((piece) =>
    idStart.test(piece)
      ? piece.replaceAll('-', '')
      : piece
  )
  const plain = pieces.join(' ').normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words.map((word) => word.slice(0, wordMax)))].slice(0, wordsMax)
}

/** The words that a thread is found by. A search finds them by their beginnings. */
export function wordsOfThread(
  { metadataJson, opening = '' }: Pick<ThreadRow, 'metadataJson' | 'opening'>,
): readonly string[] {
  const words = wordsOf(`${titleIn(metadataJson)} ${opening}`)
  return [...new Set(words.flatMap((word) => unspaced.test(word) ? endsOf(word) : [word]))]
}

/** True if a word of a search may be the beginning of an id. */
export function mayBeginId(word: string): boolean {
  return idPart.test(word)
}

/** An id as it is compared with words. */
export function idWord(id: string): string {
  return id.replaceAll('-', '').toLowerCase()
}

function titleIn(metadataJson: string): string {
  const metadata: unknown = JSON.parse(metadataJson || '{}')
  if (!isObject(metadata)) return ''
  return [metadata['title'], metadata['thread_name'], metadata['name']]
    .filter((each) => typeof each === 'string').map((each) => each.slice(0, titleMax)).join(' ')
}

function endsOf(word: string): string[] {
  const characters = [...word]
  return characters.map((_, index) => characters.slice(index).join(''))
}
