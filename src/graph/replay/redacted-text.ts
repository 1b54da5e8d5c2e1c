/** Compares a text that was made of redacted responses with a text made of real responses. */

/** Stars that replace a secret. Fewer are marks of a text. */
const stars = /\*{3,}/

/**
 * Returns true if the texts are equal, where stars of the redacted one match any characters. Takes
 * the first place where each part between stars fits, so that its time is linear in the text.
 */
export function fitsRedacted(redacted: string, text: string): boolean {
  if (redacted === text) return true
  const [first = '', ...rest] = redacted.split(stars)
  const last = rest.pop()
  if (last === undefined || !text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
