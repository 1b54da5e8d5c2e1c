/** A front door with deployments in memory, and callers with keys of several tenants and roles. */

import { createHash } from 'node:crypto'

import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'

import { keyAdmin, TenantKeys } from '../../../../src/access/index.ts'
import type { CallerRole } from '../../../../src/access/index.ts'
import type { Deployment } from '../../../../src/deployment/index.ts'
import { addressReader } from '../../../../src/frontdoor/index.ts'
import type { FrontDoorOptions } from '../../../../src/frontdoor/index.ts'
import { answerFault } from '../../../support/contract-answer.ts'
import { virtualEnv } from '../../../support/env.ts'
import { memoryDeployments } from '../../../support/memory-deployments.ts'
import type { PartsOfTest } from '../../../support/memory-deployments.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { call, openDoor } from '../open-front-door.ts'
import type { Answer } from '../open-front-door.ts'

export type Send = (method: string, path: string, body?: unknown,
  headers?: Record<string, string>) => Promise<Answer>

const graphs = [{ graphId: 'agent', description: null, stateChannels: ['messages'], plain: true,
  nodes: ['a'] }]

/** With keys. `keyOf` makes a key, `as` sends with one. */
export async function openKeyed(more: PartsOfTest = {}, options: Partial<FrontDoorOptions> = {}) {
  const deployments = memoryDeployments(graphs, more)
  const table = new MemoryKeys()
  const parts = { table, region: 'us', env: virtualEnv() }
  const door = await openDoor({ deployments, tenantKeys: new TenantKeys(parts),
    auth: { keys: table, region: 'us', regionUrls: { us: '' }, sessions: null,
      addressOf: addressReader([]) }, ...options })
  const admin = keyAdmin(parts)
  const keyOf = async (tenant: string, role: CallerRole = 'developer',
    deployment: string | null = null) =>
    (await admin.create({ tenant, role, name: '', deployment, expiresInMs: null })).key
  const as = async (...who: Parameters<typeof keyOf>): Promise<Send> => {
    const key = await keyOf(...who)
    return async (method, path, body, headers) => {
      const answer = await call(door, method, path, body, { 'x-api-key': key, ...headers })
      await requireDescribed(method, path, answer)
      return answer
    }
  }
  return { door, deployments, keyOf, as }
}

/** All that the control API answers is as the contract has it, and nothing else. */
async function requireDescribed(method: string, path: string,
  { status, headers, json }: Answer): Promise<void> {
  const isJson = headers.get('content-type')?.startsWith('application/json')
  if (status >= 400 || !isJson || !path.startsWith('/control/v1/')) return
  const fault = await answerFault(method, path.split('?', 1)[0]!, status, async () => json)
  if (fault !== undefined) throw new Error(fault)
}

/** A deployment of `acme`, with something active. */
export async function activeIn({ records }: ReturnType<typeof memoryDeployments>, name = 'shop',
  more: Partial<Deployment> = {}): Promise<Deployment> {
  const made = await records.create({ name, tenant: 'acme' })
  return await records.change(made, { active: 'r1', ...more })
}

/** A chunk, and a manifest of one archive that is this chunk. */
export function aManifest(text = 'the files') {
  const chunk = Buffer.from(text)
  const sha256 = createHash('sha256').update(chunk).digest('hex')
  const manifest = { version: 1, node: 24, platform: null, root: '', config: 'langgraph.json',
    graphs: [{ graph_id: 'agent', path: 'agent.ts', export: 'agent' }],
    archives: [{ kind: 'own', path: '', hash: sha256, bytes: chunk.length, files: 1,
      chunks: [{ sha256, bytes: chunk.length }] }], lock_sha256: '0'.repeat(64), env: {},
    wants_env: [], source: { commit: null, branch: null, dirty: false } }
  const { kind: _, path: __, ...archive } = manifest.archives[0]!
  return { chunk, sha256, manifest, archive }
}

/** A WebSocket with a key. */
export function socketAt(url: string, key: string) {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers: { 'x-api-key': key } })
  onTestFinished(() => socket.terminate())
  const next = (what: string) =>
    new Promise<unknown[]>((resolve, reject) => {
      socket.once('error', reject)
      socket.once(what, (...given: unknown[]) => resolve(given))
    })
  return { socket, next }
}
