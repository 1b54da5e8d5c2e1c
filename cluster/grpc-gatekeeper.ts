/** Who may call this member, and the credentials that a caller sends. */

import { ChannelCredentials, ServerCredentials } from '@grpc/grpc-js'
import { Metadata, ServerError, Status } from 'nice-grpc-common'
import type { ServerMiddleware } from 'nice-grpc-common'

import { HeddleError } from '../src/errors.ts'
import type { Env } from './env.ts'
import { comparing, dialectFault } from './member-trust.ts'
import type { Dialect, MemberTrust } from './member-trust.ts'
import { seldom } from './seldom.ts'

const clusterName = 'heddle-cluster'
const versionName = 'heddle-version'

/** What every call carries. */
export function introduction({ secret }: MemberTrust, { cluster, version }: Dialect): Metadata {
  const metadata = Metadata().set(clusterName, encodeURIComponent(cluster))
    .set(versionName, `${version}`)
  return secret === undefined ? metadata : metadata.set('authorization', `Bearer ${secret}`)
}

/** Strangers must not fill the log: one line for all that come in this time. */
const strangersMs = 10_000

/**
 * Turns strangers away, whatever they ask for, and tells them nothing else. They are logged once
 * this member `belongs`: one that is refused itself reports that with a sentence of its own.
 */
export function onlyTrusted({ secret }: MemberTrust, env: Env, belongs: () => boolean):
ServerMiddleware {
  const report = seldom(env, strangersMs)
  const isRight = secret === undefined ? () => true : comparing(`Bearer ${secret}`)
  return (call, context) => {
    if (!isRight(context.metadata.get('authorization') ?? '')) {
      if (belongs()) {
        report(() => env.log.warn('A caller without the secret of this cluster was refused.',
          { peer: context.peer }))
      }
      throw new ServerError(Status.UNAUTHENTICATED, 'unauthenticated')
    }
    return call.next(call.request, context)
  }
}

/** Throws `unavailable` for a member of another cluster, or of a version too far away. */
export function mustUnderstand(own: Dialect, metadata: Metadata): void {
  const cluster = decodeURIComponent(metadata.get(clusterName) ?? '')
  const fault = dialectFault(own, { cluster, version: Number(metadata.get(versionName) ?? 0) })
  if (fault !== undefined) throw new HeddleError('unavailable', fault, { distrust: 'dialect' })
}

export function serverCredentials({ tls }: MemberTrust): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure()
  const { ca, cert, key } = tls
  return ServerCredentials.createSsl(ca, [{ cert_chain: cert, private_key: key }], true)
}

export function channelCredentials({ tls }: MemberTrust): ChannelCredentials {
  if (tls === undefined) return ChannelCredentials.createInsecure()
  return ChannelCredentials.createSsl(tls.ca, tls.key, tls.cert)
}
