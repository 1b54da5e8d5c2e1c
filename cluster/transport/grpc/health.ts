/** The standard question whether this member serves. */

import type { CallContext } from 'nice-grpc-common'

import {
  HealthCheckResponse_ServingStatus as Status,
} from '../../../proto/gen/grpc/health/v1/health.ts'
import type { HealthCheckRequest, HealthCheckResponse,
  HealthServiceImplementation } from '../../../proto/gen/grpc/health/v1/health.ts'
import { ClusterError } from '../../errors.ts'

/** The whole server, and the service by name. */
const known: readonly string[] = ['', 'cluster.v1.MemberService']

/** Answers the health protocol of gRPC. */
export class Health implements HealthServiceImplementation {
  #status: Status = Status.NOT_SERVING
  #closed = false
  #changed = Promise.withResolvers<void>()

  /** The status from now on. */
  send(status: 'SERVING' | 'NOT_SERVING'): void {
    this.#status = Status[status]
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  /** Reports for the last time that the server does not serve. */
  close(): void {
    this.#closed = true
    this.send('NOT_SERVING')
  }

  async check({ service }: HealthCheckRequest): Promise<HealthCheckResponse> {
    if (known.includes(service)) return { status: this.#status }
    throw new ClusterError('not_found', 'There is no service of that name.')
  }

  async *watch({ service }: HealthCheckRequest,
    { signal }: CallContext): AsyncGenerator<HealthCheckResponse> {
    const ended = Promise.withResolvers<void>()
    const end = () => ended.resolve()
    signal.addEventListener('abort', end)
    try {
      while (!signal.aborted) {
        const changed = this.#changed.promise
        yield { status: known.includes(service) ? this.#status : Status.SERVICE_UNKNOWN }
        if (this.#closed) return
        await Promise.race([changed, ended.promise])
      }
    } finally {
      signal.removeEventListener('abort', end)
    }
  }
}
