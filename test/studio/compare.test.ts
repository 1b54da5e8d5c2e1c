/** Two steps of a thread side by side: what was added, removed and changed. */

import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectGoodLooks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

/** The address of a comparison: one message changed its words, one is gone, one is new. */
async function comparison(): Promise<string> {
  const { threads, runs } = server.client
  const { thread_id: id } = await threads.create()
  const say = (messages: readonly object[]) => runs.wait(id, 'echo', { input: { messages } })
  await say([{ type: 'human', id: 'm1', content: 'What is the weather in Oslo?' }, { type: 'human',
    id: 'm2', content: 'And in Bergen?' }])
  const { checkpoint: { checkpoint_id: first } } = await threads.getState(id)
  await threads.updateState(id, { asNode: 'echo', values: { messages: [
    { type: 'human', id: 'm1', content: 'What is the lovely weather in Rome?' },
    { type: 'remove', id: 'm2' },
    { type: 'human', id: 'm4', content: 'New' },
  ] } })
  const { checkpoint: { checkpoint_id: second } } = await threads.getState(id)
  return `${server.url}/studio/threads/${id}?view=state&at=${second}&vs=${first}`
}

it('shows lists by their ids, words of texts, and steps from change to change', async () => {
  const tab = await browser.open(await comparison())
  const { page } = tab
  const rows = page.getByRole('tree', { name: 'Changes' })
  await page.getByText('1 added, 1 removed, 1 changed').waitFor()
  const changed = rows.getByRole('treeitem', { name: 'changed, content' })
  await expect.poll(() => changed.locator('del').allTextContents()).toEqual(['Oslo'])
  await expect.poll(async () =>
    (await changed.locator('ins').allTextContents()).map((text) => text.trim())
  ).toEqual(['lovely', 'Rome'])
  const chosen = rows.getByRole('treeitem', { selected: true })
  for (const [key, name] of [['n', /changed, content/], ['n', /removed, .*And in Bergen/], ['n',
    /added, /], [
    'n',
    /changed, content/,
  ], ['p', /added, .*New/]] as const) {
    await page.keyboard.press(key)
    await chosen.filter({ hasText: name }).waitFor()
  }
  await expect.poll(() => rows.locator('del').count()).toBe(1)

  await page.setViewportSize({ width: 1400, height: 800 })
  await expect.poll(() => changed.locator('del, ins').count()).toBe(3)
  await expect.poll(() => changed.getByText('content').count()).toBe(2)

  await page.getByRole('button', { name: 'Stop comparing' }).click()
  await page.getByRole('tree', { name: 'values' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('of equal steps says so, and of a step that is not there what the server says', async () => {
  const url = new URL(await comparison())
  url.searchParams.set('vs', url.searchParams.get('at')!)
  const tab = await browser.open(url.href, { expected: /status of 4/ })
  await tab.page.getByText('Both steps hold the same.').waitFor()
  url.searchParams.set('vs', 'nowhere')
  await tab.page.goto(url.href)
  await tab.page.getByLabel('Thread').getByRole('alert').first().waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('can be read by everybody', async () => {
  await expectGoodLooks(browser, await comparison(),
    ({ page }) => page.getByText('1 added, 1 removed, 1 changed').waitFor())
})
