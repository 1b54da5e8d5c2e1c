/**
 * Cutting proxies in a thread of their own: what a test does beside them on its own thread never
 * slows what goes through them. It is started by roads.ts.
 */

import { parentPort } from 'node:worker_threads'
import { makeCuttingProxy } from './cutting-proxy.ts'

/** What the thread is asked for, of a proxy that it knows by a number. */
export type Asked =
  | { readonly kind: 'lead', readonly proxy: number, readonly to: string, readonly id: number }
  | { readonly kind: 'hold' | 'release', readonly proxy: number }

/** Where a way begins that was asked for. */
export interface Laid { readonly id: number, readonly url: string }

const proxies = new Map<number, ReturnType<typeof makeCuttingProxy>>()

function proxyOf(number: number): ReturnType<typeof makeCuttingProxy> {
  const proxy = proxies.get(number) ?? makeCuttingProxy()
  proxies.set(number, proxy)
  return proxy
}

parentPort!.on('message', (asked: Asked) => {
  const proxy = proxyOf(asked.proxy)
  if (asked.kind !== 'lead') return proxy[asked.kind]()
  const { id, to } = asked
  void proxy.to(to).then((url) => parentPort!.postMessage({ id, url } satisfies Laid))
})
