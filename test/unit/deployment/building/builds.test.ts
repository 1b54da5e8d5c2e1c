/** Builds over records: their files, their addresses, who builds them, and what is left of them. */

import { setImmediate } from 'node:timers/promises'

import { describe, expect, it, vi } from 'vitest'

import { builderOf, buildsOver } from '../../../../src/deployment/index.ts'
import type { BuilderParts, Deployment, Revision } from '../../../../src/deployment/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { RevisionError } from '../../../../src/revision/index.ts'
import type { buildRemotely } from '../../../../src/revision/index.ts'
import { manifestOf, sha256, textsOf } from '../../../support/project-manifest.ts'
import { RecordsHouse } from '../records-house.ts'

type Build = typeof buildRemotely

const project = { own: ['the files'], packages: { zod: ['a package'] } }
const file = Buffer.from('sources')
const archive = { kind: 'own' as const, path: '', hash: 'a'.repeat(64), bytes: 1_024, files: 1,
  chunks: [{ sha256: sha256('sources'), bytes: file.length }] }

/** A cluster whose members build as `build` does. */
async function house(build: Build = built) {
  const records = new RecordsHouse()
  const shop = await records.create()
  const parts = { catalogs: records.catalogs, documents: records.documents,
    records: records.deployments, env: records.env }
  const members = new Set(['m1'])
  const activate = vi.fn<(name: string, revision: string) => Promise<never>>(() =>
    Promise.resolve() as Promise<never>
  )
  const member = (self: string, more: Partial<BuilderParts> = {}) =>
    builderOf({ ...parts, rollouts: { activate }, builds: true, directory: '/nowhere',
      variables: {}, self, isMember: (id) => members.has(id), owns: () => true, build, ...more })
  const builder = member('m1')
  const builds = buildsOver({ ...parts, members: { take: (id) => builder.take(id) } })
  const revision = async (name = 'r1') => await records.deployments.revision(shop, name)
  const sources = async ({ id }: Revision) =>
    await records.documents.listDocuments({ tenant: '@', kind: 'build_source', owner: id }, {
      limit: 10,
    })
  const left = async (of: Revision) => [await builds.phase(of), (await sources(of)).length]
  const ended = async (name = 'r1') => {
    await expect.poll(async () => await builds.phase(await revision(name))).toBe(undefined)
    return await revision(name)
  }
  const lines = async () =>
    (await records.deployments.events(shop.id, 0, 1_000))
      .filter(({ kind }) => kind === 'build').map(({ data }) => data['text'])
  return { ...records, records, shop, members, activate, member, builder, builds, revision, left,
    ended, lines }
}

/** Builds the project, and says two lines. */
const built: Build = async ({ say, fetch, signal }, use) => {
  expect([typeof fetch, signal.aborted]).toEqual(['function', false])
  say('one')
  say('two')
  return await use({ manifest: manifestOf(project), warnings: [],
    chunk: async (wanted) =>
      Buffer.from(textsOf(project).find((text) => sha256(text) === wanted)!) })
}

const never: Build = () => new Promise(() => {})
const code = (work: Promise<unknown>) =>
  work.then(() => 'done', (error: unknown) => HeddleError.from(error).code)

async function begun({ builds, shop }: Awaited<ReturnType<typeof house>>) {
  const { revision } = await builds.begin(shop, { by: 'ann', message: 'First', archive,
    config: 'langgraph.json' })
  await builds.putChunk(revision, sha256('sources'), file)
  return revision
}

