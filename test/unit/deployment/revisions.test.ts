/** Revisions: begun, uploaded, shared within a deployment only, removed, and never half there. */

import { describe, expect, it } from 'vitest'

import type { RevisionUse } from '../../../src/deployment/index.ts'
import { clockAhead } from '../../support/clock-ahead.ts'
import { manifestOf, sha256 } from '../../support/project-manifest.ts'
import { RecordsHouse } from './records-house.ts'

const page = { limit: 100, offset: 0 }
const nobody: ReadonlyMap<string, RevisionUse> = new Map()
const packages = { p: ['p one', 'p two'], q: ['q'] }
const project = { own: ['own 1'], packages }
const changed = { own: ['own 2'], packages }

describe('a revision', () => {
  it('is ready when all of its chunks were uploaded', async () => {
    const house = new RecordsHouse()
    const shop = await house.create()
    const { revision, missing, known } = await house.begin(shop, project)
    expect(revision).toMatchObject({ name: 'r1', state: 'uploading', by: 'ann', files: 3, bytes: 16,
      wantsEnv: ['API_KEY'], source: { commit: 'c0ffee' }, deployment: shop.id })
    expect(revision.expiresAtMs! - revision.createdAtMs).toBe(24 * 3_600_000)
    expect([known, missing]).toEqual([false,
      ['own 1', 'p one', 'p two', 'q'].map((text) => sha256(text))])
    await house.upload(revision, project, missing.slice(0, 3))
    expect(await house.deployments.missing(revision)).toEqual([sha256('q')])
    await house.upload(revision, project, missing)
    expect(await house.deployments.missing(revision)).toEqual([])
    expect(await house.deployments.manifest(revision)).toEqual(manifestOf(project))
    expect(await house.readable(shop, project)).toHaveLength(4)
    expect(await house.deployments.revision(shop, 'r1')).toEqual(revision)
    expect(await house.deployments.get('shop')).toMatchObject({ revisionCount: 1, step: 0 })
  })

  it('is asked only for what no other revision of its deployment has', async () => {
    const house = new RecordsHouse()
    const [shop, other] = [await house.create(), await house.create('other')]
    await house.deploy(shop, project)
    expect(await house.begin(shop, changed)).toMatchObject({ missing: [sha256('own 2')],
      revision: { name: 'r2' } })
    expect((await house.begin(other, project)).missing).toHaveLength(4)
    expect(await house.readable(other, project)).toEqual([])
  })

  it('is the one with the same hash, unless that was refused or removed', async () => {
    const house = new RecordsHouse()
    const shop = await house.create()
    const first = await house.deploy(shop, project)
    expect(await house.begin(shop, project)).toEqual({ revision: first, missing: [], known: true })
    await house.deployments.changeRevision(first, { state: 'refused', reason: 'It throws.' })
    const second = await house.begin(shop, project)
    expect(second).toMatchObject({ known: false, missing: [], revision: { name: 'r2' } })
    await house.deployments.removeRevision(shop, second.revision)
    expect(await house.begin(shop, project)).toMatchObject({ revision: { name: 'r3' } })
  })

  it('of an upload that goes on has its whole time again', async () => {
    const house = new RecordsHouse()
    const shop = await house.create()
    const { revision } = await house.begin(shop, project)
    house.env.advance(3_600_000)
    const again = await house.begin(shop, project)
    expect(again.known).toBe(true)
    expect(again.revision.expiresAtMs! - revision.expiresAtMs!).toBe(3_600_000)
  })

  it('has the manifest that was built', async () => {
    const house = new RecordsHouse()
    const { deployments } = house
    const shop = await house.create()
    await house.deploy(shop, project)
    const begun = await deployments.beginBuild(shop, { message: 'm', by: 'ann' })
    expect(begun).toMatchObject({ name: 'r2', state: 'building', hash: '' })
    await expect(deployments.manifest(begun)).rejects.toMatchObject({ code: 'not_found' })
    const built = await deployments.endBuild(shop, begun, manifestOf(changed))
    expect(built).toMatchObject({ id: begun.id, name: 'r2', state: 'uploading', files: 3 })
    expect(await deployments.missing(built)).toEqual([sha256('own 2')])
    await house.upload(built, changed, [sha256('own 2')])
    expect(await deployments.missing(built)).toEqual([])
    await expect(deployments.endBuild(shop, begun, manifestOf(changed)))
      .rejects.toMatchObject({ code: 'stale' })
  })

  it('is refused with a manifest that cannot be', async () => {
    const house = new RecordsHouse()
    const shop = await house.create()
    const said = (manifest: unknown) =>
      house.deployments.beginRevision(shop, { manifest: manifest as never, message: '', by: '' })
    await expect(said({ ...manifestOf(project), graphs: [] }))
      .rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('graphs') })
    const [own] = manifestOf(project).archives
    await expect(said({ ...manifestOf(project), archives: [{ ...own, files: 60_000 }] }))
      .rejects.toMatchObject({ code: 'too_large' })
    expect(await house.deployments.revisions(shop, page)).toEqual([])
  })

  it('changes its state only from the one that was read', async () => {
    const house = new RecordsHouse()
    const shop = await house.create()
    const { revision } = await house.begin(shop, project)
    await house.deployments.removeRevision(shop, revision)
    await expect(house.deployments.changeRevision(revision, { state: 'ready' }))
      .rejects.toMatchObject({ code: 'stale' })
  })
})

