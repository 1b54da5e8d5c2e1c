/**
 * Searching and counting over all owners. Each is asked for its own rows, and the answers are
 * merged.
 *
 * 1. The result covers every shard exactly once. So no row is missing, and none is there twice
 *    because its shard moved from one owner to another meanwhile.
 * 2. If it does not, everything is asked again when an owner has changed or a moment later. Of many
 *    searches that wait, one asks again, and the others follow when it has its answer.
 * 3. No owner is asked for more than can be on the page. A single owner makes the page itself.
 */

import { atLatest, backoffMs } from '../../cluster/index.ts'
import type { Env, Member, Ownership } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import { sumOfUses } from '../limits/index.ts'
import type { TenantUse } from '../limits/index.ts'
import type { AssistantSearch } from './assistant-index.ts'
import type { CronSearch } from './cron-index.ts'
import type { IndexAnswer, IndexedRow as Row, IndexQuestion, OwnIndex } from './index-question.ts'
import { pageOfNamespaces } from './item-filter.ts'
import type { ItemSearch, Namespace, NamespaceQuery } from './item-index.ts'
import { mergePage, wholeOf } from './merged-page.ts'
import { OwnerChanges } from './owner-changes.ts'
import { assistantOrder, cronOrder, itemOrder, threadOrder } from './row-order.ts'
import type { RowOrder } from './row-order.ts'
import type { ThreadSearch } from './thread-index.ts'
import { isNewerQuery } from './thread-place.ts'

/** The members to ask, and how. The own index is asked without a call. */
export interface ScatterOptions {
  readonly env: Pick<Env, 'after' | 'random'>
  readonly owners: Pick<Ownership, 'shards' | 'self' | 'ownerOf' | 'changed'>
  /** The index of this member; undefined if it never owns anything. */
  readonly own?: OwnIndex
  /** Asks another member. */
  ask(member: Member, question: IndexQuestion): Promise<IndexAnswer>
}

/** Searches over all members. Belongs to the backend. */
export interface ScatteredIndex {
  readonly threads: ThreadSearch
  readonly assistants: AssistantSearch
  readonly crons: CronSearch
  readonly items: ItemSearch
  /** Use of a tenant, from the owners that answer soon. */
  use(tenant: string): Promise<TenantUse>
}

/** Longer than it takes to find a dead owner, take over its shards and read them. */
const patienceMs = 20_000
/**
 * Pause before asking again. A shard may be covered a moment later, and its owner does not announce
 * that.
 */
const pauses = { firstMs: 100, longestMs: 100 }
/** Time to find what a tenant uses. It is needed soon, and an owner that is slower is left out. */
const useMs = 1_000

type SearchQuestion = Extract<IndexQuestion, {
  readonly kind: 'thread_search' | 'thread_find' | 'thread_seen' | 'assistant_search'
    | 'assistant_seen' | 'cron_search' | 'cron_seen' | 'item_search' | 'item_words'
}>
type Page = Pick<IndexAnswer, 'rows' | 'total'>

type Ask = (member: Member, question: IndexQuestion) => Promise<IndexAnswer | undefined>

/** Makes the index. Its searches throw `unavailable` if some rows have no owner for too long. */
export function scatteredIndex(options: ScatterOptions): ScatteredIndex {
  const scatter = new Scatter(options)
  const page = async <Found extends Row>(question: SearchQuestion, order: RowOrder<Found>) =>
    await scatter.page(question, order as RowOrder<Row>) as { rows: Found[]; total: number }
  return {
    threads: {
      search: (query) => {
        const { allowed } = query
        const kind = allowed ? 'thread_seen' : isNewerQuery(query) ? 'thread_find' : 'thread_search'
        return page({ kind, query }, threadOrder(query))
      },
      count: (query) => {
        const kind = isNewerQuery(query) ? 'thread_find_count' : 'thread_count'
        return scatter.count({ kind: query.allowed ? 'thread_seen_count' : kind, query })
      },
    },
    assistants: {
      search: (query) => {
        const kind = query.allowed ? 'assistant_seen' : 'assistant_search'
        return page({ kind, query }, assistantOrder(query))
      },
      count: (query) =>
        scatter.count({ kind: query.allowed ? 'assistant_seen_count' : 'assistant_count', query }),
    },
    crons: {
      search: (query) => {
        const kind = query.allowed ? 'cron_seen' : 'cron_search'
        return page({ kind, query }, cronOrder(query))
      },
      count: (query) =>
        scatter.count({ kind: query.allowed ? 'cron_seen_count' : 'cron_count', query }),
    },
    items: {
      search: (query) =>
        page({ kind: query.words ? 'item_words' : 'item_search', query }, itemOrder),
      namespaces: (query) => scatter.namespaces(query),
    },
    use: (tenant) => scatter.use(tenant),
  }
}

class Scatter {
  readonly #options: ScatterOptions
  readonly #changes: OwnerChanges
  /** The one waiting search that asks again. Resolves when it has ended. */
  #scout: Promise<true> | undefined

  constructor(options: ScatterOptions) {
    this.#options = options
    this.#changes = new OwnerChanges(options.owners)
  }

