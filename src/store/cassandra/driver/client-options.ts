/** Settings of the driver: its hosts, its login, and its time-outs. */

import { policies, types } from 'cassandra-driver'

import type { Env } from '../../../../cluster/index.ts'
import { Hedge } from './hedge.ts'
import { PasswordFromFile, tlsFromFiles } from './live-credentials.ts'
import type { TlsFiles } from './live-credentials.ts'
import { RetryNextHost } from './retry-next-host.ts'
import { WriteTimes } from './write-times.ts'

/** Hosts of Cassandra, the keyspace, and the login. */
export interface ConnectionOptions {
  readonly env: Env
  /** Host names or addresses, with `:port` if it is not 9042. */
  readonly contactPoints: readonly string[]
  readonly localDataCenter: string
  /** Keyspace of the data. Control rows live in `<keyspace>_control`. */
  readonly keyspace: string
  readonly user?: string
  readonly password?: string
  /** File from which each new connection reads the password again; undefined if there is none. */
  readonly passwordFile?: string | undefined
  readonly tls?: TlsFiles
}

/** Time for a request, by default. */
export const attemptMs = 2_000
const connectMs = 2_000

/** The options of the driver's client. */
export function clientOptions(options: ConnectionOptions, hedge = new Hedge()) {
  const { env, contactPoints, localDataCenter, user, password = '', passwordFile, tls } = options
  return {
    contactPoints: [...contactPoints],
    localDataCenter,
    ...user !== undefined && { authProvider: new PasswordFromFile(user, password, passwordFile) },
    ...tls && { sslOptions: tlsFromFiles(tls) },
    encoding: { useBigIntAsLong: true },
    // Many tables are made one after another. `agreed` waits once for all of them.
    protocolOptions: { maxSchemaAgreementWaitSeconds: 0 },
    policies: {
      retry: new RetryNextHost(),
      reconnection: new policies.reconnection.ExponentialReconnectionPolicy(100, 2_000, false),
      speculativeExecution: hedge,
      timestampGeneration: new WriteTimes(env),
    },
    pooling: {
      // One connection: what many callers ask travels in fewer packets, which makes a tenth more
      // writes.
      coreConnectionsPerHost: { [types.distance.local]: 1 },
      heartBeatInterval: 5_000,
    },
    socketOptions: { connectTimeout: connectMs, readTimeout: attemptMs },
  }
}
