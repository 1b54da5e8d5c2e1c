/**
 * The text of a filter as a tree of calls and values, and such a tree as a text. Pure. A text that
 * is no filter gets a message that says what is wrong, and where.
 */

/** A value that is neither a call nor a list. */
export type Scalar = string | number | boolean | null

/** A part of a filter, such as `eq(name, "x")`. */
export type FilterNode =
  | { readonly kind: 'call'; readonly name: string; readonly values: readonly FilterNode[] }
  | { readonly kind: 'list'; readonly values: readonly FilterNode[] }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'scalar'; readonly value: Scalar }

/** A call of a filter. */
export type FilterCall = Extract<FilterNode, { kind: 'call' }>

/** A text that was read, or the message that says why it could not be. */
export type Read<Value> = { readonly value: Value } | { readonly error: string }

/** Bounds of the server: characters of a filter, and calls inside each other. */
const [lengthMax, depthMax] = [8_192, 32]

const constants: Readonly<Record<string, Scalar>> = { true: true, True: true, false: false,
  False: false, null: null, None: null }
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t',
  '"': '"', "'": "'", '\\': '\\', '/': '/' }

/** Reads a filter. */
export function readSyntax(text: string): Read<FilterNode> {
  if (text.length > lengthMax) return { error: `A filter has ${lengthMax} characters at most.` }
  const reader = new Reader(text)
  try {
    return { value: reader.whole() }
  } catch (error) {
    if (error instanceof Unreadable) return { error: error.message }
    throw error
  }
}

/** Writes a part, of which `readSyntax` makes the same again. */
export function writeSyntax(node: FilterNode): string {
  switch (node.kind) {
    case 'call':
      return `${node.name}(${node.values.map(writeSyntax).join(', ')})`
    case 'list':
      return `[${node.values.map(writeSyntax).join(', ')}]`
    case 'name':
      return node.name
    case 'scalar':
      return JSON.stringify(node.value)
  }
}

class Unreadable extends Error {}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): FilterNode {
    const node = this.#node(0)
    if (this.#at < this.#text.length) this.#fail('The filter should end')
    return node
  }

  #node(depth: number): FilterNode {
    this.#take(/\s*/y)
    const node = this.#bare(depth)
    this.#take(/\s*/y)
    return node
  }

  #bare(depth: number): FilterNode {
    const quote = this.#take(/["']/y)
    if (quote !== undefined) return { kind: 'scalar', value: this.#quoted(quote) }
    if (this.#take(/\[/y) !== undefined) return { kind: 'list', values: this.#values(']', depth) }
    const digits = this.#take(/-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y)
    if (digits !== undefined) return { kind: 'scalar', value: Number(digits) }
    const name = this.#take(/[A-Za-z_]\w*/y)
    if (name === undefined) this.#fail('A value is missing')
    if (this.#take(/\s*\(/y) !== undefined) {
      return { kind: 'call', name, values: this.#values(')', depth) }
    }
    return Object.hasOwn(constants, name)
      ? { kind: 'scalar', value: constants[name]! }
      : { kind: 'name', name }
  }

  /** Values behind an opening bracket, and the closing one. */
  #values(end: ')' | ']', depth: number): readonly FilterNode[] {
    if (depth >= depthMax) this.#fail(`A filter has ${depthMax} levels at most: it is too deep`)
    const values: FilterNode[] = []
    if (this.#take(end === ')' ? /\s*\)/y : /\s*\]/y) !== undefined) return values
    for (;;) {
      values.push(this.#node(depth + 1))
      const next = this.#take(/[,)\]]/y)
      if (next === end) return values
      if (next !== ',') this.#fail(`A comma or ${end} is missing`)
    }
  }

  #quoted(quote: string): string {
    const from = this.#at
    let value = ''
    for (;;) {
      value += this.#take(quote === '"' ? /[^"\\]*/y : /[^'\\]*/y) ?? ''
      const next = this.#take(/["'\\]/y)
      if (next === undefined) {
        this.#at = from - 1
        this.#fail('A text has no end')
      }
      if (next === quote) return value
      const code = this.#take(/u[\da-fA-F]{4}/y)
      const letter = code === undefined ? this.#take(/[bfnrt"'\\/]/y) : undefined
      if (code !== undefined) value += String.fromCharCode(Number.parseInt(code.slice(1), 16))
      else if (letter !== undefined) value += escapes[letter]!
      else this.#fail('A character behind \\ is not known')
    }
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    this.#at += found?.length ?? 0
    return found
  }

  #fail(what: string): never {
    throw new Unreadable(`${what} at character ${this.#at + 1}.`)
  }
}
