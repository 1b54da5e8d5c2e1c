/** Types of fields, for graphs in other files. */

/** A type that contains itself. */
export interface Tree {
  name: string
  children: Tree[]
}

/** Another one. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** A card. */
export interface Card<Value> {
  /** What stands on it.
   * @minLength 3 */
  title: string
  value: Value
  marks?: number
  turn?: () => void
}
