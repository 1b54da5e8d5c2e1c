/** Contents of messages in words. */

/** The words of the content of a message: a text, or parts of which some are texts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: unknown) => {
    if (typeof part === 'string') return part
    const { text } = (part ?? {}) as { text?: unknown }
    return typeof text === 'string' ? text : ''
  }).join('')
}
