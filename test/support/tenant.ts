/** A tenant for a test file, which sees nothing of what other files do on the same server. */

import { randomUUID } from 'node:crypto'

import type { Client } from '@langchain/langgraph-sdk'
import { beforeAll } from 'vitest'

import { openKeyMaker } from './keys.ts'
import { clientOf, useServer } from './server.ts'
import type { ServerInUse } from './server.ts'
import { ask } from './wire.ts'
import type { JsonAnswer } from './wire.ts'

/** A tenant on a server with keys. */
export interface TenantInUse {
  readonly url: string
  /** A key of a developer, and the headers with it. */
  readonly key: string
  readonly headers: Record<string, string>
  /** The official client with that key, without retries. */
  readonly client: Client
  readonly process: ServerInUse['process']
  /** Sends a request with that key, as `ask` does. */
  ask(method: string, path: string, body?: unknown,
    headers?: Record<string, string>): Promise<JsonAnswer>
}

/**
 * A new tenant for a test file, on the server with keys that files share; on one of its own for
 * those that kill it. With HEDDLE_TEST_URL it is whoever calls there without a key.
 */
export function useTenant({ kills = false } = {}): TenantInUse {
  const server = useServer(kills ? { project: 'conformance', args: ['--auth', 'keys'] } : 'keys')
  let key = ''
  beforeAll(async () => {
    if (process.env['HEDDLE_TEST_URL'] !== undefined) return
    const maker = await openKeyMaker(server.place)
    key = await maker.make(`tenant-${randomUUID()}`)
    await maker.close()
  })
  const headersOf = (): Record<string, string> => (key === '' ? {} : { 'x-api-key': key })
  let client: Client | undefined
  return {
    get url() {
      return server.url
    },
    get key() {
      return key
    },
    get headers() {
      return headersOf()
    },
    get client() {
      return client ??= clientOf(server.url, headersOf())
    },
    get process() {
      return server.process
    },
    ask: (method, path, body, headers) =>
      ask(server.url, method, path, body, { ...headersOf(), ...headers }),
  }
}
