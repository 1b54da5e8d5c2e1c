/** Logs, secrets and events of a deployment in the Studio, and the Studio of a deployment. */

import { beforeEach, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { gone } from './support/gone.ts'
import { fillShop, line, useShop } from './support/shop.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const shop = useShop(server)
const browser = useBrowser()

const pageUrl = (path = '') => `${shop.control.url}/studio/deployments${path}`

beforeEach(() => fillShop(shop.control))

it('follows logs, holds them, asks for a level and a revision, in few elements', async () => {
  const { control } = shop
  const tab = await browser.open(pageUrl('/shop?view=logs'), { expected: /ERR_/ })
  const { page } = tab
  const grid = page.getByRole('grid', { name: 'Lines of the log' })
  await page.getByRole('heading', { name: 'No lines' }).waitFor()
  control.write(...Array.from({ length: 2_500 }, (_, at) => line(`line ${at}`)))
  // The newest stand at the end, where the list is.
  await grid.getByText('line 2499', { exact: true }).waitFor()
  await page.getByText('Follows, 2,000 lines; the newest 2,000 are kept').waitFor()
  expect(await page.locator('*').count()).toBeLessThan(1_500)
  control.write(line('a last one'))
  await grid.getByText('a last one').waitFor()

  // Whoever goes up reads in peace.
  await grid.focus()
  await page.keyboard.press('Home')
  await grid.getByText('line 501', { exact: true }).waitFor()
  await page.getByText(/^Paused/).waitFor()
  control.write(line('while nobody looks'))
  await page.keyboard.press('Enter')
  const whole = page.getByRole('region', { name: 'Line of the log' })
  await whole.getByText('line 501', { exact: true }).waitFor()
  await whole.getByRole('button', { name: 'Close' }).click()
  // What was missed comes.
  await page.getByRole('button', { name: 'Follow the log' }).click()
  await grid.getByText('while nobody looks').waitFor()

  await page.getByLabel('Levels').selectOption('Warnings and errors')
  await page.getByLabel('Revision').selectOption('r12')
  await page.waitForURL('**/shop?view=logs&level=warn&revision=r12')
  await expect.poll(() => Object.fromEntries(control.got('GET', '/logs').at(-1)!.search))
    .toEqual({ follow: 'true', limit: '500', level: 'warn', revision: 'r12' })
  expectQuiet(tab)
  await tab.close()
})

it('shows each line once, whatever becomes of the connection', async () => {
  const { control } = shop
  control.forgetLines()
  control.write(line('one'), line('two'))
  const asked = () => control.got('GET', '/logs').length
  const before = asked()
  const tab = await browser.open(pageUrl('/shop?view=logs'), { expected: /ERR_/ })
  const { page } = tab
  await page.getByText('Follows, 2 lines').waitFor()
  for (const [round, end] of [() => control.cut(), () => control.drain()].entries()) {
    end()
    await expect.poll(asked).toBe(before + 2 + round)
    control.write(line(`after ${round}`))
    await page.getByText(`after ${round}`).waitFor()
    await page.getByText(`Follows, ${3 + round} lines`).waitFor()
  }
  await page.getByRole('button', { name: 'Pause the log' }).click()
  await page.getByText('Paused, 4 lines').waitFor()
  control.write(line('missed'))
  await page.getByRole('button', { name: 'Follow the log' }).click()
  await page.getByText('Follows, 5 lines').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('sets, replaces and removes secrets, and shows no value', async () => {
  const { control } = shop
  const tab = await browser.open(pageUrl('/shop?view=secrets'))
  const { page } = tab
  await page.getByRole('row', { name: /^SHOP_KEY 3/ }).waitFor()
  await page.getByRole('button', { name: 'Set a secret' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set a secret' })
  await dialog.getByLabel('Name').fill('1X')
  await dialog.getByText('Letters, digits and underscores, and no digit first.').waitFor()
  await dialog.getByLabel('Name').fill('PEM')
  await dialog.getByLabel('Value').fill('first line\nsecond line')
  expect(await dialog.getByLabel('Value').evaluate(
    'getComputedStyle(document.activeElement).webkitTextSecurity',
  )).toBe('disc')
  await dialog.getByRole('button', { name: 'Set it' }).click()
  await page.getByRole('row', { name: /^PEM 1/ }).waitFor()
  expect(control.got('PUT', '/secrets/PEM').at(-1)!.body)
    .toEqual({ value: 'first line\nsecond line' })
  expect(await page.content()).not.toContain('second line')
  await page.getByRole('button', { name: 'Remove PEM' }).click()
  await page.getByRole('dialog', { name: 'Remove PEM?' }).getByRole('button', { name: 'Remove' })
    .click()
  await gone(page.getByRole('row', { name: /^PEM/ }))
  expect(control.got('DELETE', '/secrets/PEM')).toHaveLength(1)
  expectQuiet(tab)
  await tab.close()
})

it('reads events by keys: who did what', async () => {
  const { control } = shop
  control.note('secret', { name: 'SHOP_KEY', change: 'set', version: 3 }, 'nightly-pipeline')
  const tab = await browser.open(pageUrl('/shop?view=events'))
  const { page } = tab
  const grid = page.getByRole('grid', { name: 'Events of the deployment' })
  await grid.getByRole('row', { name: /SHOP_KEY set: version 3/ }).getByText('nightly-pipeline')
    .waitFor()
  // A new one comes before it.
  control.note('revision', { revision: 'r14', state: 'uploading', message: 'Prices' })
  await grid.getByRole('row').first().getByText('r14 is uploading: Prices').waitFor()
  await grid.focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: /^Secret, no\. / }).getByText(/"version": 3/).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('is the Studio of a deployment below its name, and leads from one to the other', async () => {
  const { control } = shop
  const tab = await browser.open(pageUrl())
  const { page } = tab
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.getByRole('link', { name: 'Open in Studio shop', exact: true }).click()
  await page.waitForURL('**/studio/d/shop/threads')
  await page.getByRole('button', { name: 'Deployment: shop' }).waitFor()
  await expect.poll(() => asked).toContain('/d/shop/threads/search')
  const since = asked.slice(asked.indexOf('/studio/d/shop/threads'))
  expect(since.filter((path) => /^\/(threads|runs|assistants|api)\b/.test(path))).toEqual([])
  // Pages, reloads and the way back keep to it.
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.waitForURL('**/studio/d/shop/runs')
  await page.reload()
  await expect.poll(() => asked).toContain('/d/shop/runs/search')
  // The server's own pages stay the server's.
  await page.getByRole('link', { name: 'Deployments' }).click()
  await page.getByText('this Studio').waitFor()
  expect(asked).toContain('/control/v1/deployments')
  await page.getByRole('button', { name: 'Deployment: shop' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'support' }).click()
  await page.waitForURL('**/studio/d/support/threads')
  await page.getByRole('button', { name: 'Deployment: support' }).click()
  await page.getByRole('menuitem', { name: 'The default project' }).click()
  await page.waitForURL(`${control.url}/studio/threads`)
  await page.getByRole('button', { name: 'Deployment: The default project' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('is not there where a server has no deployments, or does not know of them', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`)
  const { page } = tab
  let deployments: false | undefined = false
  await page.route(/\/info$/, async (route) => {
    const response = await route.fetch()
    const { features, ...info } = await response.json() as { readonly features: object }
    await route.fulfill({ response,
      body: JSON.stringify({ ...info, features: { ...features, deployments } }) })
  })
  const isHidden = async () => {
    await page.getByRole('status').filter({ hasText: 'local ·' }).waitFor()
    await page.getByRole('link', { name: 'Cluster' }).waitFor()
    expect(await page.getByRole('link', { name: 'Deployments' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: /^Deployment:/ }).count()).toBe(0)
  }
  await page.reload()
  await isHidden()
  deployments = undefined
  await page.reload()
  await isHidden()
  expectQuiet(tab)
  await tab.close()
})
