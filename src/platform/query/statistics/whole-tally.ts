/** Tallies all spans of a question as one group. */

import type { SpanHead } from '../../spans/span.ts'
import type { Counter } from './count.ts'
import type { CellKey } from './roll-up.ts'
import { addHead, addTally, emptyTally } from './tally.ts'
import type { KeptTally } from './tally.ts'

/** Counter that puts all spans into one tally. */
export class WholeTally implements Counter {
  readonly tally = emptyTally()

  cell(_startUs: number, _key: CellKey | undefined, tally: KeptTally): void {
    addTally(this.tally, tally)
  }

  heads(heads: readonly SpanHead[]): void {
    for (const head of heads) addHead(this.tally, head)
  }
}