describe('a chunk', () => {
  it('is refused with other bytes, or if the manifest does not name it', async () => {
    const house = new RecordsHouse()
    const shop = await house.create()
    const { revision } = await house.begin(shop, project)
    const put = (name: string, text: string) =>
      house.deployments.putChunk(revision, sha256(name), Buffer.from(text))
    await expect(put('own 1', 'own !')).rejects.toMatchObject({ code: 'invalid' })
    await expect(put('own 1', 'own 1, and more')).rejects.toMatchObject({ code: 'invalid' })
    await expect(put('nobody', 'nobody')).rejects.toMatchObject({ code: 'not_found' })
    expect(await house.deployments.missing(revision)).toHaveLength(4)
  })

  it('is never read with bytes that are not true', async () => {
    const house = new RecordsHouse()
    const shop = await house.create()
    await house.deploy(shop, project)
    const place = { tenant: '@', kind: 'revision_chunk', owner: shop.id } as const
    await house.documents.putDocuments(place, [{ key: `${sha256('q')}/1`,
      body: Buffer.from('bad') }])
    const read = house.deployments.readChunks(shop.id)
    await expect(read(sha256('q'))).rejects.toThrow('other bytes')
    await house.documents.putDocuments(place, [{ key: `${sha256('q')}/2`, body: Buffer.from('q') }])
    expect((await read(sha256('q'))).toString()).toBe('q')
    await expect(read(sha256('none'))).rejects.toThrow(`The chunk ${sha256('none')} is not there`)
  })
})

describe('the room of a tenant', () => {
  it('is that of all of its deployments, and counts each chunk once', async () => {
    const house = new RecordsHouse({ bytes: 40 })
    const [shop, other, foreign] = [await house.create(), await house.create('other'),
      await house.create('foreign', 'other')]
    const first = await house.deploy(shop, project) // 16 bytes.
    await house.deploy(shop, changed) // 5 more.
    await house.deploy(other, project) // 16 more.
    const more = { own: ['more'] } // 4 more.
    await expect(house.begin(other, more)).rejects.toMatchObject({ code: 'full' })
    await house.begin(foreign, more)
    await house.deployments.removeRevision(shop, first) // 5 fewer.
    await house.begin(other, more)
    await expect(house.begin(other, { own: ['even more'] })).rejects.toMatchObject({ code: 'full' })
  })

  it('is not overrun by two who race', async () => {
    const house = new RecordsHouse({ bytes: 20 })
    const both = [await house.create(), await house.create('other')]
    await Promise.allSettled(
      both.map((each) => house.begin(each, project, house.caller(() => new Promise(setImmediate)))),
    )
    const all = await Promise.all(both.map((each) => house.deployments.revisions(each, page)))
    expect(all.flat().filter(({ state }) => state !== 'removed').length).toBeLessThanOrEqual(1)
  })

  it('has a limit of revisions', async () => {
    const house = new RecordsHouse({ revisions: 3 })
    const shop = await house.create()
    const own = (count: number) => ({ own: [`own ${count}`] })
    for (let count = 1; count <= 23; count++) await house.begin(shop, own(count))
    await expect(house.begin(shop, own(24))).rejects.toMatchObject({ code: 'full' })
  })
})

