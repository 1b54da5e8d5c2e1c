/**
 * Wakes actors of this member that have work and perhaps no caller: after a start, after shards
 * moved here, and if the word that woke them was lost. All that have work are in lists.
 */

import type { ActorKey, Env } from '../../cluster/index.ts'
import { deletionKindName, ruleKindName } from '../platform/index.ts'
import type { CatalogRecord, DeletionClient, Platform, RuleClient } from '../platform/index.ts'

/** A rule or deletion that has work, and its place in the list. */
interface Listed {
  readonly tenant: string
  readonly id: string
  readonly place: CatalogRecord
}

/** A list, and how each of its entries is woken. */
interface WakeList {
  /** A page, after the given place. */
  listed(after?: CatalogRecord): Promise<readonly Listed[]>
  keyOf(entry: Listed): ActorKey
  /** Never throws. */
  wake(entry: Listed): void
}

/** Clients and records that the watch works with. */
export interface WakeWatchParts {
  readonly rules: Pick<RuleClient, 'wake'>
  readonly deletions: DeletionClient
  /** True if this member owns an actor. */
  owns(key: ActorKey): boolean
  readonly env: Pick<Env, 'every' | 'after' | 'log'>
}

const [firstMs, everyMs] = [1_000, 60_000]

/** Watches until the returned function is called. */
export function watchWork({ rules, deletions }: Pick<Platform, 'rules' | 'deletions'>,
  parts: WakeWatchParts): () => void {
  const lists: readonly WakeList[] = [
    ...rules === undefined ? [] : [{
      listed: rules.records.awake,
      wake: parts.rules.wake,
      keyOf: ({ tenant, id }: Listed) => ({ kind: ruleKindName, tenant, id }),
    }],
    ...deletions === undefined ? [] : [{
      listed: deletions.records.listed,
      wake: (entry: Listed) => parts.deletions.wake(entry, entry.place.createdAtMs),
      keyOf: ({ tenant }: Listed) => ({ kind: deletionKindName, tenant, id: 'all' }),
    }],
  ]
  const ends = lists.flatMap((list) => watchList(list, parts))
  return () => {
    for (const end of ends) end()
  }
}

function watchList(list: WakeList, parts: WakeWatchParts): readonly (() => void)[] {
  const { env } = parts
  let isLooking = false
  const look = () => {
    if (isLooking) return
    isLooking = true
    wakeAll(list, parts).catch((error: unknown) => {
      env.log.debug('What has work could not be woken; it is looked for again.', { error })
    }).finally(() => {
      isLooking = false
    })
  }
  return [env.after(firstMs, look), env.every(everyMs, look)]
}

async function wakeAll({ listed, keyOf, wake }: WakeList,
  { owns }: Pick<WakeWatchParts, 'owns'>): Promise<void> {
  let page = await listed()
  while (page.length > 0) {
    for (const entry of page) if (owns(keyOf(entry))) wake(entry)
    page = await listed(page.at(-1)!.place)
  }
}
