/** Columns of the list of traces: which are shown, and how wide. Pure. */

/** A column: a field of rows, an entry of the metadata or the feedback of a key. */
export interface Column {
  readonly kind: 'field' | 'metadata' | 'feedback'
  readonly name: string
  /** Pixels that somebody dragged it to; its usual width without it. */
  readonly width?: number
}

/** Fields of rows that may be columns, from left to right, with their usual widths. */
export const fieldColumns: readonly { readonly name: string; readonly words: string;
  readonly width: number }[] = [
    { name: 'type', words: 'Type', width: 76 },
    { name: 'thread', words: 'Thread', width: 120 },
    { name: 'tags', words: 'Tags', width: 140 },
    { name: 'feedback', words: 'Feedback', width: 120 },
    { name: 'tokens', words: 'Tokens', width: 60 },
    { name: 'cost', words: 'Cost', width: 68 },
    { name: 'latency', words: 'Duration', width: 64 },
    { name: 'ended', words: 'Ended', width: 84 },
    { name: 'started', words: 'Started', width: 84 },
  ]

/** Bounds of the width of a column in pixels, and the usual one of a key. */
export const [widthMin, widthMax, keyWidth] = [44, 600, 120]
/** Least width of the input and output. */
const textsMin = 200
/** Columns that a list may have. */
export const columnsMax = 20
/** Characters of a key. */
const keyMax = 100

/** Columns of somebody who has chosen none. */
export const usualColumns: readonly Column[] = ['tags', 'tokens', 'latency', 'started']
  .map((name) => ({ kind: 'field', name }))

/** The words of the head of a column. */
export const columnWords = ({ kind, name }: Column): string =>
  kind === 'field' ? fieldColumns.find((each) => each.name === name)?.words ?? name : name

/** The width of a column in pixels. */
export const columnWidth = ({ kind, name, width }: Column): number =>
  width ??
    (kind === 'field' ? fieldColumns.find((each) => each.name === name)?.width : undefined) ??
    keyWidth

/** An id that no other column has. */
export const columnId = ({ kind, name }: Column): string => `${kind}.${name}`

/** Columns from an address or a saved view: `tags,tokens:80,metadata.plan:140`. */
export function readColumns(text: string | undefined): readonly Column[] | undefined {
  if (text === undefined) return undefined
  const seen = new Set<string>()
  const columns = text.split(',').slice(0, columnsMax).flatMap((each) => {
    const column = readColumn(each)
    if (column === undefined || seen.has(columnId(column))) return []
    seen.add(columnId(column))
    return [column]
  })
  return columns.length === 0 && text !== none ? undefined : inOrder(columns)
}

/** The text of columns, of which `readColumns` makes the same again. */
export const writeColumns = (columns: readonly Column[]): string =>
  columns.length === 0 ? none : columns.map(writeColumn).join(',')

/** A list without any of these columns. */
const none = 'none'

/** The columns with one more, or without it. */
export function toggledColumn(columns: readonly Column[], column: Column): readonly Column[] {
  const id = columnId(column)
  const others = columns.filter((each) => columnId(each) !== id)
  return others.length < columns.length || columns.length >= columnsMax
    ? others
    : inOrder([...columns, column])
}

/** The columns with another width of one, within the bounds; undefined is the usual one. */
export const withWidth = (columns: readonly Column[], id: string,
  width: number | undefined): readonly Column[] =>
  columns.map((column) => {
    if (columnId(column) !== id) return column
    const { width: _, ...usual } = column
    return width === undefined ? usual : { ...usual, width: bounded(width) }
  })

/** Tracks of a grid: a box, the status and the texts stand before the columns. */
export function columnTracks(columns: readonly Column[]): string {
  const own = columns.map((column) => `${columnWidth(column)}px`).join(' ')
  return `24px 14px minmax(${textsMin}px, 1fr) ${own}`.trim()
}

/** Pixels below which the list is scrolled sideways: its columns, gaps and margins. */
export const leastWidth = (columns: readonly Column[]): number =>
  columns.reduce((sum, column) => sum + columnWidth(column) + 12, 24 + 14 + textsMin + 24 + 40)

/** True if two lists have the same columns of the same widths. */
export const isSame = (one: readonly Column[], other: readonly Column[]): boolean =>
  writeColumns(one) === writeColumns(other)

const bounded = (width: number) => Math.round(Math.max(widthMin, Math.min(widthMax, width)))

/** Fields have a place of their own; keys stand between those of texts and those of numbers. */
function inOrder(columns: readonly Column[]): readonly Column[] {
  const place = ({ kind, name }: Column) =>
    kind === 'field' ? fieldColumns.findIndex((each) => each.name === name) : keyPlace
  return columns.toSorted((a, b) => place(a) - place(b))
}

const keyPlace = fieldColumns.findIndex(({ name }) => name === 'feedback') + 0.5

function readColumn(text: string): Column | undefined {
  const [, raw = '', digits] = /^(.*?)(?::(\d{1,5}))?$/su.exec(text) ?? []
  const width = digits === undefined ? {} : { width: bounded(Number(digits)) }
  if (fieldColumns.some(({ name }) => name === raw)) return { kind: 'field', name: raw, ...width }
  const [, kind, encoded = ''] = /^(metadata|feedback)\.(.+)$/su.exec(raw) ?? []
  const name = decoded(encoded)
  return kind === undefined || name === undefined || name.length > keyMax
    ? undefined
    : { kind: kind as 'metadata' | 'feedback', name, ...width }
}

const writeColumn = ({ kind, name, width }: Column) =>
  `${kind === 'field' ? name : `${kind}.${encodeURIComponent(name)}`}${
    width === undefined ? '' : `:${width}`
  }`

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
