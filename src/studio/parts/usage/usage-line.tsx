/** Duration, tokens, cost and models of a run or a thread, in one line. */

import { Link } from '@tanstack/react-router'

import type { UsageSum } from '../../api/platform/thread-usage.ts'
import { duration } from '../amounts.ts'
import { dollars } from '../trace-words.ts'
import css from './usage-line.module.css'
import { modelWords, sideWords, tokenWords } from './usage-words.ts'

/** The line; what is not known is left out, except for a cost that lacks a price. */
export function UsageLine({ usage, isPartial = false }: {
  readonly usage: UsageSum
  /** The oldest steps are not counted. */
  readonly isPartial?: boolean
}) {
  const { duration_ms: ms, calls } = usage
  const [tokens, models] = [tokenWords(usage), modelWords(usage)]
  return (
    <span className={css['usage']}>
      {ms !== null && <span className={css['time']} title="Duration">{duration(ms)}</span>}
      {tokens !== '' && (
        <span className={css['tokens']} title={sideWords(usage)}>
          {isPartial && 'at least '}
          {tokens}
        </span>
      )}
      {calls > 0 && <Cost usage={usage} />}
      {models !== '' && <span className={css['models']} title={models} dir="auto">{models}</span>}
    </span>
  )
}

/** The cost. A dash names the model that has no price, and leads to where it gets one. */
function Cost({ usage: { cost, unpriced_models: unpriced } }: { readonly usage: UsageSum }) {
  const [model] = unpriced
  return (
    <span className={css['cost']}>
      {cost !== null && <span title="Cost">{dollars(cost)}</span>}
      {model !== undefined && (
        <Link to="/prices" search={{ model }} title={`No price for ${unpriced.join(', ')}`}
          aria-label={`No price for ${model}: set one`}
        >
          {cost === null ? '–' : '+ –'}
        </Link>
      )}
    </span>
  )
}
