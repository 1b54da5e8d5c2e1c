/** The runs of a thread: what they were given, why they failed, and what may be done with them. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { expectGoodLooks } from './support/looks.ts'
import { asReader } from './support/changed-answer.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()
const newGate = useGates()

async function threadWithRuns(): Promise<string> {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, 'steps', { input: { topic: 'fine' } })
  await server.client.runs.wait(id, 'failing', { input: { topic: 'It broke' } })
    .catch(() => undefined)
  return id
}

const addressOf = (id: string) => `${server.url}/studio/threads/${id}?view=runs`
const runs = (page: Page) => page.getByRole('listbox', { name: 'Runs' }).getByRole('option')
const detail = (page: Page) => page.getByRole('region', { name: 'Chosen run' })

it('are listed; each shows its input and its error, and starts again', async () => {
  const id = await threadWithRuns()
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await runs(page).filter({ hasText: 'It broke' }).click()
  await detail(page).getByRole('alert', { name: 'boom failed' }).filter({ hasText: 'TypeError' })
    .waitFor()
  await detail(page).getByRole('treeitem', { name: 'topic: It broke' }).waitFor()
  const trace = await detail(page).getByRole('link', { name: 'Trace' }).getAttribute('href')
  const [failed] = await server.client.runs.list(id, { limit: 1 })
  expect(trace).toContain(`/traces/-/${failed!.run_id}`)

  await page.getByRole('tab', { name: 'Log' }).click()
  await detail(page).getByRole('heading', { name: 'Nothing logged' }).waitFor()

  await runs(page).filter({ hasText: 'fine' }).click()
  await detail(page).getByText('Done').waitFor()
  await detail(page).getByRole('button', { name: 'Run again' }).click()
  await expect.poll(() => runs(page).count()).toBe(3)
  await runs(page).first().filter({ hasText: 'fine' }).waitFor()
  const [again] = await server.client.runs.list(id, { limit: 1 })
  expect(again).toMatchObject({ kwargs: { input: { topic: 'fine' } } })
  expect(new URL(page.url()).searchParams.get('run')).toBe(again!.run_id)

  await expect.poll(async () => (await server.client.runs.get(id, again!.run_id)).status)
    .toBe('success')
  await page.reload()
  await detail(page).getByRole('button', { name: 'Delete …' }).click()
  await detail(page).getByRole('button', { name: 'Delete this run' }).click()
  await expect.poll(() => runs(page).count()).toBe(2)
  expectQuiet(tab)
  await tab.close()
})

it('start in a copy of their thread, which ends where they began', async () => {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, 'echo', { input: say('one') })
  await server.client.runs.wait(id, 'echo', { input: say('two') })
  await server.client.runs.wait(id, 'echo', { input: say('three') })
  const [, second, first] = await server.client.runs.list(id)
  const before = await server.client.threads.getState(id)
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  const saidAfter = async (run: string) => {
    await page.goto(`${addressOf(id)}&run=${run}`)
    await detail(page).getByRole('button', { name: 'Run in a copy' }).click()
    const dialog = page.getByRole('dialog', { name: 'Run in a copy' })
    // The question is in the address, and can be sent to somebody.
    expect(new URL(page.url()).searchParams.get('ask')).toBe('copy')
    await page.reload()
    await dialog.getByRole('button', { name: 'Run in a copy' }).click()
    await page.waitForURL((url) => !url.pathname.includes(id) && !url.searchParams.has('ask'))
    const copy = new URL(page.url()).pathname.split('/').at(-1)!
    const [begun] = await server.client.runs.list(copy)
    await server.client.runs.join(copy, begun!.run_id)
    const { values } = await server.client.threads.getState<{
      messages: readonly { readonly type: string; readonly content: string }[]
    }>(copy)
    return values.messages.filter(({ type }) => type === 'human').map(({ content }) => content)
  }
  expect(await saidAfter(second!.run_id)).toEqual(['one', 'two'])
  // Nothing was there before the first one.
  expect(await saidAfter(first!.run_id)).toEqual(['one'])
  expect(await server.client.threads.getState(id)).toEqual(before)
  await page.goto(`${addressOf(id)}&run=${second!.run_id}&ask=copy`)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect.poll(() => page.url()).not.toContain('ask')
  expect(await server.client.runs.list(id)).toHaveLength(3)
  expectQuiet(tab)
  await tab.close()
})

it('that goes on is stopped', async () => {
  const gate = newGate()
  const { thread_id: id } = await server.client.threads.create()
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await page.getByRole('heading', { name: 'No runs yet' }).waitFor()
  const { run_id: run } = await server.client.runs.create(id, 'held', {
    input: say(`hold ${gate.url}`),
  })
  await gate.arrived()
  await page.goto(`${addressOf(id)}&run=${run}`)
  await detail(page).getByRole('button', { name: 'Stop, keep its steps' }).click()
  await expect.poll(async () => (await server.client.runs.get(id, run)).status)
    .toBe('interrupted')
  expectQuiet(tab)
  await tab.close()
})

it('that cannot be read say why, and are asked for again', async () => {
  const tab = await browser.open(addressOf(await threadWithRuns()), {
    expected: /status of 429/,
  })
  const { page } = tab
  await runs(page).first().waitFor()
  await page.route(/\/runs\?/, (route) =>
    route.fulfill({ status: 429, headers: {
      'retry-after': '3',
    }, json: { detail: 'Too many requests.', code: 'rate_limited' } }))
  await page.reload()
  await page.getByText('Too many requests.').first().waitFor()
  await page.unroute(/\/runs\?/)
  await page.getByLabel('Thread').getByRole('button', { name: 'Try again' }).click()
  await runs(page).first().waitFor()
  await tab.close()
})

it('are only looked at by who may only read', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`)
  const { page } = tab
  await asReader(page)
  await page.goto(addressOf(await threadWithRuns()))
  await runs(page).first().click()
  const again = detail(page).getByRole('button', { name: 'Run again' })
  await expect.poll(() => again.isDisabled()).toBe(true)
  await expect.poll(() => again.getAttribute('title')).toBe(
    'A key with the role reader changes nothing.',
  )
  await page.getByRole('tab', { name: 'State' }).click()
  await expect.poll(() => page.getByRole('button', { name: 'Edit state' }).isDisabled()).toBe(true)
  expectQuiet(tab)
  await tab.close()
})

it('can be read by everybody', async () => {
  const id = await threadWithRuns()
  const [run] = await server.client.runs.list(id, { limit: 1 })
  await expectGoodLooks(browser, `${addressOf(id)}&run=${run!.run_id}`,
    ({ page }) => detail(page).getByRole('alert').filter({ hasText: 'TypeError' }).waitFor())
})
