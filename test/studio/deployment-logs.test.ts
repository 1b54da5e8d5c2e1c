/** Lines of a deployment's log that are looked for: by their texts, and by the time they are of. */

import { beforeEach, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { ago, fillShop, line, useShop } from './support/shop.ts'
import { expectGoodLooks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const shop = useShop(server)
const browser = useBrowser()

beforeEach(() => {
  fillShop(shop.control)
  shop.control.forgetLines()
})

const pageUrl = (search = '') => `${shop.control.url}/studio/deployments/shop?view=logs${search}`

/** A time as a field of times takes it. */
const fieldOf = (iso: string) => {
  const time = new Date(iso)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

it('are found by a text and a time, which their address keeps', async () => {
  const { control } = shop
  control.write(line('Order 7 was looked up', { at: ago(200) }),
    line('order 8 was looked up', { at: ago(100) }), line('a mail was sent', { at: ago(100) }),
    line('order 9 was looked up', { at: ago(1) }))
  const tab = await browser.open(pageUrl(), { expected: /ERR_/ })
  const { page } = tab
  const grid = page.getByRole('grid', { name: 'Lines of the log' })
  await page.getByText('Follows, 4 lines').waitFor()
  await page.getByLabel('Search lines').fill('ORDER')
  await page.getByText('Follows, 3 lines').waitFor()
  await page.getByLabel('Time', { exact: true }).selectOption('Last hour')
  await page.getByText('Follows, 1 line', { exact: true }).waitFor()
  await grid.getByText('order 9 was looked up').waitFor()
  control.write(line('a mail was sent'), line('order 10 was looked up'))
  await page.getByText('Follows, 2 lines').waitFor()

  await page.getByLabel('Time', { exact: true }).selectOption('From … to …')
  await page.getByLabel(/^From \(/).fill(fieldOf(ago(150)))
  await page.getByLabel(/^To \(/).fill(fieldOf(ago(50)))
  await page.getByText('1 line', { exact: true }).waitFor()
  await grid.getByText('order 8 was looked up').waitFor()
  // No line can come any more.
  expect(await page.getByRole('button', { name: 'Pause the log' }).count()).toBe(0)
  await page.reload()
  await page.getByText('1 line', { exact: true }).waitFor()
  expect(await page.getByLabel('Search lines').inputValue()).toBe('ORDER')
  await grid.getByText('order 8 was looked up').click()
  await page.getByRole('region', { name: 'Line of the log' }).getByText('order 8').first().waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('are looked for as they are typed, whatever that is, and shown as text', async () => {
  const { control } = shop
  const hostile = '[(*\\ <img src=x onerror=alert(1)> \u001b[31mred\u001b[0m ‮evil'
  control.write(line(hostile), line('w'.repeat(16_000)), line('a usual line'))
  const tab = await browser.open(pageUrl(), { expected: /ERR_/ })
  const { page } = tab
  await page.getByText('Follows, 3 lines').waitFor()
  await page.getByLabel('Search lines').fill('[(*\\')
  await page.getByText('Follows, 1 line', { exact: true }).waitFor()
  await page.getByRole('grid', { name: 'Lines of the log' }).getByText('onerror').click()
  await page.getByRole('region', { name: 'Line of the log' }).getByText('onerror').first().waitFor()
  expect(await page.locator('img[src=x]').count()).toBe(0)
  // More than 200 characters are none of the server's.
  await page.getByLabel('Search lines').fill('w'.repeat(500))
  await expect.poll(() => control.got('GET', '/logs').at(-1)!.search.get('q'))
    .toBe('w'.repeat(200))
  await page.getByRole('grid', { name: 'Lines of the log' }).getByText(/^w+$/).waitFor()
  await page.getByLabel('Search lines').fill('<b>nobody</b> wrote it')
  await page.getByRole('heading', { name: 'No line matches' }).waitFor()
  // A broken address asks for nothing that it does not understand, and a turned range is righted.
  await page.goto(pageUrl('&span=range&from=yesterday&to=%3Cscript%3E&level=loud&q=usual'))
  await page.getByText('Follows, 1 line', { exact: true }).waitFor()
  const [from, to] = [ago(0), ago(60)].map(encodeURIComponent)
  await page.goto(pageUrl(`&span=range&from=${from}&to=${to}`))
  await page.getByText('3 lines', { exact: true }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expectQuiet(tab)
  await tab.close()
})

it('can be read by everybody, with a range and a line open', async () => {
  shop.control.write(line('order 7 was looked up', { at: ago(5) }),
    line(`a long one ${'of many words '.repeat(80)}`, { at: ago(5), level: 'error' }))
  const [from, to] = [ago(30), ago(1)].map(encodeURIComponent)
  await expectGoodLooks(browser, pageUrl(`&span=range&from=${from}&to=${to}`), async ({ page }) => {
    const open = page.getByRole('region', { name: 'Line of the log' })
    // In the next look it is open still, and on a phone stands before the others.
    if (!await open.isVisible())
      await page.getByRole('grid', { name: 'Lines of the log' }).getByText('a long one').click()
    await open.waitFor()
  })
})
