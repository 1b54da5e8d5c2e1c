/** Why a run failed: it stands on the page of its thread, while one watches and after a reload. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { countClicks } from './support/clicks.ts'
import { expectGoodLooks } from './support/looks.ts'
import { colouredIn, expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

async function newThread(...texts: readonly string[]): Promise<string> {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'refusing' })
  for (const text of texts) {
    await server.client.runs.wait(id, 'refusing', { input: say(text) }).catch(() => undefined)
  }
  return id
}

const addressOf = (id: string, search = '') => `${server.url}/studio/threads/${id}${search}`
const chatOf = (page: Page) => page.getByRole('log', { name: 'Conversation' })
const cardOf = (page: Page) => chatOf(page).getByRole('alert', { name: 'answer failed' })
const rowsOf = (page: Page) => page.getByRole('grid', { name: /Time line/ }).getByRole('row')
const nodeOf = (page: Page) =>
  page.getByRole('region', { name: 'Graph of the assistant' }).getByRole('button', {
    name: /^answer/,
  })

/** What of a style says how a node ended. */
const styles = ['color', 'background-color', 'border', 'outline', 'box-shadow', 'opacity', 'fill',
  'stroke']

/**
 * What the failed node shows, and in which colours, once the page is at rest. Its pixels are not
 * compared: where it stands between two of them, its edge is drawn in two ways.
 */
async function drawn(page: Page): Promise<object> {
  const node = nodeOf(page).and(page.getByRole('button', { name: /Failed/ }))
  await node.waitFor()
  await rowsOf(page).filter({ hasText: 'RangeError' }).filter({ hasText: 'now' }).waitFor()
  await page.evaluate('document.activeElement.blur()')
  await page.evaluate(colouredIn)
  return {
    content: await node.innerHTML(),
    name: await node.getAttribute('aria-label'),
    styles: await node.locator('*').evaluateAll((parts, names) =>
      parts.map((part) => {
        const style = part.ownerDocument.defaultView.getComputedStyle(part)
        return names.map((name) => style.getPropertyValue(name))
      }), styles),
  }
}

it('is said without a click, and the failed node is the same after a reload', async () => {
  const id = await newThread()
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  const clicks = await countClicks(page)
  await page.getByRole('textbox', { name: 'Message' }).fill('fail no paper left')
  await page.keyboard.press('Enter')
  await cardOf(page).getByText('RangeError no paper left').waitFor()
  expect(await clicks()).toBe(0)
  const live = await drawn(page)
  await page.reload()
  await cardOf(page).getByText('RangeError no paper left').waitFor()
  expect(await drawn(page)).toEqual(live)
  const rows = await rowsOf(page).allInnerTexts()
  expect(rows.map((text) => text.split('\n')[0])).toEqual(['answer', 'plan', 'fail no paper left'])
  expect(rows.join(' ')).toContain('Turn 1')
  expect(rows.join(' ')).not.toMatch(/-1|start/)
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})

it('has its places in the project, the way to its trace, and another try', async () => {
  const id = await newThread('fail no paper left')
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await cardOf(page).getByText('Stack').click()
  await cardOf(page).getByText(/chat\.ts:\d+/).waitFor()
  expect(await cardOf(page).innerText()).not.toContain(process.cwd())
  const [run] = await server.client.runs.list(id)
  await expect.poll(() =>
    cardOf(page).getByRole('link', { name: 'Open the trace' }).getAttribute('href')
  ).toContain(run!.run_id)
  await rowsOf(page).filter({ hasText: 'RangeError' }).click()
  const panel = page.getByRole('region', { name: 'Node answer' })
  await panel.getByRole('alert', { name: 'answer failed' }).waitFor()
  expect(new URL(page.url()).searchParams.get('node')).toBe('answer')
  await page.keyboard.press('Escape')
  await cardOf(page).getByRole('button', { name: 'Run again' }).click()
  await expect.poll(async () => (await server.client.runs.list(id)).length).toBe(2)
  await cardOf(page).getByText('RangeError no paper left').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('is shown as text, and bounded, whatever it says', async () => {
  const hostile = 'fail <img src=x onerror=alert(1)> [click](javascript:alert(1)) **bold**'
  const tab = await browser.open(addressOf(await newThread(hostile)))
  const { page } = tab
  await cardOf(page).getByText(hostile.slice(5)).waitFor()
  expect(await cardOf(page).locator('img, a[href^=javascript], strong').count()).toBe(0)
  await page.goto(addressOf(await newThread('long 10000000')))
  await cardOf(page).getByText('The whole message (10,000,000 characters)').click()
  expect((await cardOf(page).innerText()).length).toBeLessThan(25_000)
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expectQuiet(tab)
  await tab.close()
})

it('of a run without a failed node, or without a chat, stands there as well', async () => {
  const id = await newThread('hello')
  await server.client.runs.wait(id, 'refusing', { input: say('again'), config: {
    recursion_limit: 1,
  } }).catch(() => undefined)
  const tab = await browser.open(addressOf(id))
  await chatOf(tab.page).getByRole('alert', { name: 'The run failed' })
    .getByText('GraphRecursionError').waitFor()
  const { thread_id: other } = await server.client.threads.create({ graphId: 'failing' })
  await server.client.runs.wait(other, 'failing', { input: { topic: 'It broke' } })
    .catch(() => undefined)
  await tab.page.goto(addressOf(other))
  await tab.page.getByRole('region', { name: 'Run', exact: true })
    .getByRole('alert', { name: 'boom failed' }).getByText('TypeError It broke').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('can be read by everybody', async () => {
  const id = await newThread('fail no paper left')
  await expectGoodLooks(browser, addressOf(id), ({ page }) => cardOf(page).waitFor())
})
