/** Answers questions about examples. It runs in the thread that reads. */

import type { Env } from '../../../../cluster/index.ts'
import type { DatasetVersion, VersionDiff } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { DocumentPort } from '../../spans/document-port.ts'
import type { Project } from '../../records/projects/project.ts'
import type { Uuid } from '../../spans/span.ts'
import { zonedTextUs } from '../../spans/time.ts'
import type { Dataset } from './dataset.ts'
import { datasetsWith, stampOf } from './example-place.ts'
import { lineIn, namesIn } from './example-lines.ts'
import { placeOf, versionOf } from './example-question.ts'
import type { ExampleMark, ExamplesQuestion, VersionQuestion } from './example-question.ts'
import { exampleSearch, rootOf, sliceBytes } from './example-search.ts'
import type { Rooted, RowsOfExamples } from './example-search.ts'
import { exampleJson } from './example-shape.ts'
import type { ShapeParts } from './example-shape.ts'
import { entriesFrom } from './example-tree.ts'
import type { ExampleEntry } from './example-tree.ts'
import { ExampleVersions } from './example-versions.ts'

/** Examples in a slice of an answer. */
const sliceExamples = 500
/** Columns of a file. */
const namesMax = 1_000
/** Examples whose splits or changes are looked at before others have their turn. */
const turnEntries = 1_000

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
  const rows = exampleSearch(versions, env)
  return {
    rows,
    examples: async (question) => {
      const parts: ShapeParts = { ...placeOf(question), shown: question.shown,
        links: question.links }
      const [texts, ids]: [string[], Uuid[]] = [[], []]
      let bytes = 0
      const limit = Math.min(question.limit, sliceExamples)
      for await (const { entry, row, next } of rows(question, limit, true)) {
        const { lines } = question
        texts.push(lines === undefined
          ? exampleJson(parts, entry, row!)
          : lineIn(lines, row!) ?? '')
        ids.push(entry.id)
        bytes += entry.bytes
        if (texts.length === limit || bytes >= sliceBytes) return { texts, ids, next }
      }
      return { texts, ids }
    },
    countExamples: async (question) => {
      let count = 0
      const all = { ...question, from: { at: 0, skip: 0 }, newestFirst: false }
      for await (const _ of rows(all, Infinity, false)) count++
      return count
    },
    datasetsOfExample: ({ tenant, id }) => datasetsWith(store, tenant, id),
    namesOfExamples: async (question) => {
      const [inputs, outputs] = [new Set<string>(), new Set<string>()]
      const all = { ...question, from: { at: 0, skip: 0 }, newestFirst: false }
      for await (const { row } of rows(all, Infinity, true)) {
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
      const version = await rootOf(versions, question)
      const splits = new Set<string>()
      await forGroups(versions, version, (entry) => {
        for (const split of entry.splits) splits.add(split)
      })
      return [...splits].sort()
    },
    versionDifference: async ({ from, to, ...question }) => {
      const [before, after] = await Promise.all(
        [from, to].map((asOf) => rootOf(versions, { ...question, asOf })),
      )
      return difference(versions, before!, after!)
    },
  }
}

/** A version as clients know it. */
export function versionName({ head, tags }: Dataset, version: string): DatasetVersion {
  const own = Object.keys(tags).filter((tag) => tags[tag] === version)
  return { as_of: zonedTextUs(stampOf(version)), tags: version === head ? ['latest', ...own] : own }
}

async function forGroups(versions: ExampleVersions, { place, root }: Rooted,
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

async function difference(versions: ExampleVersions, before: Rooted,
  after: Rooted): Promise<VersionDiff> {
  const old = new Map<Uuid, number>()
  await forGroups(versions, before, ({ id, modifiedUs }) => old.set(id, modifiedUs))
  const [added, modified]: [Uuid[], Uuid[]] = [[], []]
  await forGroups(versions, after, ({ id, modifiedUs }) => {
    const known = old.get(id)
    if (known === undefined) added.push(id)
    else if (known !== modifiedUs) modified.push(id)
    old.delete(id)
  })
  return { examples_added: added, examples_modified: modified, examples_removed: [...old.keys()] }
}
