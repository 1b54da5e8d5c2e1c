/** Text of statements that insert a row. */

/** An INSERT of these columns of a table, in their order. */
export function insertInto(table: string, names: readonly string[]): string {
  const marks = names.map(() => '?').join(', ')
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`
}
