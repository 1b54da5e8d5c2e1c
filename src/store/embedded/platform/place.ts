/** Place of the spans of an embedded server. */

import type { SpanStorePlace } from '../../../platform/index.ts'
import type { EmbeddedSpansOptions } from './open.ts'

/** The place of the spans in a data directory, for the threads of the platform. */
export function embeddedSpans(options: EmbeddedSpansOptions): SpanStorePlace {
  return { module: new URL('./open.ts', import.meta.url).href, options }
}
