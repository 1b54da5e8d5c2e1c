/** Answers questions about examples. It runs in the thread that reads. */

import type { Env } from '../../../../cluster/index.ts'
import type { DatasetVersion, VersionDiff } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { DocumentPort } from '../../spans/document-port.ts'
import type { LinkKey } from '../../records/downloads/download-link.ts'
import type { Project } from '../../records/projects/project.ts'
import type { Uuid } from '../../spans/span.ts'
import { readTimeUs, zonedTextUs } from '../../spans/time.ts'
import type { Dataset } from './dataset.ts'
import { readExampleFilter } from './example-filter.ts'
import type { ExampleFilter, ReadExampleFilter } from './example-filter.ts'
import { datasetsWith, stampOf } from './example-place.ts'
import type { DatasetPlace } from './example-place.ts'
import type { ExampleRow } from './example-row.ts'
import { lineIn, namesIn } from './example-lines.ts'
import type { LineForm } from './example-lines.ts'
import { exampleJson } from './example-shape.ts'
import type { ShapeParts, ShownMembers } from './example-shape.ts'
import { entriesFrom, entryAt } from './example-tree.ts'
import type { ExampleEntry, TreeRoot } from './example-tree.ts'
import { ExampleVersions } from './example-versions.ts'

/** Bytes of rows in a slice of an answer, and examples. */
const slice = { bytes: 1024 * 1024, examples: 500 } as const
/** Columns of a file. */
const namesMax = 1_000
/** Milliseconds for a slice, which may have to look through many examples. */
const sliceMs = 10_000
/** Milliseconds after which others have their turn. */
const turnMs = 50
/** Examples whose splits or changes are looked at before others have their turn. */
const turnEntries = 1_000

/** Start of a slice: behind `at` examples of the version, and `skip` that are wanted. */
export interface ExampleMark {
  readonly at: number
  readonly skip: number
}

/** A version of a dataset, by its time or its tag; the newest one by default. */
export interface VersionQuestion {
  readonly tenant: string
  readonly dataset: Dataset
  readonly asOf?: string
}

/** Selects the examples to read, the slice of them, and the members to show. */
export interface ExamplesQuestion extends VersionQuestion, ExampleFilter {
  readonly ids?: readonly Uuid[]
  readonly from: ExampleMark
  readonly limit: number
  readonly newestFirst: boolean
  readonly shown: ShownMembers
  readonly links: LinkKey
  /** Texts are lines of a file; by default they are JSON. */
  readonly lines?: LineForm
}

/** Selects the examples to show, and the projects of the experiments beside them. */
export interface ExperimentsQuestion extends ExamplesQuestion {
  readonly projects: readonly Project[]
  readonly version: 1 | 2
  /** Members of runs; undefined for all. */
  readonly select?: readonly string[]
}

/** A slice of an answer. */
export interface ExamplesSlice {
  readonly texts: readonly string[]
  readonly ids: readonly Uuid[]
  /** Undefined if there are no more. */
  readonly next?: ExampleMark | undefined
}

/** Reads of examples in the query thread. All throw `not_found` for unknown versions. */
export interface ExampleReads {
  examples(question: ExamplesQuestion): Promise<ExamplesSlice>
  countExamples(
    question: Omit<ExamplesQuestion, 'from' | 'limit' | 'shown' | 'links' | 'newestFirst'>,
  ): Promise<number>
  /** The datasets that have, or had, an example. */
  datasetsOfExample(
    question: { readonly tenant: string; readonly id: Uuid },
  ): Promise<readonly Uuid[]>
  /** The names of all inputs and outputs: the columns of a file. */
  namesOfExamples(
    question: VersionQuestion,
  ): Promise<{ readonly inputs: readonly string[]; readonly outputs: readonly string[] }>
  /** The version, if there is one. */
  datasetVersion(question: VersionQuestion): Promise<string | null>
  datasetVersions(
    question: VersionQuestion & { readonly limit: number; readonly offset: number },
  ): Promise<readonly DatasetVersion[]>
  splitsOf(question: VersionQuestion): Promise<readonly string[]>
  versionDifference(
    question: { readonly tenant: string; readonly dataset: Dataset; readonly from: string;
      readonly to: string },
  ): Promise<VersionDiff>
}

