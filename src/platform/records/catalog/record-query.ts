/** Lists of records: conditions, order, and pages. */

import { HeddleError } from '../../../errors.ts'
import { contains, isObject } from '../../../json/index.ts'
import type { CatalogRecord } from './catalog-record.ts'
import { compareInOrder } from './record-index.ts'
import type { ReadonlyRecordIndex, RecordOrder } from './record-index.ts'

/** Choice of records. All given conditions hold. */
export interface RecordQuery {
  readonly ids?: readonly string[]
  readonly name?: string
  /** In whatever case. */
  readonly nameContains?: string
  /** In the name or in the description of the metadata, in whatever case. */
  readonly text?: string
  /** Ids of parents, one of which each record has; an empty text stands for records without one. */
  readonly parentIds?: readonly string[]
  /** True for records with a parent, false for those without one. */
  readonly hasParent?: boolean
  /** JSON that their metadata contain. */
  readonly metadata?: unknown
  readonly sortBy: RecordOrder
  readonly descending: boolean
  /** At most 100. */
  readonly limit: number
  readonly offset: number
  /** The page begins after the place that this record has, or had. */
  readonly after?: Pick<CatalogRecord, 'id' | 'name' | 'orderMs' | 'createdAtMs' | 'modifiedAtMs'>
}

/** Metadata to look for, as a query has them. Throws `invalid` if they are no JSON. */
export function metadataSought(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    throw new HeddleError('invalid', 'metadata: this is not JSON.')
  }
}

/** A page, and how many records there are in all pages. */
export interface RecordPage {
  readonly records: readonly CatalogRecord[]
  readonly total: number
}

/** Records of a page at most. */
const pageRecords = 100

/** Characters of metadata that are parsed before other work has its turn. */
const parsedTogether = 256 * 1024
/** Approximate characters of a record, besides its metadata. */
const recordCharacters = 500

/** The page. `turn` resolves when other work had its turn. */
export async function pageOf(index: ReadonlyRecordIndex, query: RecordQuery,
  turn: () => Promise<void>): Promise<RecordPage> {
  const { sortBy, descending, offset, after, metadata, text } = query
  const limit = Math.min(query.limit, pageRecords)
  let found = candidates(index, query)
  if (descending) found = found.toReversed()
  found = found.filter(matcher(query))
  if (metadata !== undefined || text !== undefined) {
    found = await containing(found, { metadata, text: text?.toLowerCase() }, turn)
  }
  const total = found.length
  if (after !== undefined) {
    const sign = descending ? -1 : 1
    const place = after as CatalogRecord
    found = found.filter((record) => sign * compareInOrder(sortBy, record, place) > 0)
  }
  return { records: found.slice(offset, offset + limit), total }
}

/** A superset in ascending order. */
function candidates(index: ReadonlyRecordIndex,
  { ids, name, sortBy }: RecordQuery): readonly CatalogRecord[] {
  if (name === undefined && ids === undefined) return index.ordered(sortBy)
  const found = name !== undefined
    ? [index.named(name)]
    : [...new Set(ids)].map((id) => index.get(id))
  return found.filter((record) => record !== undefined)
    .sort((a, b) => compareInOrder(sortBy, a, b))
}

/** Test for all conditions except for that on metadata. */
function matcher({ ids, nameContains, parentIds, hasParent }: RecordQuery) {
  const part = nameContains?.toLowerCase()
  const [wanted, parents] = [ids && new Set(ids), parentIds && new Set(parentIds)]
  return ({ id, name, parentId }: CatalogRecord): boolean =>
    (wanted === undefined || wanted.has(id)) &&
    (parents === undefined || parents.has(parentId)) &&
    (hasParent === undefined || hasParent === (parentId !== '')) &&
    (part === undefined || name.toLowerCase().includes(part))
}

/** Records that have these metadata, and this text in their name or their description. */
async function containing(records: readonly CatalogRecord[],
  { metadata, text }: { readonly metadata: unknown; readonly text: string | undefined },
  turn: () => Promise<void>): Promise<readonly CatalogRecord[]> {
  const found: CatalogRecord[] = []
  let characters = 0
  for (const record of records) {
    characters += record.metadataJson.length + recordCharacters
    if (characters > parsedTogether) {
      characters = record.metadataJson.length
      await turn()
    }
    const own: unknown = JSON.parse(record.metadataJson)
    if (metadata !== undefined && !contains(own, metadata)) continue
    if (text === undefined || saysText(record.name, own, text)) found.push(record)
  }
  return found
}

function saysText(name: string, metadata: unknown, text: string): boolean {
  const description = isObject(metadata) ? metadata['description'] : undefined
  return name.toLowerCase().includes(text) ||
    typeof description === 'string' && description.toLowerCase().includes(text)
}
