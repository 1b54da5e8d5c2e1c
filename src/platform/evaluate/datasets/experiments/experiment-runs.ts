/** Examples with the runs that experiments made of them, side by side. */

import { HeddleError } from '../../../../errors.ts'
import type { RunsQuestion } from '../../../query/question.ts'
import type { Uuid } from '../../../spans/span.ts'
import type { ExampleMark } from '../example-question.ts'
import type { ExamplesSlice, ExperimentsQuestion } from '../example-reader.ts'
import type { ExampleRow } from '../example-row.ts'
import type { RowsOfExamples } from '../example-search.ts'
import { exampleJson } from '../example-shape.ts'
import type { ExampleEntry } from '../example-tree.ts'

/** Reads of what experiments did. */
export interface ExperimentReads {
  /** Examples with the runs of experiments. */
  experimentRuns(question: ExperimentsQuestion): Promise<ExamplesSlice>
}

/** Runs of one page, and of one question for them. */
const [runsMax, runsTogether] = [2_000, 200]
/** Bytes of the runs of one page: they are in memory together. */
const bytesMax = 64 * 1024 * 1024

interface Run {
  readonly reference_example_id?: Uuid | null
}

/** A page of examples, each with its runs. `answer` is a page of runs as JSON. */
export async function experimentRuns(rows: RowsOfExamples,
  answer: (question: RunsQuestion) => Promise<Uint8Array>,
  question: ExperimentsQuestion): Promise<ExamplesSlice> {
  const { tenant, dataset, projects, version, select, shown, links, limit } = question
  const found: { readonly entry: ExampleEntry; readonly row: ExampleRow }[] = []
  let next: ExampleMark | undefined
  for await (const each of rows(question, limit, true)) {
    found.push({ entry: each.entry, row: each.row! })
    if (found.length === limit) next = each.next
  }
  const examples = found.map(({ entry }) => entry.id)
  const byExample = new Map<Uuid, Run[]>()
  let cursor: string | undefined
  let bytes = 0
  for (let count = 0; count < runsMax && examples.length > 0 && projects.length > 0;) {
    const json = await answer({ tenant, projects, examples, rootsOnly: true, order: 'newest',
      limit: runsTogether, version, ...select && { select: [...select, 'reference_example_id'] },
      ...cursor !== undefined && { cursor } })
    bytes += json.byteLength
    if (bytes > bytesMax) {
      throw new HeddleError('too_large', 'The runs of these examples are longer than 64 MiB: ask ' +
        'for fewer examples or experiments at once.')
    }
    const page = pageIn(json)
    for (const run of page.runs) {
      const id = run.reference_example_id ?? ''
      byExample.set(id, [...byExample.get(id) ?? [], run])
    }
    count += page.runs.length
    if (page.cursor === null) break
    cursor = page.cursor
  }
  const parts = { tenant, dataset: dataset.id, shown, links }
  const texts = found.map(({ entry, row }) =>
    exampleJson(parts, entry, row, `,"runs":${JSON.stringify(byExample.get(entry.id) ?? [])}`)
  )
  return { texts, ids: examples, next }
}

function pageIn(json: Uint8Array): { readonly runs: readonly Run[]; readonly cursor:
  | string
  | null } {
  const { runs, items, cursors, next_cursor: next } = JSON.parse(Buffer.from(json).toString()) as {
    readonly runs?: readonly Run[]
    readonly items?: readonly Run[]
    readonly cursors?: { readonly next: string | null }
    readonly next_cursor?: string | null
  }
  return { runs: runs ?? items ?? [], cursor: cursors?.next ?? next ?? null }
}
