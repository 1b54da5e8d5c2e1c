/** The writes of the process that is killed while it writes traces. */

import { termOf } from '../../src/platform/index.ts'
import type { SpanPlace, SpansOfRequest } from '../../src/platform/index.ts'
import { aPost, placeOf, requestOf } from './span-histories.ts'

/** The places of the spans of a trace. */
export function crashPlaces(trace: number): readonly SpanPlace[] {
  return [0, 1, 2, 3, 4, 5].map((span) => placeOf('acme', { trace, span, project: 0 }))
}

/** All spans of a trace, with one block each. */
export function crashRequest(trace: number): SpansOfRequest {
  return requestOf('acme',
    crashPlaces(trace).map((place, index) =>
      aPost(place, { terms: [termOf.tag('a')], indexed: 1, block: BigInt(trace * 8 + index) })
    ))
}
