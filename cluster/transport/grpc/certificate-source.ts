/** Gives the server of a member its certificates, and those that replace them. */

import type { experimental } from '@grpc/grpc-js'

import type { Env } from '../../runtime/env.ts'
import type { MemberTls } from '../member-trust.ts'

type Provider = experimental.CertificateProvider
type CaListener = Parameters<Provider['addCaCertificateListener']>[0]
type IdentityListener = Parameters<Provider['addIdentityCertificateListener']>[0]

/** Time until a replaced certificate is shown. */
const lookMs = 10_000

/** Looks at the certificates as long as a server listens with them. */
export class CertificateSource implements Provider {
  readonly #tls: MemberTls
  readonly #env: Pick<Env, 'every'>
  readonly #authorities = new Set<CaListener>()
  readonly #identities = new Set<IdentityListener>()
  #shown: MemberTls['cert'] | undefined
  #trusted: MemberTls['ca'] | undefined
  #stopLooking: (() => void) | undefined

  constructor(tls: MemberTls, env: Pick<Env, 'every'>) {
    this.#tls = tls
    this.#env = env
  }

  addCaCertificateListener(listener: CaListener): void {
    this.#authorities.add(listener)
    // Only then is whoever listens ready for it.
    queueMicrotask(() => listener({ caCertificate: this.#tls.ca }))
    this.#begin()
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#authorities.delete(listener)
    this.#end()
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#identities.add(listener)
    queueMicrotask(() => listener({ certificate: this.#tls.cert, privateKey: this.#tls.key }))
    this.#begin()
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#identities.delete(listener)
    this.#end()
  }

  #begin(): void {
    this.#trusted = this.#tls.ca
    this.#shown = this.#tls.cert
    this.#stopLooking ??= this.#env.every(lookMs, () => this.#look())
  }

  #end(): void {
    if (this.#authorities.size > 0 || this.#identities.size > 0) return
    this.#stopLooking?.()
    this.#stopLooking = undefined
  }

  #look(): void {
    const { ca: caCertificate, cert: certificate, key: privateKey } = this.#tls
    if (caCertificate !== this.#trusted) {
      for (const listener of this.#authorities) listener({ caCertificate })
    }
    if (certificate !== this.#shown) {
      for (const listener of this.#identities) listener({ certificate, privateKey })
    }
    ;[this.#trusted, this.#shown] = [caCertificate, certificate]
  }
}
