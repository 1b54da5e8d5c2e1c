/** The time line: steps, branches, the chosen step, keys, many steps, and what goes wrong. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

async function newThread(...texts: readonly string[]): Promise<string> {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'echo' })
  for (const text of texts) await server.client.runs.wait(id, 'echo', { input: say(text) })
  return id
}

const addressOf = (id: string, search = '') => `${server.url}/studio/threads/${id}${search}`
const gridOf = (page: Page) => page.getByRole('grid', { name: /Time line/ })
const logOf = (page: Page) => page.getByRole('log', { name: 'Conversation' })
const rowsOf = (page: Page) => gridOf(page).getByRole('row')
const chosenOf = (page: Page) => gridOf(page).getByRole('row', { selected: true })
const atOf = (page: Page) => new URL(page.url()).searchParams.get('at')

it('a step is chosen by click and keys, is an address, and is left by Escape', async () => {
  const id = await newThread('one', 'two')
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await rowsOf(page).filter({ hasText: 'two' }).first().waitFor()
  await expect.poll(() => rowsOf(page).count()).toBe(4)
  await rowsOf(page).nth(2).click()
  await page.getByText('Step 1.').waitFor()
  await expect.poll(() => logOf(page).getByText('echo: two').count()).toBe(0)
  await page.keyboard.press('j')
  await page.getByText('Step 0.').waitFor()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('k')
  await page.getByText('Step 3.').waitFor()
  const at = atOf(page)
  await page.reload()
  await chosenOf(page).waitFor()
  expect(atOf(page)).toBe(at)
  expect(await tab.violations()).toEqual([])
  await page.keyboard.press('Escape')
  await logOf(page).getByText('echo: two').waitFor()
  expect(atOf(page)).toBeNull()
  expectQuiet(tab)
  await tab.close()
})

it('run again and branches have lanes of their own; two steps are compared', async () => {
  const id = await newThread('one', 'two')
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await rowsOf(page).nth(3).click()
  await page.getByRole('button', { name: 'Run again' }).click()
  await expect.poll(() => rowsOf(page).count()).toBeGreaterThan(4)
  await rowsOf(page).nth(3).click()
  await page.getByRole('button', { name: 'Compare with now' }).click()
  await page.getByRole('button', { name: 'Stop comparing' }).first().waitFor()
  expect(new URL(page.url()).searchParams.get('view')).toBe('state')
  await page.goBack()
  await page.getByRole('button', { name: 'Copy to a new thread' }).click()
  await page.waitForURL((url) => !url.pathname.includes(id))
  await rowsOf(page).first().waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('of many steps few are in the page; a filter and folds make them fewer', async () => {
  const many = Array.from({ length: 400 }, (_, at) => ({ updates: [{
    values: { messages: [{ role: 'ai', content: `step ${at}` }] },
    as_node: 'echo',
  }] }))
  const answer = await fetch(`${server.url}/threads`, { method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { graph_id: 'echo' }, supersteps: many }) })
  const { thread_id: id } = await answer.json() as { readonly thread_id: string }
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await page.getByText(/^100\+ steps|^400 steps/).waitFor()
  await expect.poll(() => page.locator('main *').count()).toBeLessThan(1_500)
  await gridOf(page).focus()
  await expect.poll(async () => {
    await gridOf(page).evaluate((grid) => {
      grid.scrollTop = grid.scrollHeight
    })
    return page.getByText('400 steps').count()
  }, { timeout: 15_000 }).toBe(1)
  await expect.poll(() => page.locator('main *').count()).toBeLessThan(1_500)
  await page.getByRole('combobox', { name: 'Steps that are shown' }).selectOption('inputs')
  await page.getByText('No step is like that').waitFor()
  expectQuiet(tab)
  await tab.close()
})
