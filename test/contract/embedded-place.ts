/** A directory of its own for an embedded store under test. */

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openEmbeddedStore } from '../../src/store/embedded/index.ts'
import { virtualEnv } from '../support/env.ts'
import type { StorePlace } from './store-place.ts'

export function embeddedPlace(): StorePlace & { readonly directory: string } {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-store-'))
  return {
    directory,
    open: () => openEmbeddedStore({ directory, env: virtualEnv() }),
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
