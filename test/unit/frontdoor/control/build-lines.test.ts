/** The lines of a build: when they end, and how those of one moment are taken apart. */

import { expect, it } from 'vitest'

import { buildLines } from '../../../../src/frontdoor/control/line-source.ts'
import type { ControlParts } from '../../../../src/frontdoor/control/parts.ts'
import { memoryDeployments } from '../../../support/memory-deployments.ts'
import { activeIn } from '../mount/deployment-door.ts'

it('The lines of a build end when all of it is stored, and not before.', async () => {
  const deployments = memoryDeployments()
  const { records, builds } = deployments
  const shop = await activeIn(deployments)
  const revision = await records.beginBuild(shop, { message: '', by: 'ann' })
  const source = buildLines({ deployments } as unknown as ControlParts, shop, revision.name)
  builds.phases.set(revision.id, 'building')
  expect(await source.isOver()).toBe(false)
  // It has its manifest, and no chunks.
  await records.changeRevision(revision, { state: 'uploading' })
  expect(await source.isOver()).toBe(false)
  builds.phases.set(revision.id, 'built')
  expect(await source.isOver()).toBe(true)
  builds.phases.delete(revision.id)
  expect(await source.isOver()).toBe(true)
})

it('The lines of a moment come one by one.', async () => {
  const deployments = memoryDeployments()
  const shop = await activeIn(deployments)
  await deployments.records.note(shop.id, { kind: 'build', by: 'ann',
    data: { revision: 'r1', level: 'info', member: 'm1', text: 'one\ntwo' } })
  const source = buildLines({ deployments } as unknown as ControlParts, shop, 'r1')
  expect(await source.next()).toMatchObject([{ text: 'one', member: 'm1' }, { text: 'two' }])
})
