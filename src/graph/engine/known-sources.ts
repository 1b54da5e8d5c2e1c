/** The versions of the engine whose functions are known well enough to be replaced. */

import { createHash } from 'node:crypto'

/** Functions that read the same in a range of versions of @langchain/langgraph. */
interface KnownSource {
  readonly hash: string
  readonly functions: string
  /** Of the versions that were looked at, the first and the last. */
  readonly from: string
  readonly to: string
}

const [reducer, stream] = ['messagesStateReducer', 'stream and _streamIterator'] as const

/**
 * Rows that `npm run check` compares with the newest release pinned by test/newest. A row is added
 * after the suite has passed on that release, and its functions have been read.
 */
const knownSources: readonly KnownSource[] = [
  { hash: '9fc35abccc9ae422', functions: reducer, from: '1.2.9', to: '1.5.0' },
  { hash: 'a952b635806a4f74', functions: reducer, from: '1.5.3', to: '1.7.3' },
  { hash: '52191e1021b395eb', functions: stream, from: '1.4.18', to: '1.4.18' },
  { hash: '01c98c35919c8cd2', functions: stream, from: '1.5.0', to: '1.5.3' },
  { hash: 'b8a1901fa671c5a6', functions: stream, from: '1.7.0', to: '1.7.3' },
]

const hashes: ReadonlySet<string> = new Set(knownSources.map(({ hash }) => hash))

/**
 * True if the source text of the functions is known. This is stricter than a version number, and
 * holds for every version in which the text is the same.
 */
export function isKnown(...functions: readonly unknown[]): boolean {
  const text = functions.map(String).join('\n')
  return hashes.has(createHash('sha256').update(text).digest('hex').slice(0, 16))
}

/** The functions of a release that no row covers: graphs on it run without these shortcuts. */
export function unknownIn(version: string): string[] {
  return [reducer, stream].filter((functions) =>
    !knownSources.some((row) => row.functions === functions && isWithin(version, row))
  )
}

/**
 * The release to install instead of `version`: the newest known release that is not newer, or the
 * oldest known release.
 */
export function nearestKnown(version: string): string {
  const known = knownSources.flatMap(({ from, to }) => [from, to])
    .filter((release) => unknownIn(release).length === 0).toSorted(compare)
  return known.findLast((release) => compare(release, version) <= 0) ?? known[0]!
}

function isWithin(version: string, { from, to }: KnownSource): boolean {
  return compare(from, version) <= 0 && compare(version, to) <= 0
}

function compare(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true })
}
