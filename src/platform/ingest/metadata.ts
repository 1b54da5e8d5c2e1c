/** The metadata of a span, as far as filters and its head know it. */

import { memberAt, membersAt } from '../../json/index.ts'
import { isKeptKey } from '../spans/otel-keys.ts'
import { usageAt } from '../spans/usage.ts'
import type { Usage } from '../spans/usage.ts'

/** Fields that are read of metadata. */
export interface Metadata {
  /** Keys with their scalars: a text as it is, others as JSON; null for what is no scalar. */
  readonly scalars: ReadonlyMap<string, string | null>
  /** The conversation that it names. */
  readonly thread: string | null
  readonly usage: Usage | undefined
}

/** Keys that a filter finds. */
const keysMax = 200
/** Characters of the id of a conversation. */
const threadMax = 1000
/** Keys that name a conversation; the first of them wins. */
const threadKeys = ['thread_id', 'session_id', 'conversation_id']
const [openList, openObject, closeObject] = [91, 123, 125]

const noMetadata: Metadata = { scalars: new Map(), thread: null, usage: undefined }

/** Reads `metadata` in a valid `extra`. What was left out is said in `cut`. */
export function readMetadata(extra: Buffer | undefined, cut: string[]): Metadata {
  const place = extra && memberAt(extra, 0, 'metadata')
  if (extra === undefined || place === undefined) return noMetadata
  if (extra[place.from] !== openObject || extra[place.from + 1] === closeObject) return noMetadata
  const scalars = new Map<string, string | null>()
  let usage: Usage | undefined
  for (const member of membersAt(extra, place.from, keysMax + 1, (name) => !isKeptKey(name))) {
    const { name, from, to } = member
    if (scalars.size === keysMax && !scalars.has(name)) {
      cut.push(`metadata: filters find the first ${keysMax} keys only.`)
      break
    }
    const isNested = extra[from] === openObject || extra[from] === openList
    if (name === 'usage_metadata') usage = usageAt(extra, member)
    scalars.set(name, isNested ? null : scalarText(extra.toString('utf8', from, to)))
  }
  const key = threadKeys.find((each) => typeof scalars.get(each) === 'string')
  return { scalars, thread: key === undefined ? null : scalars.get(key)!.slice(0, threadMax),
    usage }
}

function scalarText(json: string): string | null {
  const value: unknown = JSON.parse(json)
  if (value === null) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}
