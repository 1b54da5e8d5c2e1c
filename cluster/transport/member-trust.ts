/** Mutual authentication of members: a secret that all of them have, certificates, or both. */

import { hash, timingSafeEqual } from 'node:crypto'

import { assert, ClusterError } from '../errors.ts'

/** At least one of the two is set. */
export interface MemberTrust {
  /**
   * One secret, or several with commas between them: the first is sent, all are accepted, so that a
   * secret can be replaced member by member. It is sent unencrypted: if the network is not trusted,
   * use certificates as well.
   */
  readonly secret?: string
  /** Both sides show a certificate that `ca` signed. */
  readonly tls?: MemberTls
}

/** All in PEM. What is read may be another pair later: it is read from files that change. */
export interface MemberTls {
  readonly ca: Buffer
  readonly cert: Buffer
  readonly key: Buffer
  /** The name in the certificates of all members; by default, each has that of its address. */
  readonly name?: string
}

/** The cluster's name and the version that a member speaks. N works with N+1. */
export interface ProtocolIdentity {
  readonly cluster: string
  readonly version: number
}

/** The version of the protocol that this code speaks. */
export const protocolVersion = 1

const secretForm = /^[\x21-\x7e]{16,256}$/

/** Throws CodedError with a message if the secret is malformed. */
export function checkTrust({ secret, tls }: MemberTrust): void {
  if (secret === undefined) {
    assert(tls !== undefined, 'members know each other by a secret or by certificates')
  } else if (!secretsIn(secret).every((each) => secretForm.test(each))) {
    throw new ClusterError('invalid',
      'The secret of a cluster has 16 to 256 characters of ASCII, without spaces. Several have ' +
        'commas between them.')
  }
}

/** The secrets of a cluster: the first is sent, all are accepted. */
export function secretsIn(secret: string): readonly string[] {
  return secret.split(',')
}

/** Tells whether a text is one of those, in the same time whether it is or not. */
export function comparing(right: readonly string[]): (said: string) => boolean {
  const wanted = right.map(hashOf)
  return (said) => {
    const found = hashOf(said)
    return wanted.filter((each) => timingSafeEqual(found, each)).length > 0
  }
}

function hashOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** Reason why the other member is not accepted; undefined if it is. */
export function incompatibility(own: ProtocolIdentity, other: ProtocolIdentity):
  | string
  | undefined {
  if (own.cluster !== other.cluster) {
    return `This member belongs to the cluster "${own.cluster}" and not to "${other.cluster}": ` +
      'give members the name of their own cluster.'
  }
  if (Math.abs(own.version - other.version) > 1) {
    return `This member speaks version ${own.version} of the protocol, the other one version ` +
      `${other.version}: upgrade by one version at a time.`
  }
  return undefined
}
