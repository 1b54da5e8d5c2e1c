/** A file that a dataset is made of: its first rows, and the use of its columns. */

import { lookAt } from './file-look.ts'
import type { FileLook } from './file-look.ts'

/** Bytes of a file that are read for the look at its first rows. */
const lookedBytes = 256 * 1024

/** Role of a column of the file in each example. */
export type ColumnUse = 'input' | 'output' | 'none'

/** A file with the use of each of its columns. */
export interface ChosenFile {
  readonly file: File
  readonly isJsonLines: boolean
  readonly look: FileLook
  readonly uses: Readonly<Record<string, ColumnUse>>
}

/** Columns with these names hold what should come out. */
const outputNames = /^(outputs?|answers?|expected|reference|labels?|targets?)(_|$)/i

/** Reads the beginning of a file. Throws words for people. */
export async function chosenFile(file: File): Promise<ChosenFile> {
  const isJsonLines = /\.(jsonl|ndjson)$/i.test(file.name)
  const text = await file.slice(0, lookedBytes).text()
  const look = lookAt(text, file.size <= lookedBytes, isJsonLines)
  const uses = Object.fromEntries(
    look.columns.map((column) => [column, outputNames.test(column) ? 'output' : 'input'] as const),
  )
  return { file, isJsonLines, look, uses }
}

/** True if the lines have inputs already: people need not say what their columns are. */
export const isOfExamples = ({ isJsonLines, look }: ChosenFile): boolean =>
  isJsonLines && look.columns.includes('inputs')

/** The columns of a use. */
export const columnsOf = ({ look, uses }: ChosenFile, use: ColumnUse): string[] =>
  look.columns.filter((column) => uses[column] === use)
