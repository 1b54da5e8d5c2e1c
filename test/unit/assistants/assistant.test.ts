/** Assistants: their versions are rows of a log, any of which may be the active one. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { AssistantRow } from '../../../proto/gen/storage/v1/row.ts'
import type { AssistantChange, AssistantContent } from '../../../src/assistants/index.ts'
import { ReadQuota } from '../../../src/limits/read-quota.ts'
import { virtualEnv } from '../../support/env.ts'
import { assistantHouse } from './assistant-house.ts'
import { expectAlways } from '../../support/expect-always.ts'

const name = { tenant: 'local', assistantId: 'a1' }

const content: AssistantContent = {
  graphId: 'agent',
  name: 'Untitled',
  description: null,
  config: {},
  context: {},
  metadata: {},
}

const openHouse = () => assistantHouse(virtualEnv())

function contentOf(row: AssistantRow): AssistantContent {
  return {
    graphId: row.graphId,
    name: row.name,
    description: JSON.parse(row.descriptionJson) as string | null,
    config: JSON.parse(row.configJson) as Record<string, unknown>,
    context: JSON.parse(row.contextJson) as unknown,
    metadata: JSON.parse(row.metadataJson) as Record<string, unknown>,
  }
}

const object = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 1 }))

const change: fc.Arbitrary<AssistantChange> = fc.record({
  graphId: fc.constantFrom('agent', 'other'),
  name: fc.string(),
  description: fc.option(fc.string(), { nil: null }),
  config: object,
  context: fc.oneof(object, fc.jsonValue({ maxDepth: 1 })),
  metadata: object,
}, { requiredKeys: [] })

type Step = { readonly patch: AssistantChange } | { readonly latest: number } | 'restart'

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: change.map((patch) => ({ patch })) },
  { weight: 2, arbitrary: fc.nat(12).map((latest) => ({ latest })) },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
)

/** The rules of the API as a model: a list of versions. */
class Model {
  readonly versions: AssistantContent[] = [content]
  active = 1

  get current(): AssistantContent {
    return this.versions[this.active - 1]!
  }

  patch(patch: AssistantChange): void {
    const metadata = { ...this.current.metadata, ...patch.metadata }
    this.versions.push({ ...this.current, ...patch, metadata })
    this.active = this.versions.length
  }

  setLatest(version: number): boolean {
    if (version < 1 || version > this.versions.length) return false
    this.active = version
    return true
  }
}

// JSON has no -0.
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

