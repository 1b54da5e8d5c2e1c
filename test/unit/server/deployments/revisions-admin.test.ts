/** An operator looks at every stored revision, chunk by chunk. */

import { expect, it } from 'vitest'

import { revisionsAdmin } from '../../../../src/server/deployments/revisions-admin.ts'
import { sha256, textsOf } from '../../../support/project-manifest.ts'
import { RecordsHouse } from '../../deployment/records-house.ts'

const project = { own: ['own 1', 'own 2', 'own 3', 'own 4', 'own 5', 'own 6'], packages: {} }

async function surveyed(house: RecordsHouse, deep: boolean) {
  const admin = revisionsAdmin(house.deployments)
  const found = []
  for (let options = { after: null as string | null, chunk: 0, deep };;) {
    const one = await admin.survey(options)
    if (one === null) return found
    found.push(`${one.name}: ${one.broken}`)
    options = one.nextChunk === null
      ? { after: one.name, chunk: 0, deep }
      : { ...options, chunk: one.nextChunk }
  }
}

it('finds each revision once, and what is missing or not true', async () => {
  const house = new RecordsHouse()
  expect(await surveyed(house, true)).toEqual([])
  const [shop, desk] = [await house.create('shop'), await house.create('desk')]
  await house.deploy(shop, project)
  await house.deploy(shop, { ...project, own: ['other'] })
  await house.deploy(desk, project)
  expect(await surveyed(house, false)).toEqual(['desk r1: 0', 'shop r1: 0', 'shop r2: 0'])
  expect(await surveyed(house, true)).toEqual(['desk r1: 0', 'desk r1: 0', 'shop r1: 0',
    'shop r1: 0', 'shop r2: 0'])
  const place = { tenant: '@', kind: 'revision_chunk', owner: shop.id } as const
  const [first, last] = [textsOf(project)[0]!, textsOf(project).at(-1)!].map(sha256)
  await house.documents.putDocuments(place, [{ key: `${first}/1`, body: Buffer.from('else') }])
  await house.documents.deleteDocuments(place, [`${last}/1`])
  expect(await surveyed(house, true)).toEqual(['desk r1: 0', 'desk r1: 0', 'shop r1: 1',
    'shop r1: 1', 'shop r2: 0'])
})
