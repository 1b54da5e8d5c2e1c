/** A trace that is shared: its link is made, read without a key, and taken back. */

import { randomUUID } from 'node:crypto'

import { beforeAll, expect, it } from 'vitest'

import { openKeyMaker } from '../support/keys.ts'
import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { projectId, sendSpans, supportTrace } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { Tab } from './support/tab.ts'

const server = useServer({ args: [...oneWorker, '--auth', 'keys'] })
const browser = useBrowser()

const project = `shared ${randomUUID()}`
const spans = supportTrace({ project, beganMs: Date.now() - 60_000, words: 'Where is my order?' })
const [trace] = spans
let [key, address] = ['', '']

beforeAll(async () => {
  const maker = await openKeyMaker({ dataDir: server.process.dataDir })
  key = await maker.make('acme', 'admin')
  await maker.close()
  const headers = { 'x-api-key': key }
  await sendSpans(server.url, spans, headers)
  const id = await projectId(server.url, project, headers)
  address = `${server.url}/studio/traces/${id}/${trace!.id}`
})

/** Makes a link to the trace. */
async function shared(): Promise<string> {
  const answer = await fetch(`${server.url}/api/v1/runs/${trace!.id}/share`, { method: 'PUT',
    headers: { 'content-type': 'application/json', 'x-api-key': key }, body: '{}' })
  const { share_token: token } = await answer.json() as { readonly share_token: string }
  return `${server.url}/studio/public/${token}`
}

const isRead = async ({ page }: Tab) => {
  await page.getByRole('heading', { level: 1, name: String(trace!.name) }).waitFor()
  await page.getByText('Where is my order?').filter({ visible: true }).first().waitFor()
}

it('A link is made, shows the trace to anybody, and is taken back', async () => {
  const tab = await browser.open(address, { expected: /status of 401/ })
  const { page } = tab
  await page.getByLabel('API key or session token').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Share' }).click()
  const dialog = page.getByRole('dialog', { name: 'Share this trace' })
  await dialog.getByRole('button', { name: 'Make a link' }).click()
  const url = (await dialog.getByRole('link').textContent())!
  expect(url).toMatch(new RegExp(`^${server.url}/studio/public/[0-9a-f-]{36}$`))
  expect(await tab.violations()).toEqual([])

  const other = await browser.open(url)
  await isRead(other)
  await dialog.getByRole('button', { name: 'Take the link back' }).click()
  await dialog.getByRole('button', { name: 'Make a link' }).waitFor()
  expectQuiet(tab)
  await tab.close()
  expectQuiet(other)
  await other.close()
  const late = await browser.open(url, { expected: /status of 404/ })
  await late.page.getByText('This link leads nowhere').waitFor()
  expect(await late.violations()).toEqual([])
  expectQuiet(late)
  await late.close()
})

it('Nobody needs a key to read it, and finds nothing of its owner beside it', async () => {
  const url = await shared()
  // A page of the API has no icon for those without a key.
  const tab = await browser.open(`${server.url}/ok`, { expected: /status of 401/ })
  const { page } = tab
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (!pathname.startsWith('/studio/') && pathname !== '/favicon.ico') asked.push(pathname)
    if (request.headers()['x-api-key'] !== undefined) asked.push('a key')
  })
  await page.goto(url)
  await isRead(tab)
  expect(await page.getByRole('navigation').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Share' }).count()).toBe(0)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width: 1_280, height: 800 })
    await isRead(tab)
    expect(await tab.violations()).toEqual([])
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('tab', { name: 'Chosen span' }).click()
    await isRead(tab)
    expect(await tab.violations()).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.getByRole('tab', { name: 'Spans' }).click()
  }
  expect(asked.filter((path) => !path.startsWith('/api/v2/public/'))).toEqual([])
  expectQuiet(tab)
  await tab.close()
})

it('A link that leads nowhere, and a server that does not answer, say so', async () => {
  const tab = await browser.open(`${server.url}/studio/public/${randomUUID()}`, {
    expected: /status of (404|422|503)/,
  })
  const { page } = tab
  await page.getByRole('heading', { name: 'This link leads nowhere' }).waitFor()
  await page.goto(`${server.url}/studio/public/no-token`)
  await page.getByRole('heading', { name: 'This link leads nowhere' }).waitFor()
  const url = await shared()
  let isDown = true
  await page.route('**/api/v2/public/**', (route) =>
    isDown
      ? route.fulfill({ status: 503, json: { detail: 'Too much is going on here.' } })
      : route.continue())
  await page.goto(url)
  await page.getByText('Too much is going on here.').waitFor()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await tab.violations()).toEqual([])
  }
  isDown = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await isRead(tab)
  // A key that was taken back meanwhile does not close what is open to all.
  await page.evaluate(`sessionStorage.setItem('studio.credential',
    JSON.stringify({ kind: 'key', text: 'hd_gone' }))`)
  await page.reload()
  await isRead(tab)
  expectQuiet(tab)
  await tab.close()
})

it('A shared dataset is read at the address that clients print, without a key', async () => {
  const headers = { 'content-type': 'application/json', 'x-api-key': key }
  const ask = async (method: string, path: string, body: unknown) =>
    await (await fetch(`${server.url}/api/v1${path}`, { method, headers,
      body: JSON.stringify(body) })).json() as { readonly id: string; readonly share_token: string }
  const { id } = await ask('POST', '/datasets', { name: 'Orders', description: 'What people ask' })
  await ask('POST', '/examples', { dataset_id: id, inputs: { q: 'Where is it?' },
    outputs: { a: 'On its way' } })
  await ask('POST', '/sessions', { name: 'first try', reference_dataset_id: id })
  const { share_token: token } = await ask('PUT', `/datasets/${id}/share`, {})

  const tab = await browser.open(`${server.url}/public/${token}/d`)
  const { page } = tab
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  expect(page.url()).toBe(`${server.url}/studio/public/${token}/d`)
  await page.getByText('first try').waitFor()
  await page.getByRole('button', { name: 'Where is it?' }).click()
  await page.getByText('On its way').nth(1).waitFor()
  expect(await page.getByRole('navigation').count()).toBe(0)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await tab.violations()).toEqual([])
  }
  await page.setViewportSize({ width: 390, height: 800 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await tab.close()
  await ask('DELETE', `/datasets/${id}/share`, {})
  const late = await browser.open(`${server.url}/public/${token}/d`, {
    expected: /status of 404/,
  })
  await late.page.getByText('This link leads nowhere').waitFor()
  await late.close()
})
