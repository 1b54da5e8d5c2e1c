/** The list of threads: its states, its filter, its keys, and how it looks everywhere. */

import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { asReader } from './support/changed-answer.ts'
import { looks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()
const user = `weaver-${randomUUID().slice(0, 8)}`
const list = `/studio/threads?q=user:${user}`
const long = 'Long words '.repeat(60)

beforeAll(async () => {
  const titles = ['Dobby loom', 'Jacquard loom', long, 'كيف يعمل النول؟']
  for (const [number, title] of titles.entries()) {
    await server.client.threads.create({ metadata: { title, user, number, graph_id: 'echo' } })
  }
  const { thread_id: id } = await server.client.threads.create({ metadata: { user } })
  await server.client.runs.wait(id, 'ask', { input: { question: 'Publish it?' } })
})

it.each(looks)('has no barrier in $colours, $width pixels wide', async (look) => {
  const tab = await browser.open(server.url + list, look)
  await tab.page.getByRole('link', { name: 'Dobby loom' }).waitFor()
  expect(await tab.violations()).toEqual([])
  await tab.page.goto(`${server.url}/studio/threads?q=user:nobody-${user}`)
  await tab.page.getByRole('heading', { name: 'No thread matches' }).waitFor()
  expect(await tab.violations()).toEqual([])
  // Nothing is wider than the window.
  await expect.poll(() => tab.page.locator('html').evaluate(({ scrollWidth }) => scrollWidth))
    .toBeLessThanOrEqual(look.width)
  expectQuiet(tab)
  await tab.close()
})

it('is filtered by its address, which what is typed and chosen changes', async () => {
  const tab = await browser.open(server.url + list)
  const { page } = tab
  const rows = page.getByRole('grid', { name: 'Threads' }).getByRole('row')
  await expect.poll(() => rows.count()).toBe(5)
  await page.getByText('Publish it?').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.press('End')
  await page.keyboard.type(' jacq')
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByRole('link', { name: 'Jacquard loom' }).waitFor()
  expect(new URL(page.url()).searchParams.get('q')).toBe(`user:${user} jacq`)
  await page.reload()
  await page.getByRole('link', { name: 'Jacquard loom' }).waitFor()
  await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe(`user:${user} jacq`)
  await page.getByRole('searchbox').fill(`user:${user}`)
  await page.getByRole('button', { name: /^Waiting for you/ }).click()
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByText('Publish it?').waitFor()
  await page.getByRole('button', { name: /^Waiting for you/ }).click()
  await page.getByRole('button', { name: '3', exact: true }).click()
  await expect.poll(() => rows.count()).toBe(1)
  expect(new URL(page.url()).searchParams.get('q')).toBe(`user:${user} number:3`)
  expectQuiet(tab)
  await tab.close()
})

it('is gone through by keys, opens a thread, and stands where it stood afterwards', async () => {
  const tab = await browser.open(server.url + list + '&sort=created-asc')
  const { page } = tab
  const grid = page.getByRole('grid', { name: 'Threads' })
  await page.getByRole('link', { name: 'Dobby loom' }).waitFor()
  await page.keyboard.press('j')
  await expect.poll(() => grid.getAttribute('aria-activedescendant')).toBe('thread-1')
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('k')
  await expect.poll(() => grid.getAttribute('aria-activedescendant')).toBe('thread-2')
  await page.keyboard.press('Home')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url()).toMatch(/\/studio\/threads\/[0-9a-f-]{36}$/)
  await page.goBack()
  await expect.poll(() => grid.getAttribute('aria-activedescendant')).toBe('thread-1')
  await tab.close()
})

