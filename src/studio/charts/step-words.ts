/** When a step of a chart begins, in the reader's words. */

/** Time as text in the language of the browser, such as "1 Nov 2026, 10:00". */
export const stepWords = (atMs: number): string =>
  new Date(atMs).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })
