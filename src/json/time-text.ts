/** Times as the API writes them. */

/** The time in ISO 8601 with an offset. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}+00:00`
}
