/** The recorded calls of a run: by host, one by one, and two bodies side by side. */

import { afterAll, beforeAll, expect, it } from 'vitest'

import { openCallStub } from '../support/call-stub.ts'
import type { CallStub } from '../support/call-stub.ts'
import { useServer } from '../support/server.ts'
import { oneWorker } from '../support/server-process.ts'
import { ask } from '../support/wire.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer({ project: 'recorded', args: oneWorker })
const browser = useBrowser()
let stub: CallStub

beforeAll(async () => {
  stub = await openCallStub()
})
afterAll(() => stub.close())

it('are one click from a run, with their bodies one click further', async () => {
  const { threads, runs } = server.client
  const { thread_id: id } = await threads.create()
  await runs.wait(id, 'caller', { input: { calls: [
    { url: `${stub.url}/failed` },
    { url: `${stub.url}/failed` },
    { url: `${stub.url}/echo?key=abc`, body: '{"city":"Ghent"}' },
    { url: `${stub.url}/pieces` },
  ] } })
  const [run] = await runs.list(id)
  const path = `/threads/${id}/runs/${run!.run_id}/calls`
  await expect.poll(async () => {
    const { body } = await ask(server.url, 'GET', path)
    return (body as { readonly calls: readonly unknown[] }).calls.length
  }, { timeout: 60_000 }).toBe(4)
  const tab = await browser.open(
    `${server.url}/studio/threads/${id}?view=runs&run=${run!.run_id}`,
  )
  const { page } = tab
  await page.getByRole('tab', { name: 'Calls' }).click()
  const hosts = page.getByRole('table', { name: 'Calls by host' })
  const host = new URL(stub.url).host
  await expect.poll(() => hosts.getByRole('row').nth(1).innerText())
    .toMatch(new RegExp(`^${host}\\s+4\\s.*\\s1$`, 's'))
  const list = page.getByRole('region', { name: 'Calls' }).getByRole('listitem')
  expect(await list.count()).toBe(4)
  expect(await tab.violations()).toEqual([])
  await list.filter({ hasText: '/echo?key=***' }).getByRole('button').click()
  for (const name of ['Request', 'Answer']) {
    await page.getByRole('region', { name, exact: true })
      .getByRole('treeitem', { name: 'city: Ghent' }).waitFor()
  }
  expect(await tab.violations()).toEqual([])
  await page.getByRole('button', { name: 'All calls' }).click()
  await list.filter({ hasText: '/pieces' }).getByRole('button').click()
  await page.getByRole('region', { name: 'Answer' }).getByText('data: piece 199').waitFor()
  expectQuiet(tab)
  await tab.close()
}, 120_000)
