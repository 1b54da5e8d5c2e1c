/** Filters of traces in words: `weather status:error latency>2s tag:web customer:c-1`. Pure. */

/** Operator that compares a number. */
export type Comparison = '>' | '>=' | '<' | '<='

/** One condition. All of a filter must hold. */
export type FilterPart =
  /** A word that is in a text of the run. */
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'field'; readonly field: TextField; readonly value: string }
  | { readonly kind: 'number'; readonly field: NumberField; readonly comparison: Comparison;
    readonly value: number }
  | { readonly kind: 'tag'; readonly value: string }
  /** An entry of the metadata. */
  | { readonly kind: 'metadata'; readonly key: string; readonly value: string }
  /** Feedback of a key, of any score without a comparison. */
  | { readonly kind: 'feedback'; readonly key: string; readonly score?: FeedbackScore }

/** Bound of a score, and the operator that compares it. */
export interface FeedbackScore {
  readonly comparison: Comparison
  readonly value: number
}

/** Fields that equal a text. */
export type TextField = 'status' | 'name' | 'type' | 'thread'
/** Fields that are compared. Latency is in seconds. */
export type NumberField = 'latency' | 'tokens'

const textFields: readonly string[] = ['status', 'name', 'type', 'thread'] satisfies TextField[]
const number = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/
const unitsS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600 }

/** Reads words. Whatever they are, they are a filter. */
export function readWords(text: string): readonly FilterPart[] {
  return tokensOf(text).map(partOf)
}

/** Writes a filter in words, of which `readWords` makes the same again. */
export function writeWords(parts: readonly FilterPart[]): string {
  return parts.map(wordsOf).join(' ')
}

interface Token {
  /** Up to the first of `:`, `<` and `>` that is in no quotes; undefined without one. */
  readonly key: string | undefined
  readonly operator: string
  readonly value: string
}

/** A text in quotes may hold anything; a quote in it has a backslash. */
const tokenPattern = /(?:"(?:[^"\\]|\\.)*"?|[^\s"])+/gu
const keyed = /^((?:"(?:[^"\\]|\\.)*"|[^\s":<>])+)(:|[<>]=?)(.+)$/su

function tokensOf(text: string): readonly Token[] {
  return (text.match(tokenPattern) ?? []).map((token) => {
    const [, key, operator = '', value] = keyed.exec(token) ?? []
    return key === undefined || value === undefined
      ? { key: undefined, operator: '', value: unquoted(token) }
      : { key: unquoted(key), operator, value: operator === ':' ? value : unquoted(value) }
  })
}

function partOf({ key, operator, value }: Token): FilterPart {
  if (key === undefined) return { kind: 'word', text: value }
  if (operator !== ':') return numberPart(key, operator as Comparison, value)
  const plain = unquoted(value)
  if (key === 'tag') return { kind: 'tag', value: plain }
  if (key === 'feedback') return feedbackPart(value)
  if (key.startsWith('meta.')) return { kind: 'metadata', key: key.slice(5), value: plain }
  return textFields.includes(key)
    ? { kind: 'field', field: key as TextField, value: plain }
    : { kind: 'metadata', key, value: plain }
}

function numberPart(key: string, comparison: Comparison, value: string): FilterPart {
  const [, digits, unit] = number.exec(value) ?? []
  if (digits !== undefined && key === 'latency') {
    return { kind: 'number', field: 'latency', comparison,
      value: rounded(Number(digits) * unitsS[unit ?? 's']!) }
  }
  if (digits !== undefined && unit === undefined && key === 'tokens') {
    return { kind: 'number', field: 'tokens', comparison, value: Number(digits) }
  }
  return { kind: 'word', text: `${key}${comparison}${value}` }
}

/** Microseconds are what the server compares. */
const rounded = (seconds: number) => Number(seconds.toFixed(6))

function feedbackPart(value: string): FilterPart {
  const [, key, comparison, score] =
    /^((?:"(?:[^"\\]|\\.)*"|[^"<>])+)([<>]=?)(-?\d+(?:\.\d+)?)$/su.exec(value) ?? []
  return key === undefined
    ? { kind: 'feedback', key: unquoted(value) }
    : { kind: 'feedback', key: unquoted(key),
      score: { comparison: comparison as Comparison, value: Number(score) } }
}

function wordsOf(part: FilterPart): string {
  switch (part.kind) {
    case 'word':
      return quoted(part.text)
    case 'field':
      return `${part.field}:${quoted(part.value)}`
    case 'number':
      return `${part.field}${part.comparison}${decimal(part.value)}${
        part.field === 'latency' ? 's' : ''
      }`
    case 'tag':
      return `tag:${quoted(part.value)}`
    case 'metadata':
      return isPlainKey(part.key)
        ? `${quoted(part.key)}:${quoted(part.value)}`
        : `${quoted(`meta.${part.key}`)}:${quoted(part.value)}`
    case 'feedback':
      return `feedback:${quoted(part.key)}${
        part.score === undefined ? '' : part.score.comparison + decimal(part.score.value)
      }`
  }
}

/** Keys that would be read as something else get `meta.` in front. */
const isPlainKey = (key: string) =>
  !textFields.includes(key) && !['tag', 'feedback'].includes(key) && !key.startsWith('meta.')

/** Without an exponent, which the words do not have. */
export const decimal = (value: number): string => String(Number(value.toFixed(6)))

const quoted = (text: string) =>
  text === '' || /[\s"\\:<>()]/u.test(text)
    ? `"${text.replaceAll(/["\\]/g, '\\$&')}"`
    : text

const unquoted = (text: string) =>
  text.replaceAll(/"((?:[^"\\]|\\.)*)"?/gsu, (_, inner: string) =>
    inner.replaceAll(/\\(.)/gsu, '$1'))
