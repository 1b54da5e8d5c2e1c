/** Places graphs beside the page, which goes on meanwhile. */

import type { Drawing } from './drawing.ts'
import { place } from './layout.ts'

self.addEventListener('message', ({ data }: MessageEvent<{ hash: string; drawing: Drawing }>) => {
  self.postMessage({ hash: data.hash, placed: place(data.drawing) })
})
