/** Cursors of lists: where the next page begins, as a text that clients only pass on. */

/** The text of a place. */
export function cursorText(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** The parts of a place; none for a text that is no cursor. They are what a client sent. */
export function cursorParts(text: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
