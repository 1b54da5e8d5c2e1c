/** Roll-ups as stores keep them. */

import { RollUp as RollUpBody } from '../../../../proto/gen/storage/v1/roll_up.ts'
import type { FeedbackTally as FeedbackBody, KindSum as KindBody,
  RollUpTally } from '../../../../proto/gen/storage/v1/roll_up.ts'
import { kindGroups } from '../../spans/token-kinds.ts'
import { bucketsIn, writeBuckets } from './bucket-bytes.ts'
import type { KeptDistribution } from './distribution.ts'
import type { FeedbackTallies, FeedbackTally } from './feedback-tally.ts'
import { addKind } from '../../spans/kind-sums.ts'
import type { KindSums } from '../../spans/kind-sums.ts'
import type { KeptRollUp, RollUp } from './roll-up.ts'
import { emptyTally, measureNames } from './tally.ts'
import type { KeptTally, Measure, Tally } from './tally.ts'

/**
 * Version of the bytes, which changes with the meaning of the numbers, such as the width of
 * buckets.
 */
const format = 1

/** The bytes of a roll-up. */
export function writeRollUp({ cells, rest }: RollUp): Uint8Array {
  return RollUpBody.encode({
    format,
    cells: [...cells].map(({ name, type, root, tally }) => ({ root, tally: tallyBody(tally),
      ...name !== null && { name }, ...type !== null && { type } })
    ),
    ...rest.count > 0 && { rest: tallyBody(rest) },
  }).finish()
}

/** The roll-up; undefined if another version of this program wrote it in its own way. */
export function readRollUp(bytes: Uint8Array): KeptRollUp | undefined {
  const body = RollUpBody.decode(bytes)
  if (body.format !== format) return undefined
  const cells = body.cells.map(({ name = null, type = null, root, tally }) => ({ name, type, root,
    tally: tallyOf(tally) })
  )
  return { cells, rest: tallyOf(body.rest) }
}

function tallyBody({ distributions, feedback, kinds, ...counts }: Tally): RollUpTally {
  return {
    ...counts,
    ...Object.fromEntries(
      [...distributions].map((
        [measure, { buckets, ...numbers }],
      ) => [measure, { ...numbers, buckets: writeBuckets(buckets) }]),
    ),
    feedback: [...feedback].map(([key, tally]) => feedbackBody(key, tally)),
    kinds: [...kinds].flatMap(([group, sums]) =>
      [...sums].map(([kind, sum]) => ({ group: kindGroups.indexOf(group), kind, sum }))
    ),
  }
}

function tallyOf(body: RollUpTally | undefined): KeptTally {
  if (body === undefined) return emptyTally()
  const { count, errors, pending, streamed, lastStartUs } = body
  const distributions = new Map<Measure, KeptDistribution>()
  for (const measure of measureNames) {
    const own = body[measure]
    if (own !== undefined) distributions.set(measure, { ...own, buckets: bucketsIn(own.buckets) })
  }
  return { count, errors, pending, streamed, lastStartUs, distributions,
    feedback: feedbackOf(body.feedback), kinds: kindsOf(body.kinds) }
}

function kindsOf(bodies: readonly KindBody[]): KindSums {
  const kinds: KindSums = new Map()
  for (const { group, kind, sum } of bodies) {
    const known = kindGroups[group]
    if (known !== undefined) addKind(kinds, known, kind, sum)
  }
  return kinds
}

function feedbackBody(key: string, { values, ...numbers }: FeedbackTally): FeedbackBody {
  return { key, ...numbers, values: [...values].map(([value, count]) => ({ value, count })) }
}

function feedbackOf(bodies: readonly FeedbackBody[]): FeedbackTallies {
  return new Map(bodies.map(({ key, count, scores, sum, squares, min, max, values }) => [key, {
    count,
    scores,
    sum,
    squares,
    min,
    max,
    values: new Map(values.map((each) => [each.value, each.count])),
  }]))
}
