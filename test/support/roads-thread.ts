/**
 * Cutting proxies in a thread of their own, so that the test's own thread never slows their
 * traffic. Started by roads.ts.
 */

import { parentPort } from 'node:worker_threads'
import { makeCuttingProxy } from './cutting-proxy.ts'

/** Requests to the thread; each proxy has a number. */
export type Asked =
  | { readonly kind: 'lead'; readonly proxy: number; readonly to: string; readonly id: number }
  | { readonly kind: 'hold' | 'release'; readonly proxy: number }

/** The answer to `lead`: the URL of the new route. */
export interface Laid {
  readonly id: number
  readonly url: string
}

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
