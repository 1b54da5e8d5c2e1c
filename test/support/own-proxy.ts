/** A proxy for one test file, which is closed after its tests. */

import { afterAll } from 'vitest'
import { makeCuttingProxy } from './cutting-proxy.ts'
import type { CuttingProxy } from './cutting-proxy.ts'

/** The proxy of this test file. */
export function useCuttingProxy(): CuttingProxy {
  const proxy = makeCuttingProxy()
  afterAll(() => proxy.close())
  return proxy
}
