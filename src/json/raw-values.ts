/** Codec for values with raw JSON in them that cross to another member. */

import { valuesAsText } from '../../cluster/index.ts'
import { assert } from '../errors.ts'
import { textWithPlaces, valueOf } from '../raw-json.ts'
import type { RawPlace } from '../raw-json.ts'

/** Names the places of raw values, in the first member; who does not know it ignores it. */
const rawMember = '{"~raw":'

/** `{"~raw":["<its length>",[…places]],…}` if there are raw values. */
function encodedText(value: unknown): string {
  const { text, places } = textWithPlaces(value)
  if (places.length === 0) return text
  assert(text.startsWith('{'), 'raw values are members of an object')
  const list = JSON.stringify(places)
  return `${rawMember}["${String(list.length).padStart(10, '0')}",${list}],${text.slice(1)}`
}

function decodedText(text: string): unknown {
  if (!text.startsWith(rawMember)) return JSON.parse(text)
  const [begin, afterLength] = [rawMember.length + 2, rawMember.length + 14]
  const length = Number(text.slice(begin, begin + 10))
  const places = JSON.parse(text.slice(afterLength, afterLength + length)) as RawPlace[]
  return valueOf({ text: `{${text.slice(afterLength + length + 2)}`, places })
}

/** As `plainValues` of the cluster, but raw values stay raw: no member on the way parses them. */
export const rawValues = valuesAsText({ encode: encodedText, decode: decodedText })
