/** How members authenticate each other: a secret that all of them have, certificates, or both. */

import { X509Certificate, hash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'

import { assert, ClusterError } from '../errors.ts'
import type { Env } from '../runtime/env.ts'

/** At least one of the two is set. */
export interface MemberTrust {
  /** It is sent unencrypted: if the network is not trusted, use certificates as well. */
  readonly secret?: string
  /** Both sides show a certificate that `ca` signed. */
  readonly tls?: MemberTls
}

/** All in PEM. */
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
  } else if (!secretForm.test(secret)) {
    throw new ClusterError('invalid',
      'The secret of a cluster has 16 to 256 characters of ASCII, ' +
        'without spaces.')
  }
}

/** Tells whether a text is `right`, in the same time whether it is or not. */
export function comparing(right: string): (said: string) => boolean {
  const wanted = hashOf(right)
  return (said) => timingSafeEqual(hashOf(said), wanted)
}

function hashOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** The paths of files in PEM, and the name in all certificates if they share one. */
export interface TlsFiles {
  readonly ca: string
  readonly cert: string
  readonly key: string
  readonly name?: string
}

/** Throws CodedError with a message: for a missing file, and for an expired certificate. */
export async function readMemberTls({ ca, cert, key, name }: TlsFiles,
  env: Env): Promise<MemberTls> {
  const [caPem, certPem, keyPem] = await Promise.all([ca, cert, key].map(readPem))
  checkTime(ca, caPem!, env)
  checkTime(cert, certPem!, env)
  return { ca: caPem!, cert: certPem!, key: keyPem!, ...name !== undefined && { name } }
}

async function readPem(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new ClusterError('invalid',
      `The file ${path} cannot be read: ${(error as Error).message}`)
  }
}

function checkTime(path: string, pem: Buffer, env: Env): void {
  let certificate
  try {
    certificate = new X509Certificate(pem)
  } catch {
    throw new ClusterError('invalid', `The file ${path} holds no certificate in PEM.`)
  }
  const { validFromDate, validToDate } = certificate
  if (validToDate.getTime() <= env.nowMs()) {
    throw new ClusterError('invalid', `The certificate in ${path} expired on ` +
      `${validToDate.toISOString()}: put a new one there.`)
  }
  if (validFromDate.getTime() > env.nowMs()) {
    throw new ClusterError('invalid', `The certificate in ${path} is valid from ` +
      `${validFromDate.toISOString()}: wait, or set the clock.`)
  }
}

/** Why the other member is not accepted; undefined if it is. */
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
