/**
 * Takes a secret out of what an endpoint says, also if it comes in pieces. It takes as long as what
 * is said, whatever the secret: both come from the same tenant, and this holds up all others.
 */

const mark = '***'
/** Shorter ones are words, such as `none`, that a local endpoint takes for a key. */
const charactersMin = 8

/** A text, or pieces of one, without the secret. */
export class Redaction {
  readonly #secret: string
  /** For each beginning of the secret, the length of the longest shorter one that it ends with. */
  readonly #shorter: Int32Array
  /** Characters of the secret that the pieces so far end with: they are held back. */
  #held = 0

  /** Nothing is taken out without a secret, or for one that keeps none. */
  constructor(secret: string | null) {
    this.#secret = secret !== null && secret.length >= charactersMin ? secret : ''
    this.#shorter = shorterOf(this.#secret)
  }

  /** The text without the secret. */
  text(text: string): string {
    const [out, held] = this.#through(text, 0)
    return out + this.#secret.slice(0, held)
  }

  /** Returns the text to pass on after this piece; a possible part of the secret is held back. */
  piece(piece: string): string {
    const [out, held] = this.#through(piece, this.#held)
    this.#held = held
    return out
  }

  /** Returns the text that was held back, once no more pieces come. */
  rest(): string {
    const rest = this.#secret.slice(0, this.#held)
    this.#held = 0
    return rest
  }

  /** Text that is surely no part of the secret, and the length of the secret's part after it. */
  #through(text: string, before: number): readonly [out: string, held: number] {
    const secret = this.#secret
    if (secret === '') return [text, 0]
    let [out, held] = ['', before]
    for (let at = 0; at < text.length; at++) {
      if (held === 0) {
        const next = text.indexOf(secret[0]!, at)
        if (next === -1) return [out + text.slice(at), 0]
        out += text.slice(at, next)
        at = next
      }
      while (held > 0 && text[at] !== secret[held]) {
        const shorter = this.#shorter[held]!
        out += secret.slice(0, held - shorter)
        held = shorter
      }
      if (text[at] === secret[held]) held++
      else out += text[at]!
      if (held < secret.length) continue
      out += mark
      held = 0
    }
    return [out, held]
  }
}

/** As Knuth, Morris and Pratt have it. */
function shorterOf(secret: string): Int32Array {
  const shorter = new Int32Array(secret.length + 1)
  let held = 0
  for (let at = 1; at < secret.length; at++) {
    while (held > 0 && secret[at] !== secret[held]) held = shorter[held]!
    if (secret[at] === secret[held]) held++
    shorter[at + 1] = held
  }
  return shorter
}
