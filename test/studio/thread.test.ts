/** The page of a thread: its head, its layouts, other graphs than chats, and what goes wrong. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

/** A folder for pictures of the page, for who wants to look at them. */
const shots = process.env['HEDDLE_SHOTS']

async function look(page: Page, name: string): Promise<void> {
  if (shots === undefined) return
  mkdirSync(shots, { recursive: true })
  await page.screenshot({ path: join(shots, `${name}.png`) })
}

async function newThread(graph: string, input: Record<string, unknown>): Promise<string> {
  const { thread_id: id } = await server.client.threads.create({ graphId: graph })
  await server.client.runs.wait(id, graph, { input })
  return id
}

const addressOf = (id: string, search = '') => `${server.url}/studio/threads/${id}${search}`
const nowhere = '00000000-0000-4000-8000-000000000000'

it.runIf(isNight)('is readable in light and dark, wide, on a tablet and a phone', async () => {
  const id = await newThread('echo', say('## Title\n\n- a\n- b\n\n[x](https://example.org)'))
  for (const [width, colours] of [[1_280, 'dark'], [1_000, 'light'], [390, 'light'], [390,
    'dark']] as const) {
    const tab = await browser.open(addressOf(id), { width, colours })
    const { page } = tab
    await page.getByRole('article', { name: 'Assistant' }).waitFor()
    expect(await tab.violations()).toEqual([])
    await look(page, `thread-${width}-${colours}`)
    if (width === 390) {
      await page.getByRole('tab', { name: 'Time line' }).click()
      await page.getByRole('row').first().waitFor()
      expect(await tab.violations()).toEqual([])
      await page.getByRole('row').nth(1).click()
      await page.getByText('What you send now starts a branch here.').waitFor()
      await look(page, `thread-${width}-${colours}-step`)
    }
    if (width < 1_100) {
      await page.getByRole('tab', { name: 'Graph' }).click()
      await page.getByRole('region', { name: 'Graph', exact: true }).waitFor()
    }
    expectQuiet(tab)
    await tab.close()
  }
})

it('is renamed, copied and deleted, also while it is open', async () => {
  const id = await newThread('echo', say('hello'))
  const tab = await browser.open(addressOf(id), { expected: /404/ })
  const { page } = tab
  await page.getByRole('button', { name: 'More acts' }).click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await page.getByRole('textbox', { name: 'Title' }).fill('שלום עולם')
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { name: 'שלום עולם', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.waitForURL((url) => !url.pathname.includes(id))
  const copy = new URL(page.url()).pathname.split('/').at(-1)!
  await page.getByText('echo: hello').first().waitFor()
  await server.client.threads.delete(copy)
  await page.getByRole('heading', { name: 'This thread was deleted' }).waitFor()
  await page.goto(addressOf(id))
  await page.getByRole('button', { name: 'More acts' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'Threads', level: 1 }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('a graph that holds no conversation has its state and a form', async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'steps' })
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await page.getByRole('tab', { name: 'State' }).waitFor()
  await page.getByRole('tab', { name: 'Chat' }).waitFor({ state: 'detached' })
  const form = page.getByRole('region', { name: 'Run', exact: true })
  await form.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('row', { name: /\bc\b/ }).first().waitFor()
  expect(await tab.violations()).toEqual([])
  await look(page, 'thread-form')
  expectQuiet(tab)
  await tab.close()
})

it('a thread that does not exist is a sentence and the way back', async () => {
  const tab = await browser.open(addressOf(nowhere), { expected: /404/ })
  const { page } = tab
  await page.getByRole('heading', { name: 'There is no such thread' }).waitFor()
  expect(await tab.violations()).toEqual([])
  await page.getByRole('main').getByRole('link', { name: 'All threads' }).click()
  await page.getByRole('heading', { name: 'Threads', level: 1 }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('errors stand where they happened, with the words of the server', async () => {
  const id = await newThread('echo', say('hello'))
  const tab = await browser.open('about:blank', { expected: /500|503|429|Failed to load/ })
  const { page } = tab
  let broken = true
  await page.route(`**/threads/${id}/history`, (route) =>
    broken
      ? route.fulfill({ status: 503, json: { detail: 'The store is away.', code: 'unavailable' } })
      : route.continue())
  await page.route(`**/threads/${id}/runs`,
    (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '7' },
        json: { detail: 'Too many requests.', code: 'rate_limited' } }))
  await page.goto(addressOf(id))
  await page.getByRole('region', { name: 'Time line' }).getByText('The store is away.').waitFor()
  await page.getByText('echo: hello').waitFor()
  expect(await tab.violations()).toEqual([])
  broken = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('row').first().waitFor()
  await page.getByRole('textbox', { name: 'Message' }).fill('more')
  await page.keyboard.press('Enter')
  await page.getByText('Too many requests.').waitFor()
  await page.getByText('It asks for 7 s of patience.').waitFor()
  await expect.poll(() => page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('more')
  await tab.close()
})
