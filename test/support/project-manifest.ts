/** Manifests of projects with made-up chunks, for tests that store revisions. */

import { createHash } from 'node:crypto'

import type { Manifest } from '../../src/revision/index.ts'

/** A project: the texts of its own chunks, and those of each of its packages. */
export interface MadeProject {
  readonly own: readonly string[]
  readonly packages?: Readonly<Record<string, readonly string[]>>
}

/** SHA-256 in hexadecimal digits. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** Its manifest. */
export function manifestOf({ own, packages = {} }: MadeProject): Manifest {
  const archive = (kind: 'own' | 'package', path: string, chunks: readonly string[]) => ({ kind,
    path, hash: sha256(chunks.join('')), bytes: 10_000, files: 1,
    chunks: chunks.map((text) => ({ sha256: sha256(text), bytes: Buffer.byteLength(text) })) })
  return {
    version: 1,
    node: 24,
    platform: null,
    root: '',
    config: 'langgraph.json',
    graphs: [{ graph_id: 'agent', path: 'agent.ts', export: 'graph' }],
    archives: [archive('own', '', own),
      ...Object.entries(packages).map(([name, chunks]) =>
        archive('package', `node_modules/${name}`, chunks)
      )],
    lock_sha256: sha256('lock'),
    env: {},
    wants_env: ['API_KEY'],
    source: { commit: 'c0ffee', branch: 'main', dirty: false },
  }
}

/** The texts of its chunks. */
export function textsOf({ own, packages = {} }: MadeProject): readonly string[] {
  return [...new Set([...own, ...Object.values(packages).flat()])]
}
