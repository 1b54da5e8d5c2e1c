/** Words of whatever was thrown. */

/** Message of an error, or the text of any other thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
