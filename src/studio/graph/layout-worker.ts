/** Places graphs beside the page, which goes on meanwhile. */

import type { Drawing } from './drawing.ts'
import { place } from './layout.ts'
import type { Direction } from './placed.ts'

/** A drawing to place, and the name of its answer. */
interface Asked {
  readonly key: string
  readonly drawing: Drawing
  readonly direction: Direction
}

self.addEventListener('message', ({ data: { key, drawing, direction } }: MessageEvent<Asked>) => {
  self.postMessage({ key, placed: place(drawing, direction) })
})
