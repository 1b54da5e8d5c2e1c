/**
 * Wakes the rules of this member: after a start, after shards moved here, and if a message about
 * ended spans was lost. All enabled rules are in one list.
 */

import type { ActorKey, Env } from '../../cluster/index.ts'
import { ruleKindName } from '../platform/index.ts'
import type { RuleClient, Rules } from '../platform/index.ts'

/** Records and client with which rules are woken. */
export interface RuleWatchParts {
  readonly records: Rules['records']
  readonly client: Pick<RuleClient, 'wake'>
  /** True if this member owns an actor. */
  owns(key: ActorKey): boolean
  readonly env: Pick<Env, 'every' | 'after' | 'log'>
}

const [firstMs, everyMs] = [1_000, 60_000]

/** Watches until the returned function is called. */
export function watchRules(parts: RuleWatchParts): () => void {
  const { env } = parts
  let isLooking = false
  const look = () => {
    if (isLooking) return
    isLooking = true
    wakeAll(parts).catch((error: unknown) => {
      env.log.debug('Rules could not be woken; they are looked for again.', { error })
    }).finally(() => {
      isLooking = false
    })
  }
  const ends = [env.after(firstMs, look), env.every(everyMs, look)]
  return () => {
    for (const end of ends) end()
  }
}

async function wakeAll({ records, client, owns }: RuleWatchParts): Promise<void> {
  let page = await records.awake()
  while (page.length > 0) {
    for (const { tenant, id } of page) {
      const key = { kind: ruleKindName, tenant, id }
      if (!owns(key)) continue
      client.wake({ tenant, id })
    }
    page = await records.awake(page.at(-1)!.place)
  }
}
