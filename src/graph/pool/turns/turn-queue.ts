/** Work that waits for a worker, taken in turns by tenant, then by deployment. Pure. */

/** Whose turn an item takes. */
export interface Turn {
  readonly tenant: string
  /** The name of a deployment of the tenant; empty for the server's own project. */
  readonly deployment: string
  /** True if a caller waits for the result. */
  readonly isAwaited: boolean
}

/** Items of one deployment that wait. */
interface Waiting<Item> {
  readonly awaited: Set<Item>
  readonly background: Set<Item>
  /** True if the next turn is the background's. */
  isBackgroundNext: boolean
}

/** Deployments by name. Those whose turn comes first are first. */
type Deployments<Item> = Map<string, Waiting<Item>>

/**
 * A queue that gives each tenant one turn before any gets its second. Within a deployment, awaited
 * items take every other turn before background items. Each kind is in order of arrival.
 */
export class TurnQueue<Item> {
  readonly #turnOf: (item: Item) => Turn
  /** Tenants whose turn comes first are first. */
  readonly #tenants = new Map<string, Deployments<Item>>()
  #size = 0

  constructor(turnOf: (item: Item) => Turn) {
    this.#turnOf = turnOf
  }

  get size(): number {
    return this.#size
  }

  add(item: Item): void {
    const { tenant, deployment, isAwaited } = this.#turnOf(item)
    const deployments = entryOf(this.#tenants, tenant, () => new Map())
    const waiting = entryOf(deployments, deployment, nothing<Item>)
    ;(isAwaited ? waiting.awaited : waiting.background).add(item)
    this.#size += 1
  }

  /** False if it does not wait. */
  delete(item: Item): boolean {
    const { tenant, deployment, isAwaited } = this.#turnOf(item)
    const deployments = this.#tenants.get(tenant)
    const waiting = deployments?.get(deployment)
    if (!waiting || !(isAwaited ? waiting.awaited : waiting.background).delete(item)) return false
    this.#size -= 1
    if (waiting.awaited.size + waiting.background.size === 0) deployments!.delete(deployment)
    if (deployments!.size === 0) this.#tenants.delete(tenant)
    return true
  }

  /**
   * Offers what waits, in the order of turns, until `takes` takes something. That leaves the queue.
   * Of one deployment and kind, only what came first is offered. False if nothing was taken.
   */
  take(takes: (item: Item) => boolean): boolean {
    for (const [tenant, deployments] of this.#tenants) {
      for (const [deployment, waiting] of deployments) {
        const taken = firstsOf(waiting).find(takes)
        if (taken === undefined) continue
        waiting.isBackgroundNext = waiting.awaited.has(taken)
        toTheEnd(deployments, deployment)
        toTheEnd(this.#tenants, tenant)
        this.delete(taken)
        return true
      }
    }
    return false
  }

  /** Everything that waits. */
  *[Symbol.iterator](): Generator<Item> {
    for (const deployments of this.#tenants.values()) {
      for (const { awaited, background } of deployments.values()) {
        yield* awaited
        yield* background
      }
    }
  }
}

function nothing<Item>(): Waiting<Item> {
  return { awaited: new Set(), background: new Set(), isBackgroundNext: false }
}

/** The first of each kind, in the order of their turns. */
function firstsOf<Item>({ awaited, background, isBackgroundNext }: Waiting<Item>): Item[] {
  const firsts = [...first(awaited), ...first(background)]
  return isBackgroundNext ? firsts.reverse() : firsts
}

function first<Item>(items: ReadonlySet<Item>): Item[] {
  for (const item of items) return [item]
  return []
}

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

function toTheEnd<Value>(map: Map<string, Value>, key: string): void {
  const value = map.get(key)!
  map.delete(key)
  map.set(key, value)
}
