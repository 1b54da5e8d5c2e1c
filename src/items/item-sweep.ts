/** Removes items that have ended for good, a few at a time. Each owner sweeps its own. */

import { limitConcurrency, throttleLog } from '../../cluster/index.ts'
import type { Env, Router } from '../../cluster/index.ts'
import { cautiousClock } from '../limits/index.ts'
import type { CautiousClock } from '../limits/index.ts'
import type { ItemIndex } from '../search/index.ts'
import { itemKindName } from './item-actor.ts'
import type { ItemCommand } from './item-actor.ts'

/** Parts of a member that its sweep uses. */
export interface SweepParts {
  readonly env: Env
  readonly index: Pick<ItemIndex, 'ended'>
  readonly router: Pick<Router, 'ask'>
  /** Time between two sweeps; 5 minutes by default. */
  readonly everyMs?: number | undefined
}

const defaultMs = 5 * 60_000
/** Time that what has ended stays, so that a repeated command is recognised. */
const keptMs = 10 * 60_000
/** Items that are found at a time, and removed at a time: few, because no caller waits. */
const [pageSize, atOnce] = [500, 4]
const quietMs = 60 * 60_000
/** Pages of one sweep. What is left, or cannot be removed, is for the next one. */
const pagesMax = 200

/** Sweeps until the result is called. */
export function sweepItems({ env, index, router, everyMs = defaultMs }: SweepParts): () => void {
  const complain = throttleLog(env, quietMs)
  const nowMs = cautiousClock(env)
  let sweeping = false
  return env.every(everyMs, () => {
    if (sweeping) return
    sweeping = true
    void sweepOnce({ index, router }, nowMs).catch((error: unknown) =>
      complain((omitted) =>
        env.log.warn('Ended items could not be removed; they are tried again.', { error, omitted })
      )
    ).finally(() => {
      sweeping = false
    })
  })
}

/** Removes what has ended long enough ago. */
async function sweepOnce({ index, router }: Pick<SweepParts, 'index' | 'router'>,
  nowMs: CautiousClock): Promise<void> {
  const beforeMs = nowMs() - keptMs
  const inTurn = limitConcurrency(atOnce)
  for (let page = 0; page < pagesMax; page++) {
    const ended = await index.ended(beforeMs, pageSize)
    const command: ItemCommand = { kind: 'sweep', beforeMs }
    const swept = await Promise.allSettled(
      ended.map(({ tenant, id }) =>
        inTurn(() => router.ask({ kind: itemKindName, tenant, id }, command))
      ),
    )
    const failed = swept.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    if (ended.length < pageSize) return
  }
}