describe('a build', () => {
  it('makes a revision of what was uploaded, and leaves nothing else', async () => {
    const all = await house()
    const { builds, shop, ended, left, lines, records, activate } = all
    const { revision, missing } = await builds.begin(shop, { by: 'ann', message: 'First', archive,
      config: 'langgraph.json' })
    expect([revision.state, missing]).toEqual(['building', [sha256('sources')]])
    const start = (config?: string) =>
      builds.start(revision, { by: 'ann', activates: false, ...config && { config } })
    expect(await code(start())).toBe('not_ready')
    for (const config of ['../langgraph.json', '/etc/langgraph.json', 'a/../../langgraph.json']) {
      expect(await code(start(config))).toBe('invalid')
      expect(await code(builds.begin(shop, { by: 'ann', message: '', archive, config })))
        .toBe('invalid')
    }
    expect(await code(builds.putChunk(revision, sha256('other'), file))).toBe('not_found')
    expect(await code(builds.putChunk(revision, sha256('sources'), Buffer.from('sourceX'))))
      .toBe('invalid')
    await builds.putChunk(revision, sha256('sources'), file)
    await start()
    expect(await ended()).toMatchObject({ state: 'uploading', message: 'First' })
    expect(await left(revision)).toEqual([undefined, 0])
    expect(await records.readable(shop, project)).toEqual(textsOf(project))
    expect(await lines()).toEqual([expect.stringMatching(/^one\ntwo\nBuilt: /)])
    expect(activate).not.toHaveBeenCalled()
  })

  it('is refused in the words of what went wrong', async () => {
    const all = await house(async () => {
      throw new RevisionError('no_lock_file', 'There is no lock file.')
    })
    const revision = await begun(all)
    await all.builds.start(revision, { by: 'ann', activates: true })
    expect(await all.ended()).toMatchObject({ state: 'refused', reason: 'There is no lock file.',
      hash: '' })
    expect(await all.left(revision)).toEqual([undefined, 0])
    expect(await all.lines()).toEqual(['There is no lock file.'])
    expect(all.activate).not.toHaveBeenCalled()
  })

  it('is begun once', async () => {
    const all = await house(never)
    const revision = await begun(all)
    const start = () => code(all.builds.start(revision, { by: 'ann', activates: false }))
    expect((await Promise.all([start(), start()])).filter((each) => each === 'done'))
      .toHaveLength(1)
    expect(await start()).toBe('stale')
  })

  it('of one tenant waits for the one before', async () => {
    let under = 0
    let most = 0
    const all = await house(async (options, use) => {
      most = Math.max(most, ++under)
      await setImmediate()
      under--
      return await built(options, use)
    })
    for (let count = 0; count < 3; count++) {
      await all.builds.start(await begun(all), { by: 'ann', activates: false })
    }
    for (const name of ['r1', 'r2', 'r3']) await all.ended(name)
    expect(most).toBe(1)
  })

  it('is one of eight of its tenant, however many are begun at once', async () => {
    const all = await house()
    const other = await all.records.create('desk', 'other')
    const begin = (shop = all.shop) => code(all.builds.begin(shop, { by: 'ann', message: '' }))
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => begin()))
    const [done, full] = ['done', 'full'].map((each) => outcomes.filter((one) => one === each))
    expect([done!.length, full!.length]).toEqual([8, 4])
    expect(await begin()).toBe('full')
    expect(await begin(other)).toBe('done')
    const states = (await all.deployments.revisions(all.shop, { limit: 20, offset: 0 }))
      .map(({ state }) => state)
    expect(states.filter((state) => state === 'building')).toHaveLength(8)
    // Those that came at once, and none of the one after them.
    expect(states.filter((state) => state === 'refused')).toHaveLength(4)
  })

  it('is not begun where nobody builds', async () => {
    const all = await house()
    const builds = buildsOver({ catalogs: all.catalogs, documents: all.documents,
      records: all.deployments, env: all.env,
      members: { take: (id) => all.member('m1', { builds: false }).take(id) } })
    expect(await code(builds.begin(all.shop, { by: 'ann', message: '', archive })))
      .toBe('not_ready')
    expect(await all.deployments.revisions(all.shop, { limit: 10, offset: 0 })).toEqual([])
  })
})

describe('the address of an archive', () => {
  async function addressed(all: Awaited<ReturnType<typeof house>>, shop: Deployment) {
    const { revision, address } = await all.builds.begin(shop, { by: 'ann', message: '' })
    const put = (to = address, content = [file]) =>
      code(all.builds.receive(to, (async function*() {
        yield* content
      })()))
    return { revision, address, put }
  }

  it('takes it once, and only with its secret', async () => {
    const all = await house()
    const { revision, address, put } = await addressed(all, all.shop)
    expect(address).toMatch(new RegExp(`^${revision.id}\\.[\\w-]{43}$`))
    const other = address.slice(0, -1) + (address.endsWith('_') ? 'a' : '_a').slice(-1)
    for (const wrong of [other, revision.id, `${revision.id}.`, '', 'x'.repeat(80)]) {
      expect(await put(wrong)).toBe('not_found')
    }
    expect((await Promise.all([put(), put()])).toSorted()).toEqual(['done', 'not_found'])
    expect(await put()).toBe('not_found')
    await all.builds.start(revision, { by: 'ann', config: 'a.json', activates: true })
    expect(await all.ended()).toMatchObject({ state: 'uploading' })
    expect(all.activate).toHaveBeenCalledWith('shop', 'r1', { by: 'ann', wait: false })
  })

  it('ends after a quarter of an hour', async () => {
    const all = await house()
    const { put } = await addressed(all, all.shop)
    all.env.advance(900_001)
    expect(await put()).toBe('not_found')
  })

  it('takes no more than 200 MiB, and nothing after it was cut', async () => {
    const all = await house()
    const { revision, put, address } = await addressed(all, all.shop)
    expect(await put(address, Array.from({ length: 51 }, () => Buffer.alloc(4 * 1024 * 1024))))
      .toBe('too_large')
    expect(await put()).toBe('not_found')
    expect(await code(all.builds.start(revision, { by: 'ann', activates: true })))
      .toBe('not_ready')
  })
})

