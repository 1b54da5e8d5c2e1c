/** Positions in a text that contain secrets, and what replaces them. Pure. */

/** Start and end of a part of a text. */
export type TextSpan = readonly [from: number, to: number]

/** Finds the parts of a text that are secret. They may overlap. */
export type FindSecrets = (text: string) => readonly TextSpan[]

/** Returns the text with each span replaced. Overlapping spans are replaced together. */
export function replaceSpans(text: string, spans: readonly TextSpan[],
  replacement: (secret: string) => string): string {
  if (spans.length === 0) return text
  let [shown, at] = ['', 0]
  for (const [from, to] of mergeSpans(spans)) {
    shown += text.slice(at, from) + replacement(text.slice(from, to))
    at = to
  }
  return shown + text.slice(at)
}

function mergeSpans(spans: readonly TextSpan[]): readonly TextSpan[] {
  const merged: [number, number][] = []
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last !== undefined && from < last[1]) last[1] = Math.max(last[1], to)
    else merged.push([from, to])
  }
  return merged
}
