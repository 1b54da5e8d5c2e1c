/** Whatever happens between two calls of a caller, no revision loses a chunk. */

import { describe, expect, it } from 'vitest'

import type { Deployment, Deployments } from '../../../src/deployment/index.ts'
import { manifestOf, sha256, textsOf } from '../../support/project-manifest.ts'
import { RecordsHouse } from './records-house.ts'

const packages = { p: ['p one', 'p two'] }
const projectOf = (own: string) => ({ own: [own], packages })
const heldBytes = async ({ catalogs }: RecordsHouse, { id }: Deployment) =>
  (await catalogs.get({ tenant: '@', collection: 'deployment' }, [id]))[0]!.heldBytes

interface Scene {
  readonly house: RecordsHouse
  readonly shop: Deployment
  /** Does the other thing before its next call. */
  readonly caller: Deployments
}

/** Plays a scene once for each call of its caller, with the other thing happening before it. */
async function everywhere(
  scene: (parts: { readonly house: RecordsHouse; readonly shop: Deployment }) => Promise<{
    readonly one: (caller: Deployments) => Promise<unknown>
    readonly other: () => Promise<unknown>
    readonly after: (outcomes: { readonly one: unknown; readonly other: unknown }) => Promise<void>
  }>,
): Promise<void> {
  for (let call = 1, happens = true; happens; call++) {
    const house = new RecordsHouse()
    const shop = await house.create()
    const { one, other, after } = await scene({ house, shop })
    happens = false
    let otherOutcome: unknown
    const outcome = await one(house.caller(async (each) => {
      if (each === call) {
        happens = true
        otherOutcome = await other().catch((error: unknown) => error)
      }
      return 'done'
    })).catch((error: unknown) => error)
    if (happens) await after({ one: outcome, other: otherOutcome })
    expect(call).toBeLessThan(100)
  }
}

/** All of its chunks can be read. */
async function expectThere({ house, shop }: Pick<Scene, 'house' | 'shop'>, own: string) {
  expect(await house.readable(shop, projectOf(own))).toEqual(textsOf(projectOf(own)))
}

describe('between two calls', () => {
  it('of a removal, a revision with the same packages is deployed', async () => {
    await everywhere(async ({ house, shop }) => {
      const first = await house.deploy(shop, projectOf('one'))
      return {
        one: (caller) => caller.removeRevision(shop, first),
        other: () => house.deploy(shop, projectOf('two')),
        after: async ({ one }) => {
          expect(one).toMatchObject({ state: 'removed' })
          await expectThere({ house, shop }, 'two')
          expect(await heldBytes(house, shop)).toBe(13)
          const revision = await house.deployments.revision(shop, 'r2')
          expect(await house.deployments.missing(revision)).toEqual([])
        },
      }
    })
  })

  it('of a deployment, the revision that has its packages is removed', async () => {
    await everywhere(async ({ house, shop }) => {
      const first = await house.deploy(shop, projectOf('one'))
      const upload = async (caller: Deployments) => {
        const { revision, missing } = await house.begin(shop, projectOf('two'), caller)
        await house.upload(revision, projectOf('two'), missing, caller)
      }
      return {
        one: upload,
        other: () => house.deployments.removeRevision(shop, first),
        after: async ({ one, other }) => {
          expect([one, other]).toMatchObject([undefined, { state: 'removed' }])
          await expectThere({ house, shop }, 'two')
          expect(await heldBytes(house, shop)).toBe(13)
          const revision = await house.deployments.revision(shop, 'r2')
          expect(await house.deployments.missing(revision)).toEqual([])
        },
      }
    })
  })

  it('of an upload, its revision is removed, and another one needs the chunk', async () => {
    await everywhere(async ({ house, shop }) => {
      const { revision: first } = await house.begin(shop, projectOf('one'))
      return {
        one: (caller) => caller.putChunk(first, sha256('p one'), Buffer.from('p one')),
        other: async () => {
          await house.deploy(shop, projectOf('two'))
          await house.deployments.removeRevision(shop, first)
        },
        after: async () => {
          await expectThere({ house, shop }, 'two')
          const revision = await house.deployments.revision(shop, 'r2')
          expect(await house.deployments.missing(revision)).toEqual([])
        },
      }
    })
  })

  it('of an upload, its revision is removed, and nobody needs the chunk', async () => {
    await everywhere(async ({ house, shop }) => {
      const { revision: first } = await house.begin(shop, projectOf('one'))
      return {
        one: (caller) => caller.putChunk(first, sha256('p one'), Buffer.from('p one')),
        other: () => house.deployments.removeRevision(shop, first),
        after: async ({ one }) => {
          expect(one).toMatchObject({ code: 'not_found' })
          expect(await house.readable(shop, projectOf('one'))).toEqual([])
        },
      }
    })
  })

  it('of the end of a build, it is refused', async () => {
    await everywhere(async ({ house, shop }) => {
      const begun = await house.deployments.beginBuild(shop, { message: '', by: '' })
      return {
        one: (caller) => caller.endBuild(shop, begun, manifestOf(projectOf('one'))),
        other: () => house.deployments.changeRevision(begun, { state: 'refused' }),
        after: async () => {
          // The newest change is written again by whoever comes next.
          await house.begin(shop, projectOf('two'))
          const { state } = await house.deployments.revision(shop, 'r1')
          expect(['refused', 'uploading']).toContain(state)
        },
      }
    })
  })

  it('of a removal, a pointer moves to the revision', async () => {
    await everywhere(async ({ house, shop }) => {
      const first = await house.deploy(shop, projectOf('one'))
      return {
        one: (caller) => caller.removeRevision(shop, first),
        other: () => house.deployments.change(shop, { active: 'r1' }),
        after: async ({ one, other }) => {
          const isMoved = !(other instanceof Error)
          expect(one).toMatchObject(isMoved ? { code: 'stale' } : { state: 'removed' })
          if (isMoved) await expectThere({ house, shop }, 'one')
          const { state } = await house.deployments.revision(shop, 'r1')
          expect(state).toBe(isMoved ? 'ready' : 'removed')
        },
      }
    })
  })
})

it('A build that was refused after it ended stays refused', async () => {
  const house = new RecordsHouse()
  const shop = await house.create()
  const begun = await house.deployments.beginBuild(shop, { message: '', by: '' })
  const built = await house.deployments.endBuild(shop, begun, manifestOf(projectOf('one')))
  await house.deployments.changeRevision(built, { state: 'refused' })
  await house.begin(shop, projectOf('two'))
  expect(await house.deployments.revision(shop, 'r1')).toMatchObject({ state: 'refused' })
})
