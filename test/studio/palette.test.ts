/** The command palette and the list of keys: everything without a mouse. */

import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

it('goes to a thread by its words or its id, and to a page by its name', async () => {
  const word = `shuttle${randomUUID().slice(0, 6)}`
  const { thread_id: id } = await server.client.threads.create({
    metadata: { title: `Of the ${word}` },
  })
  const tab = await browser.open(`${server.url}/studio/threads`)
  const { page } = tab
  const palette = page.getByRole('dialog', { name: 'Go to, or do' })
  await page.getByRole('heading', { name: 'Threads' }).waitFor()
  await page.keyboard.press('Control+k')
  await palette.getByRole('option', { name: 'New thread' }).waitFor()
  expect(await tab.violations()).toEqual([])
  await page.keyboard.type(word.slice(0, 10))
  await palette.getByRole('option', { name: `Of the ${word}`, selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url()).toContain(`/studio/threads/${id}`)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('runs')
  await palette.getByRole('option', { name: 'Runs' }).click()
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type(id)
  await palette.getByRole('option').first().waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url()).toContain(`/studio/threads/${id}`)
  await tab.close()
})

it('does what the screen can do, and closes by Escape', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`, { colours: 'dark', width: 390 })
  const { page } = tab
  await page.getByRole('heading', { name: 'Threads' }).waitFor()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Go to, or do' })
  await palette.getByRole('option').first().waitFor()
  expect(await tab.violations()).toEqual([])
  await page.keyboard.type('choose')
  await expect.poll(() => palette.getByRole('option', { selected: true }).innerText())
    .toBe('Choose threads')
  await page.keyboard.press('Enter')
  await page.getByText('0 chosen').waitFor()
  await page.keyboard.press('Control+k')
  await palette.waitFor()
  await page.keyboard.press('Escape')
  await palette.waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).getByText('Next thread').waitFor()
  expect(await tab.violations()).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})