/** The answers over the documents of a store. */
export function exampleReads(store: DocumentPort, env: Pick<Env, 'monotonicMs'>): ExampleReads & {
  readonly rows: RowsOfExamples
} {
  const versions = new ExampleVersions(store)
  const rooted = async (question: VersionQuestion) => {
    const place = placeOf(question)
    const version = await versionOf(versions, question)
    return { place, root: await versions.root(place, version) }
  }
  /** The wanted examples with their rows, and where the next ones begin. */
  async function* found(question:
    & Pick<ExamplesQuestion, 'ids' | 'from' | 'newestFirst'>
    & VersionQuestion
    & ExampleFilter, limit: number, needsRows: boolean): Found {
    const filter = readExampleFilter(question)
    const { place, root } = await rooted(question)
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
  return {
    rows: found,
    examples: async (question) => {
      const parts: ShapeParts = { ...placeOf(question), shown: question.shown,
        links: question.links }
      const [texts, ids]: [string[], Uuid[]] = [[], []]
      let bytes = 0
      const limit = Math.min(question.limit, slice.examples)
      for await (const { entry, row, next } of found(question, limit, true)) {
        const { lines } = question
        texts.push(lines === undefined
          ? exampleJson(parts, entry, row!)
          : lineIn(lines, row!) ?? '')
        ids.push(entry.id)
        bytes += entry.bytes
        if (texts.length === limit || bytes >= slice.bytes) return { texts, ids, next }
      }
      return { texts, ids }
    },
    countExamples: async (question) => {
      let count = 0
      const all = { ...question, from: { at: 0, skip: 0 }, newestFirst: false }
      for await (const _ of found(all, Infinity, false)) count++
      return count
    },
    datasetsOfExample: ({ tenant, id }) => datasetsWith(store, tenant, id),
    namesOfExamples: async (question) => {
      const [inputs, outputs] = [new Set<string>(), new Set<string>()]
      const all = { ...question, from: { at: 0, skip: 0 }, newestFirst: false }
      for await (const { row } of found(all, Infinity, true)) {
        const names = namesIn(row!)
        for (const name of names.inputs) inputs.add(name)
        for (const name of names.outputs) outputs.add(name)
        if (inputs.size + outputs.size > namesMax) {
          throw new HeddleError('invalid', `A file may have ${namesMax} columns.`)
        }
      }
      return { inputs: [...inputs], outputs: [...outputs] }
    },
    datasetVersion: (question) => versionOf(versions, question),
    datasetVersions: async (question) => {
      const { dataset, limit, offset } = question
      const all = await versions.published(placeOf(question), dataset.head, {
        limit: offset + limit,
      })
      return all.slice(offset).map((version) => versionName(dataset, version))
    },
    splitsOf: async (question) => {
      const { place, root } = await rooted(question)
      const splits = new Set<string>()
      await forGroups(versions, place, root, (entry) => {
        for (const split of entry.splits) splits.add(split)
      })
      return [...splits].sort()
    },
    versionDifference: async ({ from, to, ...question }) => {
      const [before, after] = await Promise.all(
        [from, to].map((asOf) => rooted({ ...question, asOf })),
      )
      return difference(versions, before!, after!)
    },
  }
}

type Found = AsyncGenerator<
  { readonly entry: ExampleEntry; readonly row: ExampleRow | undefined;
    readonly next: ExampleMark },
  void,
  void
>

/** Wanted examples with their rows, for others in the same thread. */
export type RowsOfExamples = (question:
  & Pick<ExamplesQuestion, 'ids' | 'from' | 'newestFirst'>
  & VersionQuestion
  & ExampleFilter, limit: number, needsRows: boolean) => Found

/** The version that a question is about; null if that is before the first example. */
async function versionOf(versions: ExampleVersions,
  question: VersionQuestion): Promise<string | null> {
  const { dataset: { head, tags }, asOf } = question
  if (asOf === undefined || asOf === 'latest') return head
  if (Object.hasOwn(tags, asOf)) return tags[asOf]!
  const us = readTimeUs(asOf)
  if (us !== undefined) return await versions.versionAt(placeOf(question), head, us)
  throw new HeddleError('not_found', `Dataset version ${JSON.stringify(asOf)} not found.`)
}

/** A version as clients know it. */
export function versionName({ head, tags }: Dataset, version: string): DatasetVersion {
  const own = Object.keys(tags).filter((tag) => tags[tag] === version)
  return { as_of: zonedTextUs(stampOf(version)), tags: version === head ? ['latest', ...own] : own }
}

function placeOf({ tenant, dataset }: VersionQuestion): DatasetPlace {
  return { tenant, dataset: dataset.id }
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
      while (end < entries.length && (end === index || bytes < slice.bytes)) {
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

async function forGroups(versions: ExampleVersions, place: DatasetPlace, root: TreeRoot,
  visit: (entry: ExampleEntry) => void): Promise<void> {
  let entries = 0
  for await (const group of entriesFrom(versions.nodes(place), root, 0)) {
    for (const entry of group) visit(entry)
    entries += group.length
    if (entries < turnEntries) continue
    entries = 0
    await new Promise((turn) => setImmediate(turn))
  }
}

function tooMany(): HeddleError {
  return new HeddleError('invalid', 'There are too many examples to look through: ask for fewer.')
}

interface Rooted {
  readonly place: DatasetPlace
  readonly root: TreeRoot
}

async function difference(versions: ExampleVersions, before: Rooted,
  after: Rooted): Promise<VersionDiff> {
  const old = new Map<Uuid, number>()
  await forGroups(versions, before.place, before.root,
    ({ id, modifiedUs }) => old.set(id, modifiedUs))
  const [added, modified]: [Uuid[], Uuid[]] = [[], []]
  await forGroups(versions, after.place, after.root, ({ id, modifiedUs }) => {
    const known = old.get(id)
    if (known === undefined) added.push(id)
    else if (known !== modifiedUs) modified.push(id)
    old.delete(id)
  })
  return { examples_added: added, examples_modified: modified, examples_removed: [...old.keys()] }
}
