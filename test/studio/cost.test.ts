/** How long and how much: the footers of turns, the sum of a thread, its waterfall, and prices. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'
import { countClicks } from './support/clicks.ts'
import { expectGoodLooks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

async function threadAfter(...turns: readonly string[]): Promise<string> {
  const { thread_id: id } = await server.client.threads.create()
  for (const turn of turns) await server.client.runs.wait(id, 'metered', { input: say(turn) })
  return id
}

const addressOf = (id: string) => `${server.url}/studio/threads/${id}`
const turns = (page: Page) => page.getByRole('group', { name: 'Turn', exact: true })
const sum = (page: Page) => page.getByRole('group', { name: 'The whole thread' })

/** Removes the prices that a test set. */
async function removePrices(name: string): Promise<void> {
  const { body } = await ask(server.url, 'GET', '/api/v1/model-price-map')
  for (const price of body as { id: string; name: string }[]) {
    if (price.name !== name) continue
    await ask(server.url, 'DELETE', `/api/v1/model-price-map/${price.id}`)
  }
}

it('the cost of a thread stands there, without a click, also after a reload', async () => {
  const id = await threadAfter('gpt-4o 1000 100 800 60', 'o3 10 1')
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  for (const _ of ['at first', 'after a reload']) {
    const clicks = await countClicks(page)
    await sum(page).getByText('$0.0025').waitFor()
    await sum(page).getByText('1,111 tokens (800 cached, 60 reasoning)').waitFor()
    await turns(page).filter({ hasText: 'gpt-4o' }).getByText('$0.0025').waitFor()
    await turns(page).filter({ hasText: 'o3' }).getByText('11 tokens').waitFor()
    expect(await turns(page).count()).toBe(2)
    expect(await clicks()).toBe(0)
    await page.reload()
  }
  const { runs: [last] } = (await ask(server.url, 'GET', `/threads/${id}/usage`)).body as {
    runs: { run_id: string; duration_ms: number }[]
  }
  const trace = turns(page).last().getByRole('link', { name: 'Trace' })
  expect(await trace.getAttribute('href')).toContain(last!.run_id)
  expectQuiet(tab)
  await tab.close()
})

it('a dash names the model without a price, and leads to where it gets one', async () => {
  const id = await threadAfter('weaver-9 1000 100')
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await sum(page).getByRole('link', { name: 'No price for weaver-9: set one' }).click()
  const form = page.getByRole('dialog')
  expect(await form.getByLabel('Model').inputValue()).toBe('weaver-9')
  const save = form.getByRole('button', { name: 'Save' })
  await form.getByLabel('Input', { exact: true }).fill('-1')
  await form.getByLabel('Output').fill('1e308')
  await save.click()
  await expect.poll(() => form.getByText('A number of dollars').count()).toBe(2)
  await form.getByLabel('Input', { exact: true }).fill('2')
  await form.getByLabel('Output').fill('10')
  await save.click()
  await page.getByRole('row', { name: /^weaver-9 yours/ }).waitFor()
  await page.goBack()
  await sum(page).getByText('$0.003').waitFor()

  await page.goto(`${server.url}/studio/prices?q=weaver`)
  await page.getByRole('button', { name: 'Change weaver-9' }).click()
  await form.getByLabel('Input', { exact: true }).fill('4')
  await save.click()
  await form.waitFor({ state: 'detached' })
  await page.goto(addressOf(id))
  await sum(page).getByText('$0.005').waitFor()

  await page.goto(`${server.url}/studio/prices?q=weaver`)
  await page.getByRole('button', { name: 'Delete weaver-9' }).click()
  await page.getByRole('heading', { name: 'No price matches' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('the waterfall of a run is a tab of its thread', async () => {
  const id = await threadAfter('gpt-4o 1000 100', 'o3 10 1')
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await page.getByRole('tab', { name: 'Trace' }).click()
  const view = page.getByRole('region', { name: 'Trace', exact: true })
  await view.getByText('o3', { exact: true }).first().waitFor()
  await view.getByRole('combobox', { name: 'Run' }).selectOption('Run 1')
  const row = view.getByRole('row').or(view.getByRole('treeitem')).filter({ hasText: 'gpt-4o' })
  await row.first().click()
  await view.getByRole('complementary', { name: 'Chosen span' }).getByText('1,000 in').waitFor()
  await page.reload()
  await view.getByText('gpt-4o', { exact: true }).first().waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('names of models are shown as they are', async () => {
  const name = '<img/src=x/onerror=alert(1)>'
  const id = await threadAfter(`${name} 5 5`)
  const tab = await browser.open(addressOf(id))
  await sum(tab.page).getByText(name).waitFor()
  await tab.page.goto(`${server.url}/studio/prices?model=${encodeURIComponent(name)}`)
  expect(await tab.page.getByRole('dialog').getByLabel('Model').inputValue()).toBe(name)
  expect(await tab.page.locator('img').count()).toBe(0)
  await tab.page.goto(`${server.url}/studio/prices?model=${'x'.repeat(10_240)}`)
  // A dialog may stand before it.
  await tab.page.getByRole('heading', { name: 'Prices', includeHidden: true }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it.runIf(isNight)('the thread, its trace and the prices look good', async () => {
  const id = await threadAfter('gpt-4o 1000 100 800 60', 'weaver-9 10 1\no3 20 2')
  await expectGoodLooks(browser, addressOf(id), ({ page }) => sum(page).waitFor())
  await expectGoodLooks(browser, `${addressOf(id)}?view=trace`,
    ({ page }) => page.getByRole('region', { name: 'Spans' }).waitFor())
  await expectGoodLooks(browser, `${server.url}/studio/prices?q=gpt-4`,
    ({ page }) => page.getByRole('row').nth(2).waitFor())
  await expectGoodLooks(browser, `${server.url}/studio/prices?model=weaver-9`,
    ({ page }) => page.getByRole('dialog').waitFor())
  await removePrices('weaver-9')
})
