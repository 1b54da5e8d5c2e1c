/**
 * Which host is asked first: for a moment the same one, where it has what is asked for. What many
 * callers ask for then travels in fewer packets, to that host and from it to the others.
 *
 * Measured: 32 writers on three hosts get 5 % more done behind the gate, and 16 % without it.
 */

import { policies } from 'cassandra-driver'
import type { Client, EmptyCallback, ExecutionOptions, Host, HostMap } from 'cassandra-driver'

import type { Env } from '../../../cluster/index.ts'

/**
 * Many packets are filled in it, and no host does for long what all can do. One that hangs is asked
 * by everybody before it is over: what is not answered soon is asked of another one as well.
 */
const steadyMs = 50
/** Hosts at the beginning of a plan that have what is asked for: each row is on three. */
const copies = 3

/** Of a request that is not about rows the driver passes none. */
type PlanOptions = ExecutionOptions | null
type PlanCallback = (error: Error, plan: Iterator<Host>) => void

/** A load balancing policy of the driver: the plans of another one, of which it takes turns. */
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

  /** Plans for no row in particular are in no order, and compare-and-sets are few. */
  override newQueryPlan(keyspace: string, options: PlanOptions, callback: PlanCallback): void {
    const asIs = !options?.getRoutingKey() || options.getSerialConsistency() !== undefined
    this.#plans.newQueryPlan(keyspace, options!, (error, plan) =>
      callback(error, asIs || error ? plan : this.#steadied(plan)))
  }

  override getOptions(): Map<string, object> {
    return this.#plans.getOptions()
  }

  /** The first host of a plan is the least busy one: the next that is stayed with. */
  * #steadied(plan: Iterator<Host>): Generator<Host, undefined> {
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
