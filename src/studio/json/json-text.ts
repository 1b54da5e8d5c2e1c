/** Texts that may be JSON. */

/** The value of a text of JSON; the text itself if it is none. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
