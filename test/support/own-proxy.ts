/** A proxy of a test file's own, which is closed when all its tests are done. */

import { afterAll } from 'vitest'
import { makeCuttingProxy } from './cutting-proxy.ts'
import type { CuttingProxy } from './cutting-proxy.ts'

export function useCuttingProxy(): CuttingProxy {
  const proxy = makeCuttingProxy()
  afterAll(() => proxy.close())
  return proxy
}
