/** The store in the Studio: the tree, search, view, edit, expiry, deletion, hostile items. */

import { beforeAll, expect, it } from 'vitest'

import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { countClicks } from './support/clicks.ts'
import { expectGoodLooks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer({ args: oneWorker })
const browser = useBrowser()
const markup = '<img src=x onerror=alert(1)><b>*'
const pageUrl = (path = '') => `${server.url}/studio/store${path}`

beforeAll(async () => {
  const { store } = server.client
  const put = (namespace: string[], key: string, value: Record<string, unknown>, ttl?: number) =>
    store.putItem(namespace, key, value, ttl === undefined ? {} : { ttl })
  await put(['users', 'ada', 'likes'], 'food', { text: 'Ada likes plum jam on bread' })
  await put(['users', 'ada'], 'soon', { text: 'a short memory' }, 600)
  await put(['users', 'bob'], 'food', { text: 'Bob likes pears' })
  // The longest value that an item may have, of one word.
  await put(['long'], 'word', { text: 'w'.repeat(500_000) })
  await put([markup, '*', '‮evil'], markup, { [markup]: markup })
  for (let at = 0; at < 60; at++) await put(['many', `n${at}`], `item ${at}`, { at })
})

it('finds a fact with three clicks at most, edits it, and deletes it', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`)
  const { page } = tab
  const clicks = await countClicks(page)
  await page.getByRole('link', { name: 'Store', exact: true }).click()
  await page.getByRole('searchbox', { name: 'Search items' }).click()
  await page.keyboard.type('jam ADA')
  const rows = page.getByRole('grid', { name: 'Items' }).getByRole('row')
  await expect.poll(() => rows.count()).toBe(1)
  await rows.first().click()
  const drawer = page.getByRole('dialog', { name: 'Item' })
  await drawer.getByText('Ada likes plum jam on bread').waitFor()
  expect(await clicks()).toBeLessThanOrEqual(3)
  await drawer.getByText('users › ada › likes').waitFor()
  await drawer.getByText('never').waitFor()
  await drawer.getByRole('button', { name: 'Edit' }).click()
  const editor = page.getByRole('dialog', { name: 'Edit the item' })
  const value = editor.getByRole('textbox', { name: 'Value, as JSON' })
  const type = async (text: string) => {
    await value.click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText(text)
  }
  await type('[1]')
  await editor.getByRole('button', { name: 'Save' }).click()
  await editor.getByText(/^The value of an item is an object/).waitFor()
  await type('{"text":"Ada likes tea"}')
  await editor.getByLabel('Expires').selectOption('minutes')
  await editor.getByLabel('Minutes').fill('90')
  await editor.getByRole('button', { name: 'Save' }).click()
  await drawer.getByText('Ada likes tea').waitFor()
  await drawer.getByText('in 2 h').waitFor()
  await drawer.getByRole('button', { name: 'Delete' }).click()
  await drawer.getByRole('button', { name: 'Yes, delete it' }).click()
  await page.getByRole('heading', { name: 'No item matches' }).waitFor()
  expect(await server.client.store.getItem(['users', 'ada', 'likes'], 'food')).toBeNull()
  expectQuiet(tab)
  await tab.close()
}, 60_000)

it('opens the tree step by step, pages, and makes an item', async () => {
  const tab = await browser.open(pageUrl(), { expected: /status of 422/ })
  const { page } = tab
  const tree = page.getByRole('navigation', { name: 'Namespaces' })
  await tree.getByRole('button', { name: 'Labels below many' }).click()
  await tree.getByRole('link', { name: 'n17', exact: true }).click()
  const grid = page.getByRole('grid', { name: 'Items' })
  await expect.poll(() => grid.getByRole('row').count()).toBe(1)
  await tree.getByRole('link', { name: 'many', exact: true }).click()
  await grid.getByText('item 59').waitFor()
  expect(await tree.locator('[aria-current]').allTextContents()).toEqual(['many'])
  await grid.focus()
  await expect.poll(async () => {
    await page.keyboard.press('End')
    return grid.getByText('item 0', { exact: true }).count()
  }).toBe(1)
  await page.getByRole('button', { name: 'New item' }).click()
  const form = page.getByRole('dialog', { name: 'New item' })
  await expect.poll(() => form.getByLabel('Namespace').inputValue()).toBe('many')
  await form.getByLabel('Key').fill('own')
  await form.getByLabel('Namespace').fill('many..x')
  await form.getByRole('button', { name: 'Create' }).click()
  await form.getByText(/^A namespace is one or more labels/).waitFor()
  await form.getByLabel('Namespace').fill('many.a:b')
  await form.getByRole('button', { name: 'Create' }).click()
  await form.getByText(/must not contain ":"/).waitFor()
  await form.getByLabel('Namespace').fill('many.own')
  await form.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('dialog', { name: 'Item' }).getByText('many › own').waitFor()
  await page.reload()
  await page.getByRole('dialog', { name: 'Item' }).getByText('many › own').waitFor()
  expectQuiet(tab)
  await tab.close()
}, 60_000)

it('shows hostile labels, keys and values as text, and 500 kB of one word at once', async () => {
  const tab = await browser.open(pageUrl())
  const { page } = tab
  const tree = page.getByRole('navigation', { name: 'Namespaces' })
  await tree.getByRole('button', { name: `Labels below ${markup}` }).click()
  await tree.getByRole('button', { name: 'Labels below *', exact: true }).click()
  await tree.getByRole('link', { name: /evil$/ }).click()
  await page.getByRole('grid', { name: 'Items' }).getByRole('row').filter({ hasText: markup })
    .click()
  const drawer = page.getByRole('dialog', { name: 'Item' })
  await drawer.getByText(markup).first().waitFor()
  expect(await page.locator('main img, [role=dialog] img, main b b').count()).toBe(0)
  await page.goto(pageUrl(`?item=${encodeURIComponent('["long","word"]')}`))
  await drawer.getByText(/^"?w{100}/).first().waitFor()
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(1_500)
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await page.goto(pageUrl('?item=7&ns=%7B%7D&by=magic&act=explode'))
  await page.getByRole('heading', { name: 'Store' }).waitFor()
  await page.goto(pageUrl(`?item=${encodeURIComponent('["gone","x"]')}`))
  await drawer.getByText(/^There is no such item/).waitFor()
  expectQuiet(tab)
  await tab.close()
}, 60_000)

it('says that nothing is found by meaning without an index', async () => {
  const tab = await browser.open(pageUrl('?q=something%20sweet'))
  const { page } = tab
  await page.getByRole('heading', { name: 'No item matches' }).waitFor()
  await page.getByLabel('Search', { exact: true }).selectOption('meaning')
  await page.getByText(/^Nothing here has a vector/).waitFor()
  expectQuiet(tab)
  await tab.close()
}, 30_000)

it('looks well: the tree with items, an item, the form, and no overflow', async () => {
  await expectGoodLooks(browser, pageUrl(), async ({ page, violations }) => {
    await page.goto(pageUrl(`?ns=${encodeURIComponent('["users"]')}`))
    await page.getByRole('grid', { name: 'Items' }).getByText('soon').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await violations()).toEqual([])
    await page.goto(pageUrl(`?item=${encodeURIComponent('["users","ada","soon"]')}`))
    await page.getByRole('dialog').getByText('a short memory').waitFor()
    expect(await violations()).toEqual([])
    await page.goto(pageUrl('?act=new'))
    await page.getByRole('dialog').getByRole('textbox', { name: 'Value, as JSON' }).waitFor()
  })
}, 60_000)
