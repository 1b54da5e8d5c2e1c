/** The certificates of a member, in files that may be replaced at any time. */

import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

import { ClusterError, messageOf } from '../errors.ts'
import { throttleLog } from '../flow/throttle-log.ts'
import type { Env } from '../runtime/env.ts'
import type { MemberTls } from './member-trust.ts'

/** The paths of files in PEM, and the name in all certificates if they share one. */
export interface TlsFiles {
  readonly ca: string
  readonly cert: string
  readonly key: string
  readonly name?: string
}

type Pems = Pick<MemberTls, 'ca' | 'cert' | 'key'>

/** Time between two looks at the files. */
const lookMs = 1_000
/** Files that cannot be used must not fill the log. */
const faultyMs = 600_000

/**
 * Reads the certificates, and again whenever the files have changed. Changed files that cannot be
 * used are left alone: the certificates before them stay. Throws CodedError with a message, now
 * only: for a missing file, and for an expired certificate.
 */
export function readMemberTls(files: TlsFiles, env: Env): MemberTls {
  let [current, stamp, lookedMs] = [read(files, env), stampOf(files), env.monotonicMs()]
  const report = throttleLog(env, faultyMs)
  const newest = () => {
    if (env.monotonicMs() - lookedMs < lookMs) return current
    lookedMs = env.monotonicMs()
    const found = stampOf(files)
    if (found === stamp) return current
    try {
      const pems = read(files, env)
      // A new certificate whose key is still the old one comes to nothing.
      createSecureContext({ ca: pems.ca, cert: pems.cert, key: pems.key })
      ;[current, stamp] = [pems, found]
      env.log.info('The certificates of this member were read again.')
    } catch (error) {
      report(() =>
        env.log.warn('The changed certificates of this member cannot be used.', { error })
      )
    }
    return current
  }
  return {
    get ca() {
      return newest().ca
    },
    get cert() {
      return newest().cert
    },
    get key() {
      return newest().key
    },
    ...files.name !== undefined && { name: files.name },
  }
}

function read({ ca, cert, key }: TlsFiles, env: Env): Pems {
  const [caPem, certPem, keyPem] = [readPem(ca), readPem(cert), readPem(key)]
  checkTime(ca, caPem, env)
  checkTime(cert, certPem, env)
  return { ca: caPem, cert: certPem, key: keyPem }
}

/** Different if a file was replaced. */
function stampOf({ ca, cert, key }: TlsFiles): string {
  return [ca, cert, key].map((path) => {
    const file = statSync(path, { throwIfNoEntry: false })
    return `${file?.ino}/${file?.mtimeMs}/${file?.size}`
  }).join()
}

function readPem(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new ClusterError('invalid', `The file ${path} cannot be read: ${messageOf(error)}`)
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
