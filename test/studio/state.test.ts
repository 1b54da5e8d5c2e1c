/** The state of a thread: as a tree, searched, edited, and refused. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectGoodLooks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

const image = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='

/** A thread with messages, one of which is long, and one of which holds an image. */
async function longThread(): Promise<string> {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, 'echo', { input: { messages: [
    { type: 'human', id: 'm1', content: 'What is the weather in Oslo?' },
    { type: 'human', id: 'm2', content: 'word '.repeat(1_000) },
    { type: 'human', id: 'm3',
      content: [{ type: 'image_url', image_url: { url: image } }, { type: 'text',
        text: '<img src=x onerror=alert(1)>' }] },
  ] } })
  return id
}

const addressOf = (id: string) => `${server.url}/studio/threads/${id}?view=state`
const tree = (page: Page) => page.getByRole('tree', { name: 'values' })
const row = (page: Page, name: string) => tree(page).getByRole('treeitem', { name })

it('is a tree that people read, search and move through by keys', async () => {
  const tab = await browser.open(addressOf(await longThread()))
  const { page } = tab
  await row(page, 'human: What is the weather in Oslo?').waitFor()

  await tree(page).focus()
  for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key)
  await row(page, 'content: What is the weather').waitFor()
  await page.keyboard.press('ArrowLeft')
  await row(page, 'content: What is the weather').waitFor({ state: 'detached' })

  await page.getByRole('searchbox').fill('WORD')
  await page.getByText('1 of 1').waitFor()
  await page.getByRole('button', { name: 'Show all 5,000 characters' }).click()
  await page.getByRole('button', { name: 'Show less' }).click()

  await page.getByRole('searchbox').fill('base64')
  await expect.poll(() => page.getByRole('img', { name: 'image/gif' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Show the image' }).click()
  await page.getByRole('img', { name: 'image/gif' }).waitFor()
  await page.getByRole('searchbox').fill('not there at all')
  await page.getByText('none', { exact: true }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('is edited: what differs is written as a new step, and a refusal stands at its place',
  async () => {
    const { thread_id: id } = await server.client.threads.create()
    await server.client.runs.wait(id, 'steps', { input: { topic: 'x' } })
    const tab = await browser.open(addressOf(id), { expected: /status of 4/ })
    const { page } = tab
    const editor = page.getByRole('textbox', { name: 'State as JSON' })
    const save = page.getByRole('button', { name: 'Save as a new step' })
    const type = async (text: string) => {
      await editor.click()
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.insertText(text)
    }
    await page.getByRole('button', { name: 'Edit state' }).click()
    await editor.waitFor()
    await expect.poll(() => save.isDisabled()).toBe(true)

    await type('{ "topic": ')
    await page.getByRole('alert').filter({ hasText: 'This is no JSON yet' }).waitFor()

    await type('{ "topic": "x", "log": ["a:x", "b:x", "c:x"], "unknown": 1 }')
    await save.click()
    await page.getByRole('alert').filter({ hasText: 'no channel of the state' }).waitFor()

    await page.getByRole('combobox', { name: 'Write as' }).selectOption('a')
    await type('{ "topic": "changed", "log": ["only this"] }')
    await page.getByText('Writes').waitFor()
    await save.click()
    await page.getByText('The reducer of log merged what you wrote').waitFor()
    expect(await tab.violations()).toEqual([])
    await page.getByRole('button', { name: 'Replace it' }).click()
    await row(page, 'topic: changed').waitFor()
    await row(page, '0: only this').waitFor()
    const { values } = await server.client.threads.getState(id)
    expect(values).toEqual({ topic: 'changed', log: ['only this'] })
    expectQuiet(tab)
    await tab.close()
  })

it('of nothing, and one that cannot be read, say so', async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'echo' })
  const tab = await browser.open(addressOf(id), { expected: /status of (503|403)/ })
  const { page } = tab
  await page.getByRole('heading', { name: 'No state yet' }).waitFor()
  let status = 503
  await page.route(/\/state\?/, (route) =>
    status === 200
      ? route.continue()
      : route.fulfill({ status, json: { detail: `No: ${status}.`, code: 'x' } }))
  await page.reload()
  await page.getByText('No: 503.').first().waitFor()
  status = 200
  await page.getByLabel('Thread').getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'No state yet' }).waitFor()
  await tab.close()
})

it('of 2,000 messages has few rows in the page', async () => {
  const { thread_id: id } = await server.client.threads.create()
  const messages = Array.from({ length: 2_000 },
    (_, at) => ({ type: 'human', id: `m${at}`, content: `${at}: ${'word '.repeat(500)}` }))
  await server.client.runs.wait(id, 'echo', { input: { messages } })
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await row(page, 'human: 0:').waitFor()
  await tree(page).focus()
  await page.keyboard.press('End')
  await row(page, '2000: ai').waitFor()
  await expect.poll(() => page.getByRole('treeitem').count()).toBeLessThanOrEqual(60)
  expectQuiet(tab)
  await tab.close()
})

it('can be read by everybody', async () => {
  const id = await longThread()
  await expectGoodLooks(browser, addressOf(id),
    ({ page }) => row(page, 'human: What is the weather in Oslo?').waitFor())
})
