/** A value of JSON as a tree. */

/** A tree of any value; `name` is what its root is called. */
export function JsonTree({ value, name }: {
  readonly value: unknown
  readonly name?: string
  /** Levels that are open at first; 1 by default. */
  readonly open?: number
  /** Rows that are seen without scrolling; all by default. */
  readonly height?: number
}) {
  return <pre aria-label={name}>{JSON.stringify(value, null, 2)}</pre>
}
