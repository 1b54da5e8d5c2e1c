/** The frame of the Studio: its pages, its address, what it says of the server. */

import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

it('GET / leads a browser to the threads', async () => {
  const tab = await browser.open(server.url)
  await tab.page.getByRole('heading', { name: 'Threads', level: 1 }).waitFor()
  expect(new URL(tab.page.url()).pathname).toBe('/studio/threads')
  await tab.page.getByText('local ·').waitFor()
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})

it('each page of the rail is found by its name, and by its address after a reload', async () => {
  const tab = await browser.open(`${server.url}/studio/`)
  const rail = tab.page.getByRole('navigation', { name: 'Studio' })
  for (const name of ['Inbox', 'Assistants', 'Runs', 'Traces', 'Cluster', 'Limits & keys']) {
    await rail.getByRole('link', { name }).click()
    await rail.locator('[aria-current=page]', { hasText: name }).waitFor()
    await tab.page.getByRole('heading', { level: 1 }).waitFor()
    await tab.page.reload()
    await rail.locator('[aria-current=page]', { hasText: name }).waitFor()
  }
  expectQuiet(tab)
  await tab.close()
})
