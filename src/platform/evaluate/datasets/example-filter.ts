/** Filters of examples by their splits, their metadata and their texts. */

import { contains } from '../../../json/index.ts'
import { metadataSought } from '../../records/catalog/record-query.ts'
import { filterError, parseFilter, textOf } from '../../query/filter/filter-text.ts'
import type { FilterPart } from '../../query/filter/filter-text.ts'
import { splitsKey } from './example-change.ts'
import type { ExampleRow } from './example-row.ts'
import type { ExampleEntry } from './example-tree.ts'

/** Conditions, all of which hold. */
export interface ExampleFilter {
  readonly splits?: readonly string[]
  /** JSON that the metadata contain. */
  readonly metadataJson?: string
  /** Each is somewhere in the inputs or outputs. */
  readonly texts?: readonly string[]
  readonly filter?: string
}

/** A filter that was read. `row` is missing if entries decide. */
export interface ReadExampleFilter {
  readonly entry: (entry: ExampleEntry) => boolean
  readonly row?: (entry: ExampleEntry, row: ExampleRow) => boolean
}

type Metadata = Readonly<Record<string, unknown>>

/** Reads a filter. Throws `invalid` or `malformed`. */
export function readExampleFilter(
  { splits, metadataJson, texts = [], filter }: ExampleFilter,
): ReadExampleFilter {
  const wanted = splits && new Set(splits)
  const part = metadataJson === undefined ? undefined : metadataSought(metadataJson)
  const test = filter === undefined ? undefined : testOf(parseFilter(filter))
  const sought = texts.map((text) => text.toLowerCase())
  const looksInside = part !== undefined || test !== undefined || sought.length > 0
  return {
    entry: (entry) => wanted === undefined || entry.splits.some((split) => wanted.has(split)),
    ...looksInside && { row: (entry, row) => {
      const metadata = { ...row.metadata, [splitsKey]: entry.splits }
      return (part === undefined || contains(metadata, part)) &&
        (test === undefined || test(metadata)) && hasTexts(row, sought)
    } },
  }
}

function hasTexts({ inputs, outputs }: ExampleRow, sought: readonly string[]): boolean {
  if (sought.length === 0) return true
  const text = `${Buffer.from(inputs).toString()}\n${Buffer.from(outputs ?? []).toString()}`
    .toLowerCase()
  return sought.every((each) => text.includes(each))
}

/** `and`, `or`, `not`, `exists(metadata, "k")` and `has(metadata, '{"k": 1}')`. */
function testOf(part: FilterPart): (metadata: Metadata) => boolean {
  if (part.kind !== 'call') throw filterError('a call such as has(…) is expected', part.at)
  const { name, values, at } = part
  if (name === 'and' || name === 'or') {
    const tests = values.map(testOf)
    return name === 'and'
      ? (metadata) => tests.every((each) => each(metadata))
      : (metadata) => tests.some((each) => each(metadata))
  }
  const [field, value] = values
  if (name === 'not' && field !== undefined) {
    const test = testOf(field)
    return (metadata) => !test(metadata)
  }
  const isMetadata = (field?.kind === 'name' || field?.kind === 'text') &&
    field.value === 'metadata'
  if ((name !== 'exists' && name !== 'has') || !isMetadata || value === undefined) {
    throw filterError('examples are found by and, or, not, exists(metadata, …), has(metadata, …)',
      at)
  }
  const text = textOf(value)
  if (name === 'exists') return (metadata) => Object.hasOwn(metadata, text)
  const sought = metadataSought(text)
  return (metadata) => contains(metadata, sought)
}
