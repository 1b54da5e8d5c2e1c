/** Check of the callers of this member, and the credentials that a caller sends. */

import { ChannelCredentials, experimental, ServerCredentials,
  ServerInterceptingCall } from '@grpc/grpc-js'
import type { ServerInterceptor } from '@grpc/grpc-js'
import { Metadata, Status } from 'nice-grpc-common'

import { ClusterError } from '../../errors.ts'
import { throttleLog } from '../../flow/throttle-log.ts'
import type { Env } from '../../runtime/env.ts'
import { comparing, incompatibility, secretsIn } from '../member-trust.ts'
import type { ProtocolIdentity, MemberTrust } from '../member-trust.ts'
import { CertificateSource } from './certificate-source.ts'

const clusterName = 'heddle-cluster'
const versionName = 'heddle-version'

/** Headers of every call: the name of the cluster, the protocol version and the secret. */
export function introduction({ secret }: MemberTrust,
  { cluster, version }: ProtocolIdentity): Metadata {
  const metadata = Metadata().set(clusterName, encodeURIComponent(cluster))
    .set(versionName, `${version}`)
  if (secret === undefined) return metadata
  return metadata.set('authorization', `Bearer ${secretsIn(secret)[0]}`)
}

/** Strangers must not fill the log: one line for all that come in this time. */
const refusedMs = 10_000

/**
 * Refuses callers without trust by their headers: not a byte of what they send is kept, and all get
 * the same answer. Refusals are logged once this member `belongs`: before that, a member that is
 * refused itself reports it with a message of its own.
 */
export function onlyTrusted({ secret }: MemberTrust, env: Env,
  belongs: () => boolean): ServerInterceptor {
  const report = throttleLog(env, refusedMs)
  const isRight = secret === undefined
    ? () => true
    : comparing(secretsIn(secret).map((each) => `Bearer ${each}`))
  return (_method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, enter) => {
            if (isRight(`${metadata.get('authorization')[0]}`)) return enter(metadata)
            if (belongs()) {
              report(() =>
                env.log.warn('A caller without the secret of this cluster was refused.', {
                  peer: call.getPeer(),
                })
              )
            }
            call.sendStatus({ code: Status.UNAUTHENTICATED, details: 'unauthenticated' })
          },
        }),
    })
}

/** Throws `unavailable` for a member of another cluster, or of a version too far away. */
export function requireUnderstand(own: ProtocolIdentity, metadata: Metadata): void {
  const cluster = decodeURIComponent(metadata.get(clusterName) ?? '')
  const fault = incompatibility(own, { cluster, version: Number(metadata.get(versionName) ?? 0) })
  if (fault !== undefined) throw new ClusterError('unavailable', fault, { distrust: 'dialect' })
}

/** Certificates of the server side; without TLS, none. */
export function serverCredentials({ tls }: MemberTrust,
  env: Pick<Env, 'every'>): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure()
  const source = new CertificateSource(tls, env)
  return experimental.createCertificateProviderServerCredentials(source, source, true)
}

/** Certificates of the calling side; without TLS, none. */
export function channelCredentials({ tls }: MemberTrust): ChannelCredentials {
  if (tls === undefined) return ChannelCredentials.createInsecure()
  return ChannelCredentials.createSsl(tls.ca, tls.key, tls.cert)
}
