/** Requests of a deployment's own code: at a port of its own, and with the key of its run. */

import { expect, it } from 'vitest'

import { RunKeys } from '../../../../src/access/index.ts'
import { addressReader } from '../../../../src/frontdoor/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { memoryDeployments } from '../../../support/memory-deployments.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { call, openDoor, plainStatus } from '../open-front-door.ts'
import { activeIn } from './deployment-door.ts'

const threadId = '0a0a0a0a-0000-4000-8000-000000000001'
const graphs = [{ graphId: 'agent', description: null, stateChannels: ['messages'], plain: true,
  nodes: ['a'] }]

async function opened() {
  const deployments = memoryDeployments(graphs)
  const runKeys = new RunKeys(virtualEnv())
  const door = await openDoor({ deployments,
    auth: { keys: new MemoryKeys(), runKeys, region: 'us', regionUrls: { us: '' }, sessions: null,
      addressOf: addressReader([]) } })
  await activeIn(deployments)
  await activeIn(deployments, 'other', { access: 'any' })
  const portOf = async (name: string) => ({ url: await door.urlOfDeployment(name) })
  return { deployments, door, runKeys, portOf }
}

it('A bare path at the port of a deployment is one of the deployment, and no other.', async () => {
  const { deployments, door, runKeys, portOf } = await opened()
  const [shop, other, again] = [await portOf('shop'), await portOf('other'), await portOf('shop')]
  expect(again).toEqual(shop)
  expect(new Set([door.url, shop.url, other.url]).size).toBe(3)
  const key = { 'x-api-key': runKeys.issue('acme@shop') }
  const made = await call(shop, 'POST', '/threads', { thread_id: threadId }, key)
  expect([made.status, door.threads.views.get(threadId)?.row.tenant]).toEqual([200, 'acme@shop'])
  // Clients put the place of an answer after their URL.
  for (const path of ['/threads/search', '/d/shop/threads/search']) {
    expect([path, (await call(shop, 'POST', path, {}, key)).status]).toEqual([path, 200])
  }
  for (const path of ['/d/other/threads/search', '/deployments', '/../d/other/threads/search']) {
    expect([path, (await call(shop, 'POST', path, {}, key)).status]).toEqual([path, 404])
  }
  expect((await call(shop, 'POST', '/threads/search', {})).status).toBe(401)
  // As a proxy is asked: the server's own project is not reached.
  await call(door, 'POST', '/threads/search', {}, { 'x-api-key': runKeys.issue('acme') })
  await plainStatus(shop.url, `${shop.url}/threads/search`, key, 'POST')
  expect(door.threads.given('search')).toMatchObject({ tenant: 'acme@shop' })
  await deployments.records.remove(await deployments.records.get('shop'))
  await portOf('other')
  await expect(call(shop, 'POST', '/threads/search', {}, key)).rejects.toThrow()
})

it('The key of a run gives the data of its namespace while it lasts, and no more.', async () => {
  const { door, runKeys } = await opened()
  const statuses = async (key: string, paths: readonly string[]) =>
    await Promise.all(
      paths.map(async (path) =>
        (await call(door, path.startsWith('/control') ? 'GET' : 'POST', path,
          path.startsWith('/control') ? undefined : {}, { authorization: `Bearer ${key}` })).status
      ),
    )
  const paths = ['/d/shop/threads', '/d/other/threads/search', '/threads',
    '/control/v1/deployments', '/control/v1/deployments/shop/secrets']
  const ofShop = runKeys.issue('acme@shop')
  expect(await statuses(ofShop, paths)).toEqual([200, 404, 403, 403, 403])
  const ofProject = runKeys.issue('acme')
  expect(await statuses(ofProject, paths)).toEqual([200, 200, 200, 403, 403])
  const ofCaller = runKeys.issue('guest@other')
  expect(await statuses(ofCaller, paths)).toEqual([404, 200, 403, 403, 404])
  expect(door.threads.given('search')).toMatchObject({ tenant: 'guest@other' })
  for (const key of [ofShop, ofProject, ofCaller]) runKeys.revoke(key)
  expect(await statuses(ofShop, paths)).toEqual([401, 401, 401, 401, 401])
})
