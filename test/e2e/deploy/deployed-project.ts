/** A project that tests deploy: its packages are those that are installed here. */

import { createHash } from 'node:crypto'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'

import { buildRevision, platformHere } from '../../../src/revision/index.ts'
import type { Manifest } from '../../../src/revision/index.ts'
import { linkPackages } from '../../support/linked-packages.ts'
import { writeTree } from '../../unit/revision/trees.ts'
import type { Leaves } from '../../unit/revision/trees.ts'

/** A revision as it was built: what is sent. */
export interface Built {
  readonly manifest: Manifest
  readonly chunks: ReadonlyMap<string, Buffer>
}

/** A folder with a project. */
export interface DeployedProject {
  readonly folder: string
  write(leaves: Leaves): Promise<void>
  /** Writes the graph `agent`, then builds. */
  built(code?: string): Promise<Built>
  remove(): Promise<void>
}

/** Makes a project whose graph `agent` is in `agent.ts`. */
export async function deployedProject(more: Leaves = {},
  dependencies: Readonly<Record<string, string>> = {}): Promise<DeployedProject> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'heddle-deployed-')))
  const write = (leaves: Leaves) => writeTree(folder, leaves)
  await write({
    'langgraph.json': '{"graphs": {"agent": "./agent.ts:agent"}}',
    'package.json': JSON.stringify({ name: 'deployed', type: 'module',
      dependencies: { '@langchain/langgraph': '*', '@langchain/core': '*', ...dependencies } }),
    'package-lock.json': '{}',
    ...more,
  })
  await linkPackages(folder, folder)
  return {
    folder,
    write,
    built: async (code) => {
      if (code !== undefined) await write({ 'agent.ts': code })
      const chunks = new Map<string, Buffer>()
      const { manifest } = await buildRevision({ config: folder, platform: platformHere(),
        keep: ({ sha256, data }) => {
          chunks.set(sha256, data)
          return Promise.resolve()
        } })
      return { manifest, chunks }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** A graph of one node `reply`, which has this body. */
export function replying(body: string, imports = ''): string {
  return `import { MessagesAnnotation, StateGraph, interrupt } from '@langchain/langgraph'
${imports}
const say = (content) => ({ messages: [{ role: 'ai', content: String(content) }] })
export const agent = new StateGraph(MessagesAnnotation)
  .addNode('reply', async (state, config) => { ${body} })
  .addEdge('__start__', 'reply').compile()
void interrupt
`
}

/** The same revision with another tar file as its own files, and what is said of that. */
export function withOwnFiles({ manifest, chunks }: Built, tar: Buffer,
  said: { readonly bytes?: number; readonly hash?: string; readonly files?: number;
    readonly cutAt?: number } = {}): Built {
  const whole = zstdCompressSync(tar, { params: { [constants.ZSTD_c_windowLog]: 23 } })
  const data = whole.subarray(0, said.cutAt ?? whole.length)
  const chunk = { sha256: sha256(data), bytes: data.length }
  return {
    manifest: { ...manifest, archives: manifest.archives.map((archive) =>
      archive.kind !== 'own'
        ? archive
        : { ...archive, hash: said.hash ?? sha256(tar), bytes: said.bytes ?? tar.length,
          files: said.files ?? 1, chunks: [chunk] }
    ) },
    chunks: new Map([...chunks, [chunk.sha256, data]]),
  }
}

/** In hexadecimal digits. */
export function sha256(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}
