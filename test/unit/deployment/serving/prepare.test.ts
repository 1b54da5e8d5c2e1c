/** What a roll-out asks of a member: to load a revision, and to say whether it can serve. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { RevisionError } from '../../../../src/revision/index.ts'
import { eventually } from '../../../support/eventually.ts'
import { agent, ServingWorld } from './serving-world.ts'

const request = { deployment: 'shop', revision: 'r1', envVersion: 0 }

async function served() {
  const world = new ServingWorld()
  world.deploy('shop')
  return { world, serving: await world.open() }
}

it('loads a revision once, and finds it loaded the next time', async () => {
  const { world, serving } = await served()
  world.starting = () => world.env.advance(700)
  expect(await serving.prepare(request)).toEqual({ kind: 'ready', ms: 700, graphs: [agent] })
  expect(await serving.prepare(request)).toMatchObject({ kind: 'ready', ms: 0 })
  expect(world.processes).toHaveLength(1)
})

it('starts a fresh process for newer secrets only', async () => {
  const { world, serving } = await served()
  await serving.prepare({ ...request, envVersion: 1 })
  expect(await serving.prepare(request)).toMatchObject({ kind: 'ready' })
  expect(world.processes).toHaveLength(1)
  await serving.prepare({ ...request, envVersion: 2 })
  expect(serving.loaded().map(({ envVersion }) => envVersion)).toEqual([2, 1])
})

it('prepares secrets that were changed after a roll-out of them failed', async () => {
  const { world, serving } = await served()
  const next = { ...request, envVersion: 1 }
  const token = () => world.processes.at(-1)!.options.variables['TOKEN']
  world.secrets.set('id-shop', { TOKEN: 'wrong' })
  await serving.prepare(next)
  await serving.prepare(next)
  expect([world.processes.length, token()]).toEqual([1, 'wrong'])
  world.secrets.set('id-shop', { TOKEN: 'right' })
  await serving.prepare(next)
  expect([world.processes.length, token()]).toEqual([2, 'right'])
  expect(serving.loaded()).toMatchObject([{ envVersion: 1, state: 'ready' }])
})

it('refuses a graph that cannot be loaded, and names no secret and no folder', async () => {
  const { world, serving } = await served()
  world.secrets.set('id-shop', { KEY: 'open-sesame' })
  world.starting = (process) => {
    process.described = [agent, { ...agent, graphId: 'desk', failed: true,
      failure: 'desk cannot be loaded (src/desk.ts:3:7): open-sesame is no key (of ours) ' +
        "in '/srv/data/revisions/a1/src/keys.ts'" }]
  }
  const failure = { graph_id: 'desk', at: 'src/desk.ts:3:7',
    message: 'desk cannot be loaded (src/desk.ts:3:7): [secret] is no key (of ours) ' +
      "in '…/keys.ts'" }
  expect(await serving.prepare(request)).toEqual({ kind: 'refused', reason: failure.message,
    failures: [failure] })
  expect((await world.process(1)).closed).toBe(true)
})

it('loads anew what lacked a graph the last time', async () => {
  const { world, serving } = await served()
  world.starting = (process) => {
    process.described = [{ ...agent, failed: true, failure: 'The model is away.' }]
  }
  const run = world.run(serving)
  await eventually(() => expect(serving.problems()).toHaveLength(1))
  world.starting = () => {}
  expect(await serving.prepare(request)).toMatchObject({ kind: 'ready' })
  expect([world.processes.length, serving.problems()]).toEqual([2, []])
  // The run does not wait for its pause any more.
  await world.executing(run)
})

it('refuses what can never be loaded, and rejects with what may be tried again', async () => {
  const { world, serving } = await served()
  world.secrets.set('id-shop', { KEY: 'open-sesame' })
  world.starting = () => Promise.reject(new HeddleError('graph_failed', 'open-sesame: no key'))
  expect(await serving.prepare(request)).toEqual({ kind: 'refused', reason: '[secret]: no key',
    failures: [] })
  world.starting = () => Promise.reject(new RevisionError('escapes', 'It leads out.'))
  expect(await serving.prepare(request)).toMatchObject({ kind: 'refused', reason: 'It leads out.' })
  expect(await serving.prepare({ ...request, revision: 'r9' })).toMatchObject({ kind: 'refused' })
  world.starting = () => Promise.reject(new Error('the disk is full'))
  await expect(serving.prepare(request)).rejects.toMatchObject({ code: 'unavailable' })
  world.away = new HeddleError('unavailable')
  await expect(serving.prepare(request)).rejects.toMatchObject({ code: 'unavailable' })
  await expect(serving.prepare({ ...request, deployment: 'other' })).rejects
    .toMatchObject({ code: 'unavailable' })
  expect(world.env.lines.map(({ details: { error } }) => String(error)).join())
    .not.toContain('open-sesame')
})

it('loads no revision that was refused or removed', async () => {
  const { world, serving } = await served()
  for (const state of ['refused', 'removed'] as const) {
    world.deploy('shop')
    world.revisions.set('id-shop r1', { ...world.revisions.get('id-shop r1')!, state })
    expect(await serving.prepare(request)).toMatchObject({ kind: 'refused' })
  }
  expect(world.processes).toHaveLength(0)
})

it('prefers secrets to the manifest, and those of a preview to those of its original', async () => {
  const { world, serving } = await served()
  world.deploy('shop--pr-1', { preview: { of: 'shop', label: 'pr-1', ttlMs: 1 } })
  world.deploy('shop--theirs', { tenant: 'other', preview: { of: 'shop', label: 'a', ttlMs: 1 } })
  world.secrets.set('id-shop', { MODEL: 'large', KEY: 'of the shop' })
  world.secrets.set('id-shop--pr-1', { KEY: 'of the preview' })
  const variables = async (deployment: string) => {
    await serving.prepare({ ...request, deployment })
    return world.processes.at(-1)!.options.variables
  }
  const greeting = { GREETING: 'from the manifest' }
  expect(await variables('shop')).toEqual({ ...greeting, MODEL: 'large', KEY: 'of the shop' })
  expect(await variables('shop--pr-1'))
    .toEqual({ ...greeting, MODEL: 'large', KEY: 'of the preview' })
  expect(await variables('shop--theirs')).toEqual({ ...greeting, MODEL: 'small' })
})

it('gives a process the limits of its deployment, and where the server answers', async () => {
  const { world, serving } = await served()
  await serving.useHost.servedAt(async (name) => `http://here/d/${name}`)
  await serving.prepare(request)
  const { url, options } = await world.process(1)
  expect(url).toBe('http://here/d/shop')
  expect(options).toMatchObject({ configFile: '/r/own/langgraph.json', folder: '/r', workers: 2,
    memoryMb: 512, allowsAddons: false,
    compileCache: expect.stringContaining('id-shop') as string })
  await serving.useHost.servedAt(async (name) => `http://there/d/${name}`)
  expect((await world.process(1)).url).toBe('http://there/d/shop')
  for (const nowhere of [undefined, () => Promise.reject(new Error('no port is free'))]) {
    await serving.useHost.servedAt(nowhere)
    expect((await world.process(1)).url).toBeUndefined()
  }
})
