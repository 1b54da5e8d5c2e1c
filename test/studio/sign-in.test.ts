/** Signing in to the Studio: by key, by a session of a portal, and in another region. */

import { beforeAll, expect, it } from 'vitest'

import { openKeyMaker } from '../support/keys.ts'
import { useServer } from '../support/server.ts'
import { issuer, keySetFile, token } from '../support/sessions.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { Tab } from './support/tab.ts'

const euUrl = 'https://eu.heddle.example'
const server = useServer({
  args: ['--auth', 'keys', '--region-url', `eu=${euUrl}`, '--jwt-issuer', issuer, '--jwt-keys',
    keySetFile()],
})
const browser = useBrowser()

/** Refusals are answers of 401 and 403, of which the console tells. */
const expected = /status of 40[13]/

let [admin, reader, other] = ['', '', '']

beforeAll(async () => {
  const maker = await openKeyMaker({ dataDir: server.process.dataDir })
  admin = await maker.make('acme', 'admin')
  reader = await maker.make('acme', 'reader')
  other = await maker.make('other', 'admin')
  await maker.close()
})

async function signIn({ page }: Tab, text: string): Promise<void> {
  await page.getByLabel('API key or session token').fill(text)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

it('asks for a key over the same address, and shows what was asked for', async () => {
  const tab = await browser.open(`${server.url}/studio/limits?view=keys`, { expected })
  const { page } = tab
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.getByText('Sign in with the API key that you were given').waitFor()
  await expect.poll(() => page.getByText(/x-api-key|Bearer/).count()).toBe(0)
  expect(await tab.violations()).toEqual([])
  await expect.poll(() => page.getByRole('button', { name: 'Sign in' }).isDisabled()).toBe(true)
  await signIn(tab, `${admin.slice(0, -3)}AAA`)
  await page.getByText('This API key is not known here.').waitFor()
  await signIn(tab, ` ${admin} `)
  await page.getByRole('rowheader', { name: /of a test yours/ }).waitFor()
  expect(new URL(page.url()).search).toBe('?view=keys')
  expect(asked.filter((url) => url.includes(admin))).toEqual([])
  // It is kept for this tab only.
  await expect.poll(() => page.evaluate('localStorage.length')).toBe(0)
  await page.reload()
  await page.getByRole('rowheader', { name: /of a test yours/ }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('shows nothing of one caller to the next', async () => {
  const tab = await browser.open(`${server.url}/studio/limits`, { expected })
  const { page } = tab
  await page.getByLabel('Remember it on this machine').check()
  await signIn(tab, admin)
  await page.getByText('of acme').waitFor()
  await expect.poll(() => page.evaluate('localStorage.length')).toBe(1)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You have signed out.').waitFor()
  await expect.poll(() => page.evaluate('localStorage.length + sessionStorage.length')).toBe(0)
  await signIn(tab, other)
  await page.getByText('of other').waitFor()
  await expect.poll(() => page.getByText('acme').count()).toBe(0)
  expectQuiet(tab)
  await tab.close()
})

it('takes the session of a portal from the address, and leaves nothing of it there', async () => {
  const session = token()
  const tab = await browser.open(`${server.url}/studio/limits#session=${session}`, { expected })
  const { page } = tab
  await page.getByText('You are ann of acme').waitFor()
  expect(page.url()).toBe(`${server.url}/studio/limits`)
  await page.getByText(/^ends within a day$/).waitFor()
  await page.reload()
  await page.getByText('You are ann of acme').waitFor()
  // A session that ends asks for another one.
  await page.route('**/auth',
    (route) =>
      route.fulfill({ status: 401,
        json: { detail: 'This token is not valid here: it has expired.' } }))
  await page.reload()
  await page.getByText('it has expired').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('asks before the session of an address replaces a key', async () => {
  const tab = await browser.open(`${server.url}/studio/limits`, { expected })
  const { page } = tab
  await signIn(tab, other)
  await page.getByText('of other').waitFor()
  await page.goto(`${server.url}/studio/cluster#session=${token()}`)
  await page.getByText('would sign you in as somebody else').waitFor()
  expect(page.url()).toBe(`${server.url}/studio/cluster`)
  expect(await tab.violations()).toEqual([])
  await page.getByRole('button', { name: 'Stay signed in as you are' }).click()
  await page.goto(`${server.url}/studio/limits`)
  await page.getByText('of other').waitFor()
  await page.goto(`${server.url}/studio/cluster#session=${token()}`)
  await page.getByRole('button', { name: 'Sign in with the link' }).click()
  await page.goto(`${server.url}/studio/limits`)
  await page.getByText('You are ann of acme').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('sends a key of another region there', async () => {
  const tab = await browser.open(`${server.url}/studio/limits`, { expected })
  const { page } = tab
  await signIn(tab, admin.replace('hdl_us', 'hdl_eu'))
  await page.getByText(`belongs to the region eu: call ${euUrl}.`).waitFor()
  expect(await page.getByRole('link', { name: 'Open the Studio of that region' })
    .getAttribute('href')).toBe(`${euUrl}/studio/`)
  expect(await tab.violations()).toEqual([])
  await signIn(tab, admin)
  await page.getByText('of acme').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('shows a reader what a reader may see', async () => {
  const tab = await browser.open(`${server.url}/studio/limits`, { expected })
  const { page } = tab
  await signIn(tab, reader)
  await page.getByText('reader', { exact: true }).waitFor()
  await page.getByText('Quotas of the tenant').waitFor()
  await page.getByRole('tab').first().waitFor({ state: 'detached' })
  await page.getByRole('navigation', { name: 'Studio' }).getByRole('link', { name: 'Cluster' })
    .click()
  await page.getByText('Only an API key or token with the role admin may do this.').waitFor()
  expectQuiet(tab)
  await tab.close()
})
