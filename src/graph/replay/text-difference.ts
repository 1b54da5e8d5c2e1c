/** The part of two texts that differs, with some words around it. Pure. */

const [around, longest] = [60, 400]

/** Both parts; `…` stands for what is left out. */
export function textDifference(a: string, b: string): readonly [string, string] {
  const most = Math.min(a.length, b.length)
  let from = 0
  while (from < most && a[from] === b[from]) from++
  let back = 0
  while (back < most - from && a[a.length - 1 - back] === b[b.length - 1 - back]) back++
  return [partOf(a, from, a.length - back), partOf(b, from, b.length - back)]
}

/** The beginning of a text. */
export function shownText(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`
}

function partOf(text: string, from: number, to: number): string {
  const [begin, end] = [Math.max(0, from - around), Math.min(text.length, to + around)]
  const part = shownText(text.slice(begin, end))
  return `${begin > 0 ? '…' : ''}${part}${end < text.length && !part.endsWith('…') ? '…' : ''}`
}
