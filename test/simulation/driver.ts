/** The driver of one process: it picks nodes, waits, and throws the real driver's errors. */

import { errors, types } from 'cassandra-driver'
import type { QueryOptions } from 'cassandra-driver'

import { Connection } from '../../src/store/cassandra/driver/connection.ts'
import { Hedge } from '../../src/store/cassandra/driver/hedge.ts'
import { keyspace } from './cassandra.ts'
import type { Answer, Query, Result, SimulatedCassandra } from './cassandra.ts'
import type { Cell } from './cql.ts'
import { nodeNumbers } from './network.ts'
import type { Process } from './process.ts'

const { responseErrorCodes: codes } = types

type Options =
  & Pick<QueryOptions, 'readTimeout' | 'fetchSize'>
  & { readonly pageState?: string | Buffer; readonly isIdempotent?: boolean }

/** The part of the driver's Client that the connection uses. */
export class SimulatedDriver {
  readonly #process: Process
  readonly #cassandra: SimulatedCassandra
  #lastStamp = 0

  constructor(process: Process, cassandra: SimulatedCassandra) {
    this.#process = process
    this.#cassandra = cassandra
  }

  execute(cql: string, params: readonly Cell[], options: Options): Promise<Result> {
    const stamp = this.#stamp()
    return this.#request(options, cql.trimStart().startsWith('SELECT')
      ? (node, answer) =>
        this.#cassandra.read(node, { cql, params }, { size: options.fetchSize ?? 5_000,
          state: options.pageState?.toString() }, answer)
      : (node, answer) => this.#cassandra.change(node, [{ cql, params, stamp }], answer))
  }

  batch(queries: readonly { readonly query: string; readonly params: readonly Cell[] }[],
    options: Options): Promise<Result> {
    const stamp = this.#stamp()
    const all = queries.map(({ query, params }): Query => ({ cql: query, params, stamp }))
    return this.#request(options, (node, answer) => this.#cassandra.change(node, all, answer))
  }

  /** From the wall clock of the process, which may be wrong; never goes backwards. */
  #stamp(): bigint {
    const { env } = this.#process
    this.#lastStamp = Math.max(this.#lastStamp + 1, env.nowMs() * 1_000)
    return BigInt(this.#lastStamp)
  }

  shutdown(): Promise<void> {
    return Promise.resolve()
  }

  #request({ readTimeout = 2_000 }: Options,
    send: (node: number, answer: (answer: Answer) => void) => void): Promise<Result> {
    const { network, world } = this.#cassandra
    const { chance } = world
    const process = this.#process
    return new Promise((resolve, reject) => {
      // It leaves the process after a moment, and the process may be stopped before that.
      process.after(chance.between(0, 0.3), () => {
        const node = this.#node()
        if (node === undefined) {
          return reject(new errors.NoHostAvailableError({}, 'All hosts are out of reach.'))
        }
        const cancel = process.after(readTimeout, () =>
          reject(
            new errors.OperationTimedOutError('The host did not reply in time.', String(node)),
          ))
        const received = (answer: Answer) => {
          const backMs = network.reaches(process.name, node) ? network.fate() : undefined
          if (backMs === undefined) return
          process.after(backMs, () => {
            cancel()
            if (answer === 'timeout') reject(new errors.ResponseError(codes.writeTimeout, answer))
            else if (answer === 'unavailable') {
              reject(new errors.ResponseError(codes.unavailableException, answer))
            } else resolve(answer)
          })
        }
        const thereMs = network.reaches(process.name, node) ? network.fate() : undefined
        if (thereMs === undefined) return
        world.after(thereMs, () => {
          if (!network.down.has(node)) send(node, received)
        })
      })
    })
  }

  /** A node that it believes to be up. */
  #node(): number | undefined {
    const { network, world: { chance } } = this.#cassandra
    return chance.shuffled(nodeNumbers).find((node) =>
      network.reaches(this.#process.name, node) || chance.flip(0.4)
    )
  }
}

/** The store's own connection, over the simulated driver. */
export function simulatedConnection(process: Process, cassandra: SimulatedCassandra): Connection {
  const Made = Connection as unknown as new(client: SimulatedDriver, options: object,
    hedge: Hedge) => Connection
  return new Made(new SimulatedDriver(process, cassandra), { env: process.env, keyspace,
    localDataCenter: 'simulated' }, new Hedge())
}
