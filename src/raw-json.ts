/** JSON that is carried as text, so that it is not parsed on its way. */

/** A value that is kept as its JSON text. Only code that needs the value parses it. */
export class RawJson {
  readonly text: string

  /** `text` must be valid JSON. */
  constructor(text: string) {
    this.text = text
  }

  /** For code that does not know of raw values: right, but as slow as the text is long. */
  toJSON(): unknown {
    if (!counting) return JSON.parse(this.text)
    counted++
    return null
  }
}

let counting = false
let counted = 0

/** The JSON text of a value without raw ones; undefined if there is one. */
function plainText(value: unknown): string | undefined {
  counting = true
  counted = 0
  try {
    const text = JSON.stringify(value)
    return counted === 0 ? text : undefined
  } finally {
    counting = false
  }
}

/** Place of a raw value: the keys that lead to it, and its characters in the text. */
export type RawPlace = readonly [path: readonly (string | number)[], from: number, to: number]

/** A JSON text, and where its raw values are. */
export interface TextWithPlaces {
  readonly text: string
  readonly places: readonly RawPlace[]
}

/** Depth up to which raw values stand. What is deeper is plain. */
const depthMax = 8

/** As `JSON.stringify`, but raw values are joined as they are, without a copy. */
export function textOf(value: unknown): string {
  return textWithPlaces(value).text
}

/** The text of an object or a list, from which `valueOf` makes it again. */
export function textWithPlaces(value: unknown): TextWithPlaces {
  const plain = plainText(value)
  if (plain !== undefined) return { text: plain, places: [] }
  const places: RawPlace[] = []
  let text = ''
  const add = (each: unknown, path: readonly (string | number)[]) => {
    if (each instanceof RawJson) {
      places.push([path, text.length, text.length + each.text.length])
      text += each.text
    } else if (!holdsRaw(each)) {
      text += JSON.stringify(each) ?? 'null'
    } else if (Array.isArray(each)) {
      for (const [index, item] of each.entries()) {
        text += index === 0 ? '[' : ','
        add(item, [...path, index])
      }
      text += ']'
    } else if (isHolder(each)) {
      let mark = '{'
      for (const [name, member] of Object.entries(each)) {
        if (member === undefined) continue
        text += `${mark}${JSON.stringify(name)}:`
        mark = ','
        add(member, [...path, name])
      }
      text += '}'
    }
  }
  add(value, [])
  return { text, places }
}

/** The value of a text. Raw values at `places` stay raw. */
export function valueOf({ text, places }: TextWithPlaces): unknown {
  if (places.length === 0) return JSON.parse(text)
  let rest = ''
  let end = 0
  for (const [, from, to] of places) {
    rest += `${text.slice(end, from)}null`
    end = to
  }
  return withPieces(JSON.parse(rest + text.slice(end)),
    places.map(([path, from, to]) => ({ path, text: text.slice(from, to) })))
}

/** The value with raw ones put where their paths lead. */
export function withPieces(value: unknown, pieces: readonly {
  readonly path: readonly (string | number)[]
  readonly text: string
}[]): unknown {
  const root = { value }
  for (const { path, text } of pieces) put(root, path, new RawJson(text))
  return root.value
}

/** Puts a value where the path leads, which must exist. */
function put(root: { value: unknown }, path: readonly (string | number)[], value: unknown): void {
  let holder = root as unknown as Record<string | number, unknown>
  let name: string | number = 'value'
  for (const step of path) {
    holder = holder[name] as Record<string | number, unknown>
    name = step
  }
  // A client may use any name for a key, `__proto__` as well.
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true,
    writable: true })
}

function isHolder(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** True if a raw value is, or is in, this value. */
function holdsRaw(value: unknown, depth = 0): boolean {
  if (!isHolder(value)) return false
  if (value instanceof RawJson) return true
  if (depth === depthMax) return false
  if (Array.isArray(value)) return value.some((each) => holdsRaw(each, depth + 1))
  for (const name in value) {
    if (holdsRaw(value[name], depth + 1)) return true
  }
  return false
}