describe('an assistant', () => {
  it('is as in a model after any updates, changes of version and restarts', async () => {
    await expectAlways(fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      const { assistants, restart } = openHouse()
      const model = new Model()
      await assistants.create(name, content, 'raise')
      for (const each of steps) {
        if (each === 'restart') restart()
        else if ('patch' in each) {
          await assistants.patch(name, each.patch)
          model.patch(each.patch)
        } else if (model.setLatest(each.latest)) await assistants.setLatest(name, each.latest)
        else await expect(assistants.setLatest(name, each.latest)).rejects.toThrow('not found')
      }
      const row = await assistants.get(name)
      expect(contentOf(row)).toEqual(asJson(model.current))
      expect([row.version, row.newestVersion]).toEqual([model.active, model.versions.length])
      const versions = await assistants.versions(name, { limit: 100, offset: 0 })
      expect(versions.map(contentOf)).toEqual(asJson(model.versions.toReversed()))
    }), { share: 3 })
  })

  it('is the same in the index as in its actor', async () => {
    const { assistants, index } = openHouse()
    await assistants.create(name, content, 'raise')
    await assistants.patch(name, { name: 'two' })
    await assistants.setLatest(name, 1)
    expect(await index.get('local', 'a1')).toEqual(await assistants.get(name))
  })

  it('is refused if it exists, unless the existing one is accepted', async () => {
    const { assistants } = openHouse()
    const first = await assistants.create(name, content, 'raise')
    await expect(assistants.create(name, content, 'raise'))
      .rejects.toMatchObject({ code: 'exists' })
    const other = { ...content, name: 'other' }
    expect(await assistants.create(name, other, 'do_nothing')).toEqual(first)
  })

  it('is not found before it is created', async () => {
    const { assistants } = openHouse()
    for (const ask of [assistants.get(name), assistants.patch(name, {}), assistants.delete(name),
      assistants.setLatest(name, 1), assistants.versions(name, { limit: 1, offset: 0 })]) {
      await expect(ask).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  it('is acknowledged only once its row is on disk', async () => {
    const { assistants, log } = openHouse()
    await assistants.create(name, content, 'raise')
    log.append = () => Promise.reject(new Error('the disk is gone'))
    await expect(assistants.patch(name, { name: 'lost' })).rejects.toThrow('the disk is gone')
    expect(await assistants.get(name)).toMatchObject({ name: 'Untitled', version: 1 })
  })
})

describe('versions', () => {
  it('are paged and filtered by metadata, newest first, at the cost of a page', async () => {
    const { assistants, log } = openHouse()
    await assistants.create(name, content, 'raise')
    for (let version = 2; version <= 400; version += 1) {
      await assistants.patch(name, { metadata: { even: version % 2 === 0 } })
    }
    log.rowsRead = 0
    const page = await assistants.versions(name, { limit: 3, offset: 1, metadata: { even: true } })
    expect(page.map(({ version }) => version)).toEqual([398, 396, 394])
    expect(log.rowsRead).toBeLessThanOrEqual(20)
  })

  it('are not read if the page begins behind the last', async () => {
    const { assistants, log } = openHouse()
    await assistants.create(name, content, 'raise')
    log.rowsRead = 0
    expect(await assistants.versions(name, { limit: 1, offset: 2_000_000_000 })).toEqual([])
    expect(log.rowsRead).toBe(0)
  })

  it('are refused if they are too large for one answer', async () => {
    const env = virtualEnv()
    // A sixteenth of what a process has, so that five versions fit, too.
    const { limits } = new ReadQuota(env)
    const [inAll, ofTenant, large, ofAnswer] = [limits.inAll / 16, limits.ofTenant / 16,
      limits.large / 16, limits.ofAnswer / 16]
    const reads = new ReadQuota(env, { ...limits, inAll, ofTenant, large, ofAnswer })
    const { assistants, log } = assistantHouse(env, reads)
    await assistants.create(name, content, 'raise')
    const long = 'x'.repeat(23 * 1024 * 1024 / 16)
    for (let n = 0; n < 12; n++) await assistants.patch(name, { config: { long } })
    expect(await assistants.versions(name, { limit: 5, offset: 0 })).toHaveLength(5)
    log.rowsRead = 0
    await expect(assistants.versions(name, { limit: 1_000, offset: 0 }))
      .rejects.toMatchObject({ code: 'too_large' })
    expect(log.rowsRead).toBeLessThanOrEqual(24)
  })
})

describe('deleting an assistant', () => {
  it('removes everything; its id can be used again, with a new log', async () => {
    const { assistants, log, index } = openHouse()
    const before = await assistants.create(name, content, 'raise')
    await assistants.patch(name, { name: 'two' })
    await assistants.delete(name)
    expect(await index.get('local', 'a1')).toBeUndefined()
    expect(log.rows).toEqual([])
    await expect(assistants.get(name)).rejects.toMatchObject({ code: 'not_found' })
    const after = await assistants.create(name, content, 'raise')
    expect(after.branch?.id).not.toBe(before.branch?.id)
    expect(await assistants.versions(name, { limit: 10, offset: 0 })).toHaveLength(1)
  })

  // The row of the assistant is that of the second of the three rows of its log.
  it.each([3, 2, 1, 0])('is finished after a crash that left %i rows of the log', async (left) => {
    for (const isNext of [false, true]) {
      const { assistants, log, index, restart } = openHouse()
      log.shared = true
      await assistants.create(name, content, 'raise')
      await assistants.patch(name, { name: 'two' })
      log.leftOnPurge = left
      await expect(assistants.delete(name)).rejects.toThrow('died')
      log.leftOnPurge = undefined
      if (isNext) restart()
      await expect(assistants.get(name)).rejects.toMatchObject({ code: 'not_found' })
      expect(await index.get('local', 'a1')).toBeUndefined()
      expect(log.rows).toEqual([])
    }
  })

  it('is finished if only its row was left', async () => {
    const { assistants, log, index, restart } = openHouse()
    await assistants.create(name, content, 'raise')
    log.rows.length = 0
    restart()
    await expect(assistants.get(name)).rejects.toMatchObject({ code: 'not_found' })
    expect(await index.get('local', 'a1')).toBeUndefined()
  })
})

describe('a row that is behind its log', () => {
  it('is brought up to date at the next start', async () => {
    const { assistants, log, restart } = openHouse()
    await assistants.create(name, content, 'raise')
    const behind = [...log.updates]
    await assistants.patch(name, { name: 'two', context: { model: 'b' } })
    await assistants.setLatest(name, 1)
    await assistants.patch(name, { metadata: { x: 1 } })
    const current = await assistants.get(name)
    log.updates.splice(0, log.updates.length, ...behind)
    restart()
    expect(await assistants.get(name)).toEqual(current)
  })
})

describe('a command whose answer was lost with the owner of its assistant', () => {
  it.each([true, false])('is done once and answered the same (shared log: %s)', async (shared) => {
    const { assistants, log, loseAnswer, restart } = openHouse()
    log.shared = shared
    loseAnswer()
    expect(await assistants.create(name, content, 'raise')).toMatchObject({ version: 1 })
    loseAnswer()
    expect(await assistants.patch(name, { name: 'two' })).toMatchObject({ version: 2 })
    await assistants.patch(name, { name: 'three' })
    log.loseUpdates(1)
    restart()
    loseAnswer()
    expect(await assistants.setLatest(name, 2)).toMatchObject({ version: 2, newestVersion: 3 })
    expect(await assistants.versions(name, { limit: 10, offset: 0 })).toHaveLength(3)
    loseAnswer()
    await assistants.delete(name)
    await expect(assistants.delete(name)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('does not delete an assistant that was created again meanwhile', async () => {
    const { assistants, loseAnswer } = openHouse()
    await assistants.create(name, content, 'raise')
    loseAnswer({ kind: 'create', content: { ...content, name: 'again' }, ifExists: 'raise' })
    await assistants.delete(name)
    expect(await assistants.get(name)).toMatchObject({ name: 'again' })
  })
})

it('A caller who does not see an assistant in its turn does not change it.', async () => {
  const { assistants } = openHouse()
  const ofAnn = { kind: 'equals', key: 'owner', value: 'ann' } as const
  await assistants.create(name, { ...content, metadata: { owner: 'ann' } }, 'raise')
  const seen = await assistants.patch(name, { name: 'mine' }, ofAnn)
  const given = assistants.patch(name, { metadata: { owner: 'ben' } })
  const late = await Promise.allSettled([assistants.patch(name, { name: 'x' }, ofAnn),
    assistants.setLatest(name, 1, ofAnn), assistants.delete(name, ofAnn)])
  await given
  for (const each of late) {
    expect(each).toMatchObject({ status: 'rejected', reason: { code: 'not_found' } })
  }
  expect(await assistants.get(name)).toMatchObject({ name: seen.name, version: 3 })
})
