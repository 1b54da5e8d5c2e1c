/** Values of headers that no header can have as they are: clients encode them. */

const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/

/** The value that a header stands for; undefined if it cannot be read. */
export function decodedHeader(text: string): string | undefined {
  const [, base64] = encoded.exec(text) ?? []
  if (base64 === undefined) return text
  const bytes = Buffer.from(base64, 'base64')
  const value = bytes.toString('utf8')
  return Buffer.from(value, 'utf8').equals(bytes) ? value : undefined
}
