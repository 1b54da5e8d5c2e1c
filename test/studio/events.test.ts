/** The events of a run as they came: filtered, paused, looked at, saved. */

import { readFile } from 'node:fs/promises'

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { TabOptions } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

/** A tab with the events of a run that it started itself. */
async function eventful(options?: TabOptions) {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'echo' })
  const tab = await browser.open(`${server.url}/studio/threads/${id}`, options)
  await tab.page.getByRole('textbox', { name: 'Message' }).fill('Hello')
  await tab.page.keyboard.press('Enter')
  await tab.page.getByRole('log').getByText('echo: Hello').waitFor()
  await tab.page.getByRole('tab', { name: 'Events' }).click()
  await list(tab.page).getByRole('option').first().waitFor()
  await tab.page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  return tab
}

const list = (page: Page) => page.getByRole('listbox', { name: 'Events' })

it('are listed, looked at by keys, filtered in the address, and saved', async () => {
  const tab = await eventful()
  const { page } = tab
  const options = list(page).getByRole('option')
  const all = await options.count()
  await list(page).focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  const detail = page.getByRole('region', { name: 'Data of the event' })
  await detail.getByRole('treeitem').first().waitFor()
  await expect.poll(() => options.first().getAttribute('aria-selected')).toBe('true')
  await detail.getByRole('button', { name: 'Close the data' }).click()

  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download as NDJSON' }).click()
  const lines = (await readFile(await (await saving).path(), 'utf8')).trim().split('\n')
  expect(lines).toHaveLength(all)
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('event')

  const kinds = page.getByRole('combobox', { name: 'Kind of event' })
  await kinds.selectOption('updates')
  await page.getByText(`1 of ${all} events`).waitFor()
  expect(new URL(page.url()).searchParams.get('mode')).toBe('updates')
  await page.getByRole('combobox', { name: 'Node' }).selectOption('echo')
  await page.getByText(`1 of ${all} events`).waitFor()
  await kinds.selectOption('metadata')
  await page.getByRole('heading', { name: 'None matches' }).waitFor()

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Go on' }).click()
  expectQuiet(tab)
  await tab.close()
})

it('can be read by everybody, and say when there are none', async () => {
  const { thread_id: id } = await server.client.threads.create()
  const empty = await browser.open(`${server.url}/studio/threads/${id}?view=events`)
  await empty.page.getByRole('heading', { name: 'No events yet' }).waitFor()
  expect(await empty.violations()).toEqual([])
  await empty.close()
  for (const look of [{ colours: 'light' }, { colours: 'dark', width: 390 }] as const) {
    const tab = await eventful(look)
    await list(tab.page).getByRole('option').nth(1).click()
    expect(await tab.violations()).toEqual([])
    expectQuiet(tab)
    await tab.close()
  }
})