  count(question: IndexQuestion): Promise<number> {
    return this.#untilWhole(async (owners, ask) => {
      const answers = await Promise.all(owners.map((member) => ask(member, question)))
      const whole = wholeOf(answers, this.#options.owners.shards)
      return whole?.reduce((sum, { total }) => sum + total, 0)
    })
  }

  namespaces(query: NamespaceQuery): Promise<Namespace[]> {
    const { offset, limit } = query
    // The first ones of all are among the first ones of each.
    const question = { kind: 'item_namespaces',
      query: { ...query, offset: 0, limit: offset + limit } } as const
    return this.#untilWhole(async (owners, ask) => {
      const answers = await Promise.all(owners.map((member) => ask(member, question)))
      const whole = wholeOf(answers, this.#options.owners.shards)
      // Each owner has checked the conditions, before it cut the namespaces.
      const found = whole?.flatMap(({ namespaces = [] }) => namespaces)
      return found && pageOfNamespaces(found, { ...query, conditions: [] })
    })
  }

  page(question: SearchQuestion, order: RowOrder<Row>): Promise<Page> {
    const { shards } = this.#options.owners
    return this.#untilWhole(async (owners, ask) => {
      const [first, ...others] = owners
      if (first !== undefined && others.length === 0) {
        const [answer] = wholeOf([await ask(first, question)], shards) ?? []
        return answer && { rows: answer.rows, total: answer.total }
      }
      const { query } = question
      return await mergePage({ query, order, shards,
        sources: owners.map((member) => (part) =>
          ask(member, { ...question, query: { ...query, ...part } } as SearchQuestion)
        ) })
    })
  }

  /**
   * Use of a tenant. Not all shards need be covered: the result is as good as what is known now.
   */
  async use(tenant: string): Promise<TenantUse> {
    const question = { kind: 'tenant_use', query: { tenant } } as const
    const known = this.#ownerOfEach().filter((owner) => owner !== undefined)
    const owners = [...new Map(known.map((owner) => [owner.id, owner])).values()]
    const answers = await Promise.all(
      owners.map((member) =>
        atLatest(this.#options.env, useMs, this.#ask(member, question, () => {}).catch(() =>
          undefined
        ))
      ),
    )
    return sumOfUses(answers.flatMap((answer) => answer?.use ?? []))
  }

  /** Tries until there is an answer. `ask` gives undefined for an owner that cannot be reached. */
  async #untilWhole<Answer>(
    attempt: (owners: readonly Member[], ask: Ask) => Promise<Answer | undefined>,
  ): Promise<Answer> {
    const patience = Promise.withResolvers<undefined>()
    const cancel = this.#options.env.after(patienceMs, () => patience.resolve(undefined))
    const scout = Promise.withResolvers<true>()
    let cause: unknown
    const failed = (error: unknown) => void (cause = error)
    try {
      do {
        const owners = this.#owners()
        const answer = owners &&
          await attempt(owners, (member, question) =>
            Promise.race([this.#ask(member, question, failed), patience.promise]))
        if (answer !== undefined)
          return answer
      } while (await this.#isTimeToAskAgain(scout.promise, patience.promise))
    } finally {
      cancel()
      if (this.#scout === scout.promise) this.#scout = undefined
      scout.resolve(true)
    }
    throw new HeddleError('unavailable', 'Some of what is searched is between two owners, or its ' +
      'owner cannot be reached: ask again in a moment.', {}, { cause })
  }

  /** All owners; undefined while some shard has none. */
  #owners(): readonly Member[] | undefined {
    const known = this.#ownerOfEach().filter((owner) => owner !== undefined)
    if (known.length < this.#options.owners.shards) return undefined
    return [...new Map(known.map((owner) => [owner.id, owner])).values()]
  }

  /** The owner of each shard. */
  #ownerOfEach(): (Member | undefined)[] {
    const { owners } = this.#options
    return Array.from({ length: owners.shards }, (_, shard) => owners.ownerOf(shard)?.member)
  }

  /** Undefined if the member cannot be reached, or loses all its shards before it answers. */
  async #ask(member: Member, question: IndexQuestion,
    failed: (error: unknown) => void): Promise<IndexAnswer | undefined> {
    const { own, owners } = this.#options
    if (own !== undefined && member.id === owners.self.id) return await own.answer(question)
    const gone = Promise.withResolvers<undefined>()
    const stop = this.#changes.listen(() => {
      if (!this.#ownerOfEach().some((owner) => owner?.id === member.id)) gone.resolve(undefined)
    })
    try {
      return await Promise.race([this.#options.ask(member, question), gone.promise])
    } catch (error) {
      if (HeddleError.from(error).retry === 'no') throw error
      failed(error)
      return undefined
    } finally {
      stop()
    }
  }

  /** Makes one of those that wait the scout. The others wait until it has ended. */
  #isTimeToAskAgain(own: Promise<true>, patience: Promise<undefined>): Promise<true | undefined> {
    this.#scout ??= own
    return this.#scout === own ? this.#change(patience) : Promise.race([this.#scout, patience])
  }

  /** True when it is time to ask again, undefined when the patience has ended. */
  async #change(patience: Promise<undefined>): Promise<true | undefined> {
    const changed = Promise.withResolvers<true>()
    const stop = this.#changes.listen(() => changed.resolve(true))
    const { env } = this.#options
    const cancel = env.after(backoffMs(pauses, 1, env.random()), () => changed.resolve(true))
    try {
      return await Promise.race([patience, changed.promise])
    } finally {
      cancel()
      stop()
    }
  }
}
