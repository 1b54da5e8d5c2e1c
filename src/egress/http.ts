/** Outgoing HTTP: straight to addresses that may be called, or through a proxy. */

import type { IncomingHttpHeaders } from 'node:http'

import { Agent, ProxyAgent, request } from 'undici'

import type { AddressRules } from './address-rules.ts'
import { guardedConnector, requireOpenEverywhere } from './guarded-connector.ts'
import type { Resolve } from './guarded-connector.ts'
import { hostOf } from './url-rules.ts'

/** Address rules, name resolution and proxy of requests. */
export interface HttpOptions {
  readonly rules: AddressRules
  readonly resolve: Resolve
  /** An http(s) URL of a proxy for everything; undefined without one. */
  readonly proxy: string | undefined
}

/** One request, which follows no redirects. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** The answer to one request. Its body must be read or its connection stays open. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: AsyncIterable<Uint8Array>
}

/** Sends requests. Belongs to `Egress`. */
export interface Http {
  /** Throws `forbidden` if the host may not be called. */
  requireOpen(url: URL): Promise<void>
  /** Sends a request. Throws `forbidden` as well, if that shows only when it connects. */
  ask(asked: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>
  /** Cuts everything off. */
  close(): Promise<void>
}

const connectMs = 5_000

/** Opens the way out. With a proxy, hosts are checked by `requireOpen` only. */
export function openHttp({ rules, resolve, proxy }: HttpOptions): Http {
  const dispatcher = proxy === undefined
    ? new Agent({ connect: guardedConnector({ rules, resolve, timeoutMs: connectMs }) })
    : new ProxyAgent({ uri: proxy, connectTimeout: connectMs })
  return {
    requireOpen: async (url) => {
      if (proxy !== undefined) await requireOpenEverywhere(hostOf(url), resolve, rules)
    },
    ask: async ({ method, url, headers, body }, signal) => {
      const answer = await request(url, { dispatcher, method, headers, body, signal,
        headersTimeout: 0, bodyTimeout: 0 })
      // An answer may be cut while nobody reads it. Who reads it gets the error.
      answer.body.on('error', () => {})
      return { status: answer.statusCode, headers: answer.headers, body: answer.body }
    },
    close: () => dispatcher.destroy(),
  }
}
