/** The search for the examples that a question wants, with their rows, in the order of places. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Uuid } from '../../spans/span.ts'
import { readExampleFilter } from './example-filter.ts'
import type { ExampleFilter, ReadExampleFilter } from './example-filter.ts'
import type { DatasetPlace } from './example-place.ts'
import { placeOf, versionOf } from './example-question.ts'
import type { ExampleMark, ExamplesQuestion, VersionQuestion } from './example-question.ts'
import type { ExampleRow } from './example-row.ts'
import { entriesFrom, entryAt } from './example-tree.ts'
import type { ExampleEntry, TreeRoot } from './example-tree.ts'
import type { ExampleVersions } from './example-versions.ts'

/** Bytes of rows that are read together. */
export const sliceBytes = 1024 * 1024
/** Milliseconds for a slice, which may have to look through many examples. */
const sliceMs = 10_000
/** Milliseconds after which others have their turn. */
const turnMs = 50

/** Wanted examples with their rows, and where the next ones begin. */
export type RowsOfExamples = (question:
  & Pick<ExamplesQuestion, 'ids' | 'from' | 'newestFirst'>
  & VersionQuestion
  & ExampleFilter, limit: number, needsRows: boolean) => Found

type Found = AsyncGenerator<
  { readonly entry: ExampleEntry; readonly row: ExampleRow | undefined;
    readonly next: ExampleMark },
  void,
  void
>

/** A version of a dataset: where it is, and the root of its examples. */
export interface Rooted {
  readonly place: DatasetPlace
  readonly root: TreeRoot
}

/** The version that a question is about. Throws `not_found`. */
export async function rootOf(versions: ExampleVersions,
  question: VersionQuestion): Promise<Rooted> {
  const place = placeOf(question)
  return { place, root: await versions.root(place, await versionOf(versions, question)) }
}

/** The search over the versions of a store. */
export function exampleSearch(versions: ExampleVersions,
  env: Pick<Env, 'monotonicMs'>): RowsOfExamples {
  return async function*(question, limit, needsRows): Found {
    const filter = readExampleFilter(question)
    const { place, root } = await rootOf(versions, question)
    let nowMs = env.monotonicMs()
    const endMs = nowMs + sliceMs
    const othersTurn = async () => {
      await new Promise((turn) => setImmediate(turn))
      nowMs = env.monotonicMs()
      if (nowMs > endMs) throw tooMany()
    }
    let { at, skip } = question.from
    const { erasedBefore } = question.dataset
    const mayMiss = erasedBefore !== null && root.version < erasedBefore
    const isPlain = question.ids === undefined && question.splits === undefined
      && filter.row === undefined && !mayMiss
    if (isPlain) {
      at += skip
      skip = 0
    }
    const source = question.ids === undefined
      ? entriesFrom(versions.nodes(place), root, at, question.newestFirst)
      : named(versions, place, root, question.ids, at)
    for await (const group of source) {
      const rows = needsRows || filter.row || mayMiss
        ? await rowsInSlices(versions, place, isPlain ? group.slice(0, limit) : group)
        : undefined
      for await (const [entry, row] of withRows(group, rows)) {
        // One row may take long: what is sought in its metadata may be long too.
        if (env.monotonicMs() > nowMs + turnMs) await othersTurn()
        at++
        if (!isWanted(filter, entry, row, mayMiss || needsRows)) continue
        if (skip > 0) {
          skip--
          continue
        }
        yield { entry, row, next: { at, skip: 0 } }
        if (--limit === 0) return
      }
      await othersTurn()
    }
  }
}

/** The examples with these ids by their places, behind the first `from`. */
async function* named(versions: ExampleVersions, place: DatasetPlace, root: TreeRoot,
  ids: readonly Uuid[], from: number): AsyncGenerator<readonly ExampleEntry[], void, void> {
  const places = await versions.places(place, [...new Set(ids)])
  const entries: ExampleEntry[] = []
  for (const [id, at] of [...places].sort(([, a], [, b]) => a - b)) {
    const entry = await entryAt(versions.nodes(place), root, at)
    if (entry?.id === id) entries.push(entry)
  }
  yield entries.slice(from)
}

/** Rows of examples, as many at a time as a slice may have. */
type Rows = (entry: ExampleEntry) => Promise<ExampleRow | undefined>

async function rowsInSlices(versions: ExampleVersions, place: DatasetPlace,
  entries: readonly ExampleEntry[]): Promise<Rows> {
  let known: ReadonlyMap<Uuid, ExampleRow> = new Map()
  let end = 0
  const indexes = new Map(entries.map(({ id }, index) => [id, index]))
  return async ({ id }) => {
    const index = indexes.get(id)
    if (index === undefined) return undefined
    if (index >= end) {
      let bytes = 0
      end = index
      while (end < entries.length && (end === index || bytes < sliceBytes)) {
        bytes += entries[end++]!.bytes
      }
      known = await versions.rows(place, entries.slice(index, end))
    }
    return known.get(id)
  }
}

async function* withRows(entries: readonly ExampleEntry[], rows: Rows | undefined) {
  for (const entry of entries) yield [entry, await rows?.(entry)] as const
}

function isWanted(filter: ReadExampleFilter, entry: ExampleEntry, row: ExampleRow | undefined,
  needsRow: boolean): boolean {
  if (!filter.entry(entry) || (needsRow && row === undefined)) return false
  return filter.row === undefined || (row !== undefined && filter.row(entry, row))
}

function tooMany(): HeddleError {
  return new HeddleError('invalid', 'There are too many examples to look through: ask for fewer.')
}
