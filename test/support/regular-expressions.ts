/** Finds the regular expressions in source text, and hostile texts for each of them. */

/** A regular expression as it stands in a file. */
export interface FoundExpression {
  readonly source: string
  readonly flags: string
}

/**
 * After these, a slash begins a regular expression and is not a division. Behind a value, `!` says
 * that it is there.
 */
const before = /(?:^|[-(,=:[&|?{};+>]|(?<![\w)\]])!|\b(?:return|typeof|case|of|in))\s*$/

/** All literals, including those inside templates. Comments and texts are skipped. */
export function expressionsIn(text: string): FoundExpression[] {
  const found: FoundExpression[] = []
  /** Open braces in the `${}` of each template around the place. */
  const braces: number[] = []
  let at = 0
  let line = ''
  const skipTo = (end: number) => {
    line = (line + text.slice(at, end)).slice(-80)
    at = end
  }
  while (at < text.length) {
    const character = text[at]!
    const inner = braces.length - 1
    if (text.startsWith('//', at)) at = endOf(text, '\n', at)
    else if (text.startsWith('/*', at)) at = endOf(text, '*/', at + 2)
    else if (character === "'" || character === '"') skipTo(endOfText(text, at))
    else if (character === '`' || (character === '}' && braces[inner] === 0)) {
      if (character === '}') braces.pop()
      skipTo(endOfTemplate(text, at))
      if (text[at - 1] === '{') braces.push(0)
    } else if (character === '/' && before.test(line)) {
      const end = endOfExpression(text, at)
      const flags = /^[a-z]*/.exec(text.slice(end, end + 8))![0]
      found.push({ source: text.slice(at + 1, end - 1), flags })
      skipTo(end + flags.length)
    } else {
      if (inner >= 0) braces[inner]! += Number(character === '{') - Number(character === '}')
      skipTo(at + 1)
    }
  }
  return found
}

/** The place after the closing mark, or after the `${` that interrupts the template. */
function endOfTemplate(text: string, from: number): number {
  for (let end = from + 1; end < text.length; end++) {
    if (text[end] === '\\') end++
    else if (text[end] === '`') return end + 1
    else if (text.startsWith('${', end)) return end + 2
  }
  return text.length
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from)
  return end < 0 ? text.length : end + mark.length
}

function endOfText(text: string, from: number): number {
  let end = from + 1
  while (end < text.length && text[end] !== text[from] && text[end] !== '\n') {
    end += text[end] === '\\' ? 2 : 1
  }
  return end + 1
}

function endOfExpression(text: string, from: number): number {
  let inClass = false
  let end = from + 1
  for (; text[end] !== '/' || inClass; end++) {
    if (text[end] === '\n' || end >= text.length) {
      throw new Error(`no end: ${text.slice(from, end)}`)
    }
    if (text[end] === '[') inClass = true
    else if (text[end] === ']') inClass = false
    else if (text[end] === '\\') end++
  }
  return end + 1
}

/** One character of each class. A boundary only separates words. */
const ofClass: Readonly<Record<string, string>> = { d: '0', w: 'a', s: ' ', b: '|', S: 'x', D: 'x' }

/** What the expression looks for, word by word, and the characters of its classes. */
export function piecesOf(source: string): string[] {
  const ofCode = (_: string, code: string) => String.fromCharCode(parseInt(code, 16))
  const plain = source.replaceAll(/\{\d+,?\d*\}/g, '').replaceAll(/\\[pP]\{\w+\}/g, 'a')
    .replaceAll(/\\u([\dA-F]{4})/g, ofCode).replaceAll(/\\x([\da-f]{2})/g, ofCode)
  const literal = plain.replaceAll(/\\(.)/gs, (_, each: string) => ofClass[each] ?? each)
  const words = literal.split(/[()[\]{}|?*+^$]|\.[*+]/).filter((word) => word !== '')
  const marks = literal.replaceAll(/[\w\s]/g, '')
  const all = [...words.map((word) => word.slice(0, 12)), ...marks, 'a', '0', ' ', '.', '-', '\n']
  return [...new Set(all)]
}

/** Texts of about `length` characters that make an expression go back as often as it can. */
export function* hostileTexts(pieces: readonly string[], length: number): Generator<string> {
  const times = (text: string) => text.repeat(Math.ceil(length / text.length))
  for (const one of pieces) {
    yield `${times(one)}\u0000`
    for (const other of pieces) {
      if (other === one) continue
      yield `${times(one + other)}\u0000`
      yield `${one}${times(other)}\u0000`
    }
  }
}
