/** A server that is killed in a roll-out ends it after its restart, and loses nothing. */

import { afterAll, beforeAll, expect, it } from 'vitest'

import { say, texts } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { deployedProject, replying } from './deployed-project.ts'
import type { Built, DeployedProject } from './deployed-project.ts'
import { DeployTarget } from './deploy-target.ts'

let project: DeployedProject
let server: ServerProcess
let shop: DeployTarget
let revisions: readonly Built[]

beforeAll(async () => {
  ;[project, server] = await Promise.all([deployedProject(), startServer({ args: oneWorker })])
  shop = new DeployTarget(server.url, 'shop')
  expect(await shop.create()).toMatchObject({ status: 201 })
  const built: Built[] = []
  for (const text of ['0', '1', '2', '3']) {
    built.push(await project.built(replying(`
      if (state.messages.at(-1).content === 'wait') await new Promise((end) =>
        setTimeout(end, 3_000))
      return say('${text}')`)))
  }
  revisions = built
  await shop.deploy(revisions[0]!)
})

afterAll(async () => {
  await server?.close()
  await project?.remove()
})

interface Shown {
  readonly active: string
  readonly rollout: { readonly id: string; readonly phase: string } | null
  readonly last_rollout: { readonly id: string; readonly result: string } | null
}

/** Whether it is time to kill. A lone member points to a revision as soon as it is ready. */
const moments = {
  'it is loaded': ({ rollout }: Shown, state: unknown) =>
    rollout?.phase === 'preparing' && state === 'uploading',
  'the pointer moves': (_: Shown, state: unknown) => state === 'ready',
  'it is watched': ({ rollout }: Shown) => rollout?.phase === 'watching',
} as const

it.each([['it is loaded', '1'], ['the pointer moves', '2'], ['it is watched', '3']] as const)(
  'A roll-out ends after a kill while %s.',
  async (moment, text) => {
    const { client: { runs, threads } } = shop
    const { thread_id: id } = await threads.create()
    const run = await runs.create(id, 'agent', { input: say('wait') })
    const { active: before } = await shop.show<Shown>()
    const { name } = await shop.upload(revisions[Number(text)]!)
    const begun = await fetch(
      `${server.url}/control/v1/deployments/shop/revisions/${name}/activate`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', prefer: 'respond-async' },
        body: JSON.stringify({ watch_s: 10 }),
      },
    )
    expect(begun.status).toBe(202)
    const { rollout: { id: rolloutId } } = await begun.json() as { rollout: { id: string } }
    await expect.poll(async () => {
      const { body } = await shop.own('GET', `/revisions/${name}`)
      return moments[moment](await shop.show<Shown>(), body['state'])
    }, { interval: 5 }).toBe(true)
    await server.kill('SIGKILL')
    await server.restart()
    const atMs = performance.now()
    const { active } = await shop.show<Shown>()
    expect([before, name]).toContain(active)
    await expect.poll(() => shop.show<Shown>(), { interval: 50 }).toMatchObject({ active: name })
    const movedMs = performance.now() - atMs
    await expect.poll(() => shop.show<Shown>(), { interval: 50 }).toMatchObject({ active: name,
      rollout: null, last_rollout: { id: rolloutId, result: 'done' } })
    console.log({ moment, movedMs: Math.round(movedMs),
      endedMs: Math.round(performance.now() - atMs) })
    expect(movedMs).toBeLessThan(15_000)
    // What was acknowledged ends, on the revision that it began with.
    await runs.join(id, run.run_id)
    expect((await runs.get(id, run.run_id)).status).toBe('success')
    const { values } = await threads.getState(id)
    expect(texts(values).at(-1)).toBe(String(Number(text) - 1))
    expect(await shop.answer()).toBe(text)
  },
)
