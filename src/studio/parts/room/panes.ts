/** Widths of panes that somebody dragged. This browser remembers them. */

import type { CSSProperties } from 'react'

const storageKey = 'studio.panes'
const widths = new Map(Object.entries(readWidths()))

/** Widths of panes as variables of a style: `--pane-line` for `line`. None for usual widths. */
export function paneStyle(...panes: readonly string[]): CSSProperties {
  return Object.fromEntries(
    panes.flatMap((pane) => widths.has(pane) ? [[`--pane-${pane}`, `${widths.get(pane)}px`]] : []),
  )
}

/** The width of a pane in pixels; undefined for its usual one. */
export const widthOf = (pane: string): number | undefined => widths.get(pane)

/** Gives a pane a width, or its usual one, for the next visits also. */
export function keepWidth(pane: string, width: number | undefined): void {
  if (width === undefined) widths.delete(pane)
  else widths.set(pane, width)
  try {
    localStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(widths)))
  } catch {
    // Without storage it is kept as long as the page.
  }
}

/** Stored widths; those of another version, or of somebody else, are left out. */
function readWidths(): Record<string, number> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '{}')
    return Object.fromEntries(
      Object.entries(Object(stored)).filter((pair): pair is [string, number] =>
        typeof pair[1] === 'number' && pair[1] > 0 && pair[1] < 10_000
      ),
    )
  } catch {
    return {}
  }
}
