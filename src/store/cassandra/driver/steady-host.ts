/**
 * Which host is asked first: for a moment always the same one, if it has the row. Requests of many
 * callers then travel in fewer packets, to that host and from it to the others.
 *
 * Measured: 32 writers on three hosts get 5 % more done with the ownership check, and 16 % more
 * without it.
 */

import { policies } from 'cassandra-driver'
import type { Client, EmptyCallback, ExecutionOptions, Host, HostMap } from 'cassandra-driver'

import type { Env } from '../../../../cluster/index.ts'

/**
 * Long enough to fill many packets, short enough that no host does the work of all for long. If the
 * host hangs, every caller asks it for this time. What is not answered soon is asked of another
 * host as well.
 */
const steadyMs = 50
/** Hosts at the beginning of a plan that have the row: each row is on three. */
const copies = 3

/** Null for a request that is not about rows. */
type PlanOptions = ExecutionOptions | null
type PlanCallback = (error: Error, plan: Iterator<Host>) => void

/** A load balancing policy of the driver that reorders the plans of another policy. */
export class SteadyHost extends policies.loadBalancing.LoadBalancingPolicy {
  readonly #env: Pick<Env, 'monotonicMs'>
  readonly #plans: policies.loadBalancing.LoadBalancingPolicy
  #host: Host | undefined
  #sinceMs = 0

  constructor(env: Pick<Env, 'monotonicMs'>, plans = policies.defaultLoadBalancingPolicy()) {
    super()
    this.#env = env
    this.#plans = plans
  }

  override init(client: Client, hosts: HostMap, callback: EmptyCallback): void {
    this.#plans.init(client, hosts, callback)
  }

  override getDistance(host: Host) {
    return this.#plans.getDistance(host)
  }

  /**
   * Keeps plans for no particular row, which have no order, and for compare-and-sets, which are
   * few.
   */
  override newQueryPlan(keyspace: string, options: PlanOptions, callback: PlanCallback): void {
    const asIs = !options?.getRoutingKey() || options.getSerialConsistency() !== undefined
    this.#plans.newQueryPlan(keyspace, options!,
      (error, plan) => callback(error, asIs || error ? plan : this.#steadied(plan)))
  }

  override getOptions(): Map<string, object> {
    return this.#plans.getOptions()
  }

  /** Makes the first host of a plan, which is the least busy one, the next steady host. */
  *#steadied(plan: Iterator<Host>): Generator<Host, undefined> {
    const near: Host[] = []
    for (let next = plan.next(); !next.done; next = plan.next()) {
      near.push(next.value)
      if (near.length === copies) break
    }
    const nowMs = this.#env.monotonicMs()
    if (!this.#host?.isUp() || nowMs - this.#sinceMs >= steadyMs) {
      this.#host = near[0]
      this.#sinceMs = nowMs
    }
    const steady = this.#host
    yield* near.filter((host) => host === steady)
    yield* near.filter((host) => host !== steady)
    yield* { [Symbol.iterator]: () => plan }
  }
}
