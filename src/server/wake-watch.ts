/**
 * Wakes actors of this member that have work and perhaps no caller: after a start, after shards
 * moved here, and if the word that woke them was lost. All that have work are in lists.
 */

import type { ActorKey, Env } from '../../cluster/index.ts'
import { deletionKindName, experimentKindName, ruleKindName } from '../platform/index.ts'
import type { DeletionClient, ExperimentClient, Platform, RuleClient, WakeEntry,
  WakeList } from '../platform/index.ts'

/** A list, and how each of its entries is woken. */
interface WatchedList {
  readonly list: WakeList
  keyOf(entry: WakeEntry): ActorKey
  /** Never throws. */
  wake(entry: WakeEntry): void
}

/** Clients and records that the watch works with. */
export interface WakeWatchParts {
  readonly rules: Pick<RuleClient, 'wake'>
  readonly deletions: DeletionClient
  readonly experiments: ExperimentClient
  /** True if this member owns an actor. */
  owns(key: ActorKey): boolean
  readonly env: Pick<Env, 'every' | 'after' | 'log'>
}

const [firstMs, everyMs] = [1_000, 60_000]

/** Watches until the returned function is called. */
export function watchWork(
  { rules, deletions, experiments }: Pick<Platform, 'rules' | 'deletions' | 'experiments'>,
  parts: WakeWatchParts,
): () => void {
  const lists: readonly WatchedList[] = [
    ...rules === undefined ? [] : [{
      list: rules.records.awake,
      wake: parts.rules.wake,
      keyOf: ({ tenant, id }: WakeEntry) => ({ kind: ruleKindName, tenant, id }),
    }],
    ...deletions === undefined ? [] : [{
      list: deletions.records.listed,
      wake: (entry: WakeEntry) => parts.deletions.wake(entry, entry.place.createdAtMs),
      keyOf: ({ tenant }: WakeEntry) => ({ kind: deletionKindName, tenant, id: 'all' }),
    }],
    ...experiments === undefined ? [] : [{
      list: experiments.records.listed,
      wake: (entry: WakeEntry) => parts.experiments.wake(entry, entry.place.createdAtMs),
      keyOf: ({ tenant, id }: WakeEntry) => ({ kind: experimentKindName, tenant, id }),
    }],
  ]
  const ends = lists.flatMap((list) => watchList(list, parts))
  return () => {
    for (const end of ends) end()
  }
}

function watchList(list: WatchedList, parts: WakeWatchParts): readonly (() => void)[] {
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

async function wakeAll({ list, keyOf, wake }: WatchedList,
  { owns }: Pick<WakeWatchParts, 'owns'>): Promise<void> {
  let page = await list.page()
  while (page.length > 0) {
    for (const entry of page) if (owns(keyOf(entry))) wake(entry)
    page = await list.page(page.at(-1)!.place)
  }
}
