/** The usage of a call of a model that a message of a thread tells of. Pure. */

import type { LeanMessage } from '../../json/index.ts'
import { noUsage, usageOf, withSums } from './usage.ts'
import type { Usage } from './usage.ts'

/** Usage with its costs by the prices of a workspace, at a time in microseconds since 1970. */
export type PriceModel = (names: Pick<LeanMessage, 'model' | 'provider'>, usage: Usage,
  atUs: number) => Usage

/** The usage that a message says, with the sums of the costs that it says. */
export function modelUsage(metadata: unknown): Usage {
  return withSums(usageOf(metadata) ?? noUsage)
}
