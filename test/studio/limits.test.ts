/** Limits and keys in the Studio: gauges, quotas, keys, and who is refused. */

import { beforeAll, expect, it } from 'vitest'

import { openKeyMaker } from '../support/keys.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'
import { looks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { Tab, TabOptions } from './support/tab.ts'

const server = useServer({ args: ['--auth', 'keys', '--limits', 'on'] })
const browser = useBrowser()

const longName = `A shop whose name is longer than any column, ${'very '.repeat(10)}long`
const arabic = 'مفتاح المتجر'

let [admin, hot] = ['', '']

beforeAll(async () => {
  const maker = await openKeyMaker({ dataDir: server.process.dataDir })
  const make = async (name: string, role: 'admin' | 'developer') =>
    (await maker.keyAdmin.create({ tenant: 'acme', role, name, expiresInMs: null })).key
  await make(longName, 'developer')
  await make(arabic, 'developer')
  hot = await make('hot', 'developer')
  admin = await make('ops', 'admin')
  await maker.makeRevoked('acme')
  await maker.close()
  // More than the 1 000 of ten seconds.
  for (let n = 0; n < 11; n++) {
    await Promise.all(
      Array.from({ length: 100 }, () =>
        ask(server.url, 'POST', '/assistants/count', {}, { 'x-api-key': hot })),
    )
  }
})

async function open(path: string, options: TabOptions = {}): Promise<Tab> {
  const tab = await browser.open(`${server.url}/studio/`, { ...options,
    expected: options.expected ?? /status of 401/ })
  await tab.page.getByLabel('API key or session token').fill(admin)
  await tab.page.getByRole('button', { name: 'Sign in' }).click()
  await tab.page.getByRole('navigation', { name: 'Studio' }).waitFor()
  await tab.page.goto(`${server.url}/studio/limits${path}`)
  return tab
}

it('shows what is used of each limit and quota', async () => {
  const tab = await open('')
  const { page } = tab
  const used = page.getByRole('region', { name: 'Limits in use' })
  await used.getByText('All other requests: assistants, threads, runs').waitFor()
  await used.getByText(/Default \(API key\) · 1,000 in 10 s/).waitFor()
  await used.getByRole('meter', { name: /All other requests/ }).waitFor()
  await page.getByText(/^\d+ other limits of which nothing is used$/).click()
  await page.getByRole('tabpanel').getByText('Prompts', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'Quotas' }).getByText('of 1,000,000').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('makes a key, shows it once, and revokes it', async () => {
  const tab = await open('?view=keys')
  const { page } = tab
  await page.getByRole('rowheader', { name: 'ops yours' }).waitFor()
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('nightly')
  await dialog.getByLabel('Role').selectOption('reader')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const key = await dialog.getByText(/^hdl_/).innerText()
  expect((await ask(server.url, 'GET', '/auth', undefined, { 'x-api-key': key })).body)
    .toMatchObject({ tenant: 'acme', role: 'reader' })
  // It is not lost by accident.
  await page.keyboard.press('Escape')
  await expect.poll(() => dialog.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true)
  expect(await tab.violations()).toEqual([])
  await dialog.getByLabel('I have stored it').check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain(key)

  await page.getByLabel('Find keys').fill('night')
  await page.getByText(/^in 89 days$|^2\d\d\d-\d\d-\d\d$/).waitFor()
  await expect.poll(() => page.getByRole('rowheader').count()).toBe(1)
  expect(new URL(page.url()).search).toBe('?view=keys&find=night')
  await page.getByRole('button', { name: 'Revoke nightly' }).click()
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No key matches').waitFor()
  await page.getByLabel(/that ended$/).check()
  await page.getByRole('cell', { name: 'Revoked' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('shows who is refused, and the limits of that key', async () => {
  const tab = await open('?view=refused')
  const { page } = tab
  await page.getByRole('cell', { name: 'All other requests' }).waitFor()
  await page.getByRole('cell', { name: /^\d+ times$/ }).waitFor()
  await page.getByRole('link', { name: /^key / }).click()
  await page.getByText(`The limits of key ${hot.split('_')[2]}`).waitFor()
  await page.getByText(/^\d+ refusals$/).waitFor()
  await page.getByRole('button', { name: 'Show my own' }).click()
  await page.getByText('You are key').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it.each(looks)(
  'is accessible in $colours at $width pixels',
  async ({ colours, width }) => {
    const tab = await open('', { colours, width })
    const { page } = tab
    const look = async () => {
      expect(await tab.violations()).toEqual([])
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    }
    await page.getByText('Quotas of the tenant').waitFor()
    await look()
    await page.getByRole('tab', { name: 'Keys' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('rowheader', { name: arabic }).waitFor()
    await look()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('link', { name: /^key / }).waitFor()
    await look()
    expectQuiet(tab)
    await tab.close()
  },
)

it('says what is wrong, and what is not there', async () => {
  const tab = await open('', { expected: /Failed to load resource/ })
  const { page } = tab
  const answer = (path: string, status: number, json: unknown, headers = {}) =>
    page.route(({ pathname }) => pathname === path, (route) =>
      route.fulfill({ status, json, headers }))
  await answer('/limits', 429, { detail: 'More than 5 requests in 10 seconds.' }, {
    'retry-after': '3',
  })
  await page.reload()
  await page.getByText('More than 5 requests in 10 seconds.').waitFor()
  await page.getByText('It asks for 3 s of patience.').waitFor()
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Quotas of the tenant').waitFor()

  await answer('/limits', 200, { rows: [], quotas: [], enabled: false })
  await answer('/keys', 404, { detail: 'This server takes no API keys: start it with --auth ' +
    'keys.' })
  await answer('/limits/refused', 200, { callers: [] })
  await page.reload()
  await page.getByText('Requests are not charged to limits here.').waitFor()
  await page.getByRole('tab', { name: 'Keys' }).click()
  await page.getByText('start it with --auth keys.').waitFor()
  await page.getByRole('tab', { name: 'Refused' }).click()
  await page.getByText('Nobody is refused').waitFor()
  expect(await tab.violations()).toEqual([])

  const row = { role: 'reader', tenant: 'acme', deployment: null,
    created_at: '2026-01-01T00:00:00Z', last_used_at: null, expires_at: null, revoked_at: null }
  await page.unrouteAll()
  await answer('/keys', 200,
    Array.from({ length: 1_000 }, (_, n) => ({ ...row, id: `id${n}`, name: `key ${n}` })))
  await page.goto(`${server.url}/studio/limits?view=keys`)
  await page.getByText('1 to 50 of 1,000').waitFor()
  await page.getByRole('button', { name: 'Older' }).click()
  await page.getByText('51 to 100 of 1,000').waitFor()
  await page.getByRole('rowheader', { name: 'key 99', exact: true }).waitFor()
  await expect.poll(() => page.locator('*').count()).toBeLessThan(1_500)
  expectQuiet(tab)
  await tab.close()
})
