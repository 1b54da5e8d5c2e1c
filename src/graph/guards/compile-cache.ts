/**
 * Loaded after the guards in each thread of a graph process: opens the compile cache. The guards
 * themselves are never loaded from it, because code of the deployment can write there.
 */

import { enableCompileCache } from 'node:module'

import { compileCacheVariable } from './thread-options.ts'

const { [compileCacheVariable]: folder } = process.env
if (folder !== undefined) {
  delete process.env[compileCacheVariable]
  process.env['NODE_COMPILE_CACHE'] = folder
  enableCompileCache(folder)
}
