/** What records of deployments promise on every store, to members that open it again. */

import { randomBytes } from 'node:crypto'

import { afterAll, describe, expect, it } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import { deploymentSecretsOver, deploymentsOver } from '../../src/deployment/index.ts'
import type { Deployments, DeploymentSecrets } from '../../src/deployment/index.ts'
import { secretsOver, surveySecrets } from '../../src/platform/index.ts'
import type { CatalogClient, DocumentPort } from '../../src/platform/index.ts'
import { manifestOf, sha256 } from '../support/project-manifest.ts'
import { repeats } from '../support/repeats.ts'

/** A member with a store that it has opened. */
export interface OpenRecords {
  readonly catalogs: CatalogClient
  readonly documents: DocumentPort
  close(): Promise<void>
}

const env = systemEnv({ level: 'silent' })
const chunkBytes = 4 * 1024 * 1024
const page = { limit: 10, offset: 0 }

/** `open` opens the same store each time. */
export function describeDeployments(name: string, open: () => Promise<OpenRecords>): void {
  const key = randomBytes(32)
  /** Lives of the store. The last one has all visits that are left. */
  const lives = repeats({ day: 2, night: 4 })
  let visits = 0
  let member: OpenRecords | undefined
  const end = async () => {
    await member?.close()
    member = undefined
  }
  const visit = async <Result>(
    work: (
      member: OpenRecords & { readonly deployments: Deployments;
        readonly secrets: DeploymentSecrets },
    ) => Promise<Result>,
  ) => {
    visits += 1
    member ??= await open()
    const secrets = deploymentSecretsOver(secretsOver(member.catalogs, () => [key], env), env)
    const deployments = deploymentsOver({ ...member, secrets, env })
    const result = await work({ ...member, secrets, deployments })
    if (visits < lives) await end()
    return result
  }

  describe(`the deployments of the ${name} store`, () => {
    afterAll(end)

    it('are what was stored, until they are removed', { timeout: 120_000 }, async () => {
      // A text of one byte a character, as large as a chunk may be.
      const large = 'a'.repeat(chunkBytes)
      const project = { own: ['own'], packages: { p: [large, 'end'] } }
      const texts = ['own', large, 'end']
      const options = { manifest: manifestOf(project), message: 'first', by: 'ann' }
      const shop = await visit(async ({ deployments, secrets }) => {
        const made = await deployments.create({ name: 'shop', tenant: 'acme',
          hosts: ['shop.example.org'] })
        const keptSecrets = await secrets.seal(made, new Map([['KEY', 'v'.repeat(65_536)]]))
        const kept = await deployments.change(made, { keptSecrets })
        await secrets.settle(kept)
        const { revision, missing } = await deployments.beginRevision(made, options)
        expect(missing).toEqual(texts.map((text) => sha256(text)))
        for (const text of texts.slice(0, 2)) {
          await deployments.putChunk(revision, sha256(text), Buffer.from(text))
        }
        await deployments.note(made.id, { kind: 'revision', by: 'ann', data: { n: 1 } })
        await deployments.note(made.id, { kind: 'revision', by: 'ann', data: { n: 2 } })
        return kept
      })
      await visit(async ({ deployments, secrets, catalogs }) => {
        expect(await deployments.get('shop')).toEqual({ ...shop, revisionCount: 1 })
        const again = await deployments.beginRevision(shop, options)
        expect(again).toMatchObject({ known: true, missing: [sha256('end')] })
        await deployments.putChunk(again.revision, sha256('end'), Buffer.from('end'))
        const ready = await deployments.changeRevision(again.revision, { state: 'ready',
          expiresAtMs: null,
          graphs: [{ graphId: 'agent', nodes: ['ask'], stateChannels: ['m'], description: null,
            plain: true }] })
        expect(await deployments.revisions(shop, page)).toEqual([ready])
        const read = deployments.readChunks(shop.id)
        for (const text of texts) expect(sha256(await read(sha256(text)))).toBe(sha256(text))
        expect(await deployments.events(shop.id, 0, 10))
          .toMatchObject([{ seq: 1, data: { n: 1 } }, { seq: 2, data: { n: 2 } }])
        expect(await secrets.reveal(shop.id)).toEqual({ KEY: 'v'.repeat(65_536) })
        expect(
          await surveySecrets({ catalogs, env, keys: () => [key] }, { rekey: false, tenants: [] }),
        ).toMatchObject({ stored: 2, unopened: 0 })
      })
      await visit(async ({ deployments }) => {
        const next = { ...options, manifest: manifestOf({ ...project, own: ['own 2'] }) }
        const { revision, missing } = await deployments.beginRevision(shop, next)
        expect(missing).toEqual([sha256('own 2')])
        await deployments.removeRevision(shop, await deployments.revision(shop, 'r1'))
        expect(await deployments.missing(revision)).toEqual([sha256('own 2')])
        await expect(deployments.readChunks(shop.id)(sha256('own')))
          .rejects.toMatchObject({ code: 'not_found' })
      })
      await visit(async ({ deployments, secrets, documents }) => {
        await deployments.remove(await deployments.get('shop'))
        await expect(deployments.get('shop')).rejects.toMatchObject({ code: 'not_found' })
        for (const kind of ['revision_chunk', 'revision_manifest', 'deployment_event'] as const) {
          const place = { tenant: '@', kind, owner: shop.id }
          expect(await documents.listDocuments(place, { limit: 10 })).toEqual([])
        }
        expect(await secrets.list(shop.id)).toEqual([])
        // The name stays its tenant's for a while; the host is free.
        await expect(deployments.create({ name: 'shop', tenant: 'other' })).rejects
          .toMatchObject({ code: 'exists' })
        await deployments.create({ name: 'shop2', tenant: 'other', hosts: ['shop.example.org'] })
        await deployments.create({ name: 'shop', tenant: 'acme' })
      })
    })
  })
}
