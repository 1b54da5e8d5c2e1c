/** A look at the beginning of a file of examples: its columns and its first rows. Pure. */

/** First rows of a file, and its columns. */
export interface FileLook {
  readonly columns: readonly string[]
  /** The first rows, a text for each column. */
  readonly rows: readonly (readonly string[])[]
}

/** Rows that are looked at. */
const looked = 5

/** Reads the beginning of a file, CSV or a JSON object on each line. Throws words for people. */
export function lookAt(text: string, isWhole: boolean, isJsonLines: boolean): FileLook {
  return isJsonLines ? lookAtLines(text, isWhole) : lookAtCsv(text, isWhole)
}

function lookAtLines(text: string, isWhole: boolean): FileLook {
  const lines = text.split('\n')
  if (!isWhole) lines.pop()
  const objects = lines.map((line, at) => ({ line: line.trim(), at }))
    .filter(({ line }) => line !== '').slice(0, looked).map(({ line, at }) =>
      objectOf(line, at + 1)
    )
  if (objects.length === 0) throw new Error('The file has no line.')
  const columns = [...new Set(objects.flatMap((each) => Object.keys(each)))]
  return { columns, rows: objects.map((each) => columns.map((name) => words(each[name]))) }
}

function objectOf(line: string, number: number): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>
    }
  } catch {
    // Said below.
  }
  throw new Error(`Line ${number} is no JSON object.`)
}

function words(value: unknown): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}

function lookAtCsv(text: string, isWhole: boolean): FileLook {
  const [columns, ...rows] = csvRows(text, isWhole, looked + 1)
  if (columns === undefined) throw new Error('The file has no line.')
  return { columns, rows }
}

/** The first rows of a CSV: commas, and quotes that are doubled within quotes. */
function csvRows(text: string, isWhole: boolean, most: number): readonly (readonly string[])[] {
  const rows: string[][] = []
  const cell = /(?:"((?:[^"]|"")*)"|(?!")([^,\r\n]*))(,|\r?\n|$)/gy
  // Spreadsheets begin their files with a mark of the order of bytes.
  cell.lastIndex = text.startsWith('\u{feff}') ? 1 : 0
  let row: string[] = []
  while (rows.length < most && cell.lastIndex < text.length) {
    const found = cell.exec(text)
    // A row may end where the text was cut.
    if (found === null && !isWhole) break
    if (found === null) throw new Error(`Row ${rows.length + 1} has a quote that does not end.`)
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '')
    if (found[3] === ',' && cell.lastIndex < text.length) continue
    rows.push(row)
    row = []
  }
  return rows
}
