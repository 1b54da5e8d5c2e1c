/** Bodies with examples, which are counted while a thread of the platform reads them. */

import type { FastifyRequest } from 'fastify'

import type { Datasets, ExamplesCall, Platform } from '../../../platform/index.ts'
import { WaitingBodies } from '../waiting-bodies.ts'

type Held = Pick<FastifyRequest, 'caller' | 'body'>

/** Reads bodies in a thread, and has no more of them in memory than there is room for. */
export class HeldBodies {
  readonly #waiting = new WaitingBodies()
  readonly #datasets: Pick<Datasets, 'change'>

  constructor({ datasets }: Pick<Platform, 'datasets'>) {
    this.#datasets = datasets
  }

  /** Holds a body until the work with it has ended. Throws `full`. */
  async hold<Result>({ caller, body }: Held,
    work: (body: Uint8Array) => Promise<Result>): Promise<Result> {
    const bytes = bytesOf((body ?? new Uint8Array()) as Uint8Array)
    const release = this.#waiting.hold(caller.tenant, bytes.byteLength)
    try {
      return await work(bytes)
    } finally {
      release()
    }
  }

  /** Changes examples as a body says. */
  change(request: Held & Pick<FastifyRequest, 'headers'>, form: ExamplesCall['form'],
    more: Pick<ExamplesCall, 'dataset' | 'id'> = {}): ReturnType<Datasets['change']> {
    return this.hold(request,
      (body) =>
        this.#datasets.change({ tenant: request.caller.tenant, form, body,
          contentType: request.headers['content-type'] ?? '', ...more }))
  }
}

/** The bytes in a buffer of their own, which moves to the thread. */
function bytesOf(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes)
}
