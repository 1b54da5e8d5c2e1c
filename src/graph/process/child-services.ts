/** Services of the server to graph processes: items of their tenants, and a way for traces. */

import { LRUCache } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { GraphItems } from '../pool/host.ts'
import type { WriteTraces } from '../pool/trace-intake.ts'
import { nobodyWaits, resultOf } from '../pool/worker-mail.ts'
import type { ProcessPost } from './child-executions.ts'
import type { FromProcess } from './process-mail.ts'

/** Tenants that are remembered: more than a process has traces of. */
const tenantsMax = 10_000

/** Serves the processes of one deployment. User code may have asked, in the name of others. */
export class ChildServices {
  readonly #served = new LRUCache<string, true>({ max: tenantsMax })
  #items: GraphItems | undefined
  #write: WriteTraces | undefined

  /** From now on graphs have items. */
  useItems(items: GraphItems): void {
    this.#items = items
  }

  /** From now on traces are written. Before, workers try again. */
  useTraces(write: WriteTraces): void {
    this.#write = write
  }

  /** A run of this tenant was given to a process, so that its traces may come. */
  note(tenant: string): void {
    this.#served.set(tenant, true)
  }

  /** Does what a run asks of the items of its tenant. `isServed` says if one is under way. */
  async remember(post: ProcessPost, mail: FromProcess & { type: 'items' },
    isServed: boolean): Promise<void> {
    const { asking, tenant, operations } = mail
    const result = await resultOf(
      isServed && this.#items
        ? this.#items.batch(tenant, operations)
        : Promise.reject(nobodyWaits()),
    )
    post.send({ type: 'remembered', asking, result })
  }

  async trace(post: ProcessPost,
    { tracing, body }: FromProcess & { type: 'trace' }): Promise<void> {
    post.send({ type: 'traced', tracing, result: await resultOf(this.#written(body)) })
  }

  async #written(body: (FromProcess & { type: 'trace' })['body']): Promise<null> {
    if (!this.#served.has(body.tenant)) throw new HeddleError('forbidden')
    if (!this.#write) throw new HeddleError('unavailable')
    await this.#write(body)
    return null
  }
}
