/** Records of deployments in the embedded store, through the threads of a real platform. */

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import { openEgress } from '../../src/egress/index.ts'
import { catalogClient, catalogKind, openPlatform } from '../../src/platform/index.ts'
import { operatorActors, placeOfStore } from '../../src/server/operator/operator-actors.ts'
import { embeddedSpans, openEmbeddedStore } from '../../src/store/embedded/index.ts'
import { describeDeployments } from './deployments-contract.ts'
import type { OpenRecords } from './deployments-contract.ts'

const env = systemEnv({ level: 'silent' })
const directory = mkdtempSync(join(tmpdir(), 'heddle-deployments-'))
afterAll(() => rm(directory, { recursive: true, force: true }))

async function open(): Promise<OpenRecords> {
  const store = await openEmbeddedStore({ directory, env })
  const { activations, router } = operatorActors(await placeOfStore(store, env), env,
    () => [catalogKind({ log: store.log, env })])
  const catalogs = catalogClient(router)
  const egress = openEgress({ env, version: 'test', proxy: undefined, allowed: [] })
  const platform = openPlatform({ store: embeddedSpans({ directory, diskBytes: 2 ** 40 }), catalogs,
    env, egress })
  return { catalogs, documents: platform.documents, close: async () => {
    await platform.close()
    await activations.close(AbortSignal.abort())
    await egress.close()
    await store.close()
  } }
}

describeDeployments('embedded', open)