describe('a removed revision', () => {
  it('leaves its record, and the chunks that others have', async () => {
    const house = new RecordsHouse()
    const shop = await house.create()
    const first = await house.deploy(shop, project)
    await house.deploy(shop, changed)
    const removed = await house.deployments.removeRevision(shop, first)
    expect(removed).toMatchObject({ name: 'r1', state: 'removed', graphs: [] })
    expect(await house.readable(shop, project)).toEqual(['p one', 'p two', 'q'])
    expect(await house.readable(shop, changed)).toHaveLength(4)
    await expect(house.deployments.manifest(first)).rejects.toMatchObject({ code: 'not_found' })
    const put = house.deployments.putChunk(first, sha256('own 1'), Buffer.from('own 1'))
    await expect(put).rejects.toMatchObject({ code: 'not_found' })
    expect((await house.deployments.revisions(shop, page)).map(({ name }) => name))
      .toEqual(['r2', 'r1'])
  })

  it('stays if the deployment came to point to it meanwhile', async () => {
    const house = new RecordsHouse()
    const shop = await house.create()
    const first = await house.deploy(shop, project)
    await house.deployments.change(shop, { active: 'r1' })
    await expect(house.deployments.removeRevision(shop, first))
      .rejects.toMatchObject({ code: 'stale' })
    expect(await house.deployments.revision(shop, 'r1')).toMatchObject({ state: 'ready' })
    const now = await house.deployments.get('shop')
    expect(await house.deployments.removeRevision(now, first)).toMatchObject({ state: 'removed' })
  })

  it('makes a roll-out that was decided before it begin anew', async () => {
    const house = new RecordsHouse()
    const shop = await house.create()
    await house.deployments.removeRevision(shop, await house.deploy(shop, project))
    await expect(house.deployments.change(shop, { active: 'r1' }))
      .rejects.toMatchObject({ code: 'stale' })
  })
})

it('Uploads that expired are collected, others are not', async () => {
  const house = new RecordsHouse()
  const shop = await house.create()
  await house.deploy(shop, project)
  const { revision } = await house.begin(shop, changed)
  await house.upload(revision, changed, [sha256('own 2')])
  expect(await house.deployments.collect(shop, nobody)).toEqual([])
  await clockAhead(house.env, async () => {
    expect(await house.deployments.collect(shop, nobody)).toEqual([])
  })
  house.env.advance(24 * 3_600_000)
  expect(await house.deployments.collect(shop, nobody)).toMatchObject([{ name: 'r2' }])
  expect(await house.readable(shop, changed)).toEqual(['p one', 'p two', 'q'])
  expect(await house.deployments.revisions(shop, page))
    .toMatchObject([{ state: 'removed' }, { state: 'ready' }])
})

it('A deployment keeps what was removed last, and the numbers go on', { timeout: 30_000 },
  async () => {
    const house = new RecordsHouse()
    const shop = await house.create()
    for (let count = 1; count <= 203; count++) {
      const { revision } = await house.begin(shop, { own: [`own ${count}`] })
      await house.deployments.removeRevision(shop, revision)
    }
    const names = (await house.deployments.revisions(shop, { limit: 1_000, offset: 0 }))
      .map(({ name }) => name)
    expect([names.length, names[0], names.at(-1)]).toEqual([200, 'r203', 'r4'])
  })