it('stays where it is while threads come, and says how many are newer', async () => {
  const own = `late-${randomUUID().slice(0, 8)}`
  await server.client.threads.create({ metadata: { title: 'First', user: own } })
  const tab = await browser.open(`${server.url}/studio/threads?q=user:${own}`)
  const { page } = tab
  await page.getByRole('link', { name: 'First' }).waitFor()
  await server.client.threads.create({ metadata: { title: 'Second', user: own } })
  await page.getByRole('button', { name: '1 newer' }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: 'Second' }).count()).toBe(0)
  await page.getByRole('button', { name: '1 newer' }).click()
  await page.getByRole('link', { name: 'Second' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('says what the server said, and tries again only where that may help', async () => {
  const tab = await browser.open(`${server.url}/studio/runs`, { expected: /Failed to load/ })
  const { page } = tab
  const rail = page.getByRole('navigation')
  for (const [status, headers, helps] of [[403, {}, false], [401, {}, false], [503, {}, true], [500,
    {}, true], [429, { 'retry-after': '7' }, true]] as const) {
    const detail = `The sentence of ${status}.`
    await page.route('**/threads/search', (route) =>
      route.fulfill({ status, headers, json: { detail } }))
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await rail.getByRole('link', { name: 'Threads' }).click()
    // Who is nobody is asked to sign in, in the words of the page.
    await page.getByText(status === 401 ? /^Sign in with the API key/ : detail).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Try again' }).count())
      .toBe(helps ? 1 : 0)
    if (status === 503) expect(await tab.violations()).toEqual([])
    await page.unroute('**/threads/search')
    if (status === 401) await page.goto(`${server.url}/studio/runs`)
    else if (status !== 429) await rail.getByRole('link', { name: 'Runs' }).click()
  }
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('grid', { name: 'Threads' }).getByRole('row').first().waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('shows rows to come while it waits, and asks all again after a lost connection', async () => {
  const tab = await browser.open(`${server.url}/studio/runs`, {
    expected: /Failed to load|ERR_FAILED/,
  })
  const { page } = tab
  const gate = Promise.withResolvers<void>()
  await page.route('**/threads/search', async (route) => {
    await gate.promise
    await route.continue()
  })
  await page.getByRole('navigation').getByRole('link', { name: 'Threads' }).click()
  await page.locator('[role=grid][aria-busy=true]').waitFor()
  expect(await tab.violations()).toEqual([])
  gate.resolve()
  await page.getByRole('grid', { name: 'Threads' }).getByRole('link').first().waitFor()
  await page.unroute('**/threads/search')
  const refuse = (route: { abort(): Promise<void> }) => route.abort()
  await page.route(/\/(info|ok|auth|threads|assistants)/, refuse)
  await page.getByRole('button', { name: /^Failed/ }).click()
  await page.getByText('Connection lost: what you see may be old').waitFor()
  await page.unroute(/\/(info|ok|auth|threads|assistants)/, refuse)
  await page.getByText('local ·').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('keeps views with a name on this machine', async () => {
  const tab = await browser.open(server.url + list + '&status=interrupted')
  const { page } = tab
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByLabel('Save what is shown now as').fill('What waits')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'What waits' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('navigation').getByRole('link', { name: 'Threads' }).click()
  await expect.poll(() => new URL(page.url()).search).toBe('')
  await page.getByRole('button', { name: 'Views' }).click()
  expect(await tab.violations()).toEqual([])
  await page.getByRole('link', { name: 'What waits' }).click()
  await page.getByText('Publish it?').waitFor()
  expect(new URL(page.url()).searchParams.get('status')).toBe('interrupted')
  expectQuiet(tab)
  await tab.close()
})

it('makes a thread for the assistant that is chosen', async () => {
  const tab = await browser.open(server.url + list)
  const { page } = tab
  await page.getByRole('button', { name: 'New thread' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('searchbox', { name: 'Filter assistants' }).fill('asktwice')
  expect(await tab.violations()).toEqual([])
  await dialog.getByRole('button', { name: 'asktwice' }).click()
  await expect.poll(() => page.url()).toMatch(/\/studio\/threads\/[0-9a-f-]{36}$/)
  const { metadata } = await server.client.threads.get(page.url().slice(-36))
  expect(metadata).toMatchObject({ graph_id: 'asktwice' })
  await tab.close()
})

it('lets those who may only read change nothing, and says why', async () => {
  const tab = await browser.open(`${server.url}/studio/runs`)
  const { page } = tab
  await asReader(page)
  await page.goto(server.url + list)
  await page.getByTitle('Your role may only read.').first().waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'New thread' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Choose', exact: true }).click()
  await page.getByRole('checkbox').first().check()
  await expect.poll(() => page.getByRole('button', { name: 'Delete …' }).isDisabled()).toBe(true)
  expectQuiet(tab)
  await tab.close()
})