describe('what nobody goes on with', () => {
  it.each([
    ['a member that is gone', 'm2', /^The server that built it ended in the middle/],
    ['the process before this one', 'm1', /^The server that built it ended in the middle/],
  ])('is refused: a build of %s', async (_, self, reason) => {
    const all = await house(never)
    const revision = await begun(all)
    await all.builds.start(revision, { by: 'ann', activates: true })
    const next = all.member(self)
    next.begin()
    await setImmediate()
    // While it is there, it goes on.
    if (self === 'm2') expect(await all.builds.phase(revision)).toBe('building')
    all.members.clear()
    all.env.advance(15_000)
    expect(await all.ended()).toMatchObject({ state: 'refused',
      reason: expect.stringMatching(reason) })
    expect(await all.left(revision)).toEqual([undefined, 0])
    await next.close()
  })

  it('is refused: a build without its files, or beyond its time', async () => {
    const all = await house(never)
    const revision = await begun(all)
    all.builder.begin()
    all.env.advance(901_000)
    expect(await all.ended()).toMatchObject({ state: 'refused',
      reason: expect.stringMatching(/^Its files were not uploaded in time/) })
    expect(await all.left(revision)).toEqual([undefined, 0])
    await all.builds.start(await begun(all), { by: 'ann', activates: false })
    all.env.advance(735_000)
    expect(await all.ended('r2')).toMatchObject({ state: 'refused',
      reason: expect.stringMatching(/^The build did not end in time/) })
  })

  it('goes with its deployment', async () => {
    const all = await house(never)
    const revision = await begun(all)
    await all.deployments.remove(all.shop)
    all.builder.begin()
    all.env.advance(901_000)
    await expect.poll(() => all.left(revision)).toEqual([undefined, 0])
  })

  it('is ended where a server is stopped', async () => {
    const all = await house(({ signal }) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      )
    )
    await all.builds.start(await begun(all), { by: 'ann', activates: false })
    await all.builder.close()
    expect(await all.revision()).toMatchObject({ state: 'refused',
      reason: expect.stringMatching(/^The server that built it was stopped/) })
    expect(await all.builder.take(null)).toBe(false)
  })

  it('becomes active although the member that built it is gone', async () => {
    const all = await house()
    all.activate.mockImplementationOnce(() => new Promise(() => {}))
    const revision = await begun(all)
    await all.builds.start(revision, { by: 'ann', activates: true })
    await expect.poll(() => all.builds.phase(revision)).toBe('built')
    all.members.clear()
    all.member('m2').begin()
    await all.ended()
    expect(all.activate).toHaveBeenCalledTimes(2)
  })
})

describe('the lines of a build', () => {
  it('are kept up to ten thousand', async () => {
    const all = await house(async ({ say }) => {
      for (let count = 0; count < 10_100; count++) say('line')
      throw new RevisionError('no_install', 'It failed.')
    })
    await all.builds.start(await begun(all), { by: 'ann', activates: false })
    await all.ended()
    const lines = (await all.lines()).join('\n').split('\n')
    expect([lines.length, lines.at(-1)]).toEqual([10_000, 'Further lines are not kept.'])
  })

  it('are kept up to a million characters', async () => {
    const all = await house(async ({ say }) => {
      for (let count = 0; count < 700; count++) say('x'.repeat(2_000))
      throw new RevisionError('no_install', 'It failed.')
    })
    await all.builds.start(await begun(all), { by: 'ann', activates: false })
    await all.ended()
    const text = (await all.lines()).join('\n')
    expect(text.length).toBeLessThan(1_010_000)
    expect(text).toMatch(/Further lines are not kept\.$/)
  })
})
