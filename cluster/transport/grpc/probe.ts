/** Asking a member by gRPC whether it lives: its id is the sign of life. */

import { asCoded } from '../../errors.ts'
import type { CodedError } from '../../errors.ts'
import { Backoff } from '../../flow/backoff.ts'
import type { Member } from '../../member.ts'
import { incompatibility } from '../member-trust.ts'
import { MemberLink } from './link.ts'
import type { LinkOptions } from './link.ts'

/**
 * alive         It answered with its id, and both understand each other.
 * dead          The address has no member or another one, or did not answer for three seconds.
 * incompatible  A member lives there, but one of the two refuses the other: `why` says why.
 */
export type Sighting =
  | { readonly kind: 'alive' | 'dead' }
  | { readonly kind: 'incompatible'; readonly why: string }

/** A member that does not answer for this long is dead. */
const silenceMs = 3_000
/** Pauses between tries of a blocked connection. */
const pauses = { firstMs: 250, longestMs: 250 }

/** The address cannot be reached right now, which says nothing about who lives there. */
const blockedWay = /EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ETIMEDOUT|EAI_AGAIN|came back just now/
/** One of the two does not accept the other's certificate. */
const refusedCertificate = /certificate|\bTLS\b|\bSSL\b|altname|self.signed/i

/**
 * True if the member lives. A member that refuses this one counts as living: a member with the
 * wrong secret must not end those with the right one. `incompatible` is called with the reason.
 */
export function grpcProbe(options: LinkOptions,
  incompatible: (member: Member, why: string) => void): (member: Member) => Promise<boolean> {
  return async (member) => {
    const sighting = await sight(member, options)
    if (sighting.kind === 'incompatible') incompatible(member, sighting.why)
    return sighting.kind !== 'dead'
  }
}

/** Probes a member over a new connection, so that no old state is believed. Never throws. */
export function sight(member: Member, options: LinkOptions): Promise<Sighting> {
  const { env } = options
  return new Promise((resolve) => {
    const backoff = new Backoff(env, pauses)
    let stopTrying = () => {}
    let link: MemberLink | undefined
    let judged = false
    const judge = (sighting: Sighting) => {
      judged = true
      stopWaiting()
      stopTrying()
      link?.close()
      resolve(sighting)
    }
    const stopWaiting = env.after(silenceMs, () => judge({ kind: 'dead' }))
    const look = async () => {
      link = new MemberLink(member.address, options)
      const seen = await lookOnce(link, member, options)
      link.close()
      if (judged) return
      if (seen === 'blocked') stopTrying = env.after(backoff.nextMs(), () => void look())
      else judge(seen)
    }
    void look()
  })
}

async function lookOnce(link: MemberLink, { id }: Member,
  { identity }: LinkOptions): Promise<Sighting | 'blocked'> {
  try {
    const { session, cluster, version } = await link.call(silenceMs, (client, call) =>
      client.probe({}, call))
    if (session !== id) return { kind: 'dead' }
    const why = incompatibility(identity, { cluster, version })
    return why === undefined ? { kind: 'alive' } : { kind: 'incompatible', why }
  } catch (error) {
    return judgement(asCoded(error))
  }
}

/** Conclusion from a failed probe. */
function judgement({ details, message }: CodedError): Sighting | 'blocked' {
  if (details.distrust !== undefined) return { kind: 'incompatible', why: message }
  const reason = details.unreachable ?? ''
  if (blockedWay.test(reason)) return 'blocked'
  return refusedCertificate.test(reason) ? { kind: 'incompatible', why: message } : { kind: 'dead' }
}
