/**
 * The two pictures of the README: by night what they show is there, and with HEDDLE_PICTURES=1 they
 * are made anew.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { deskOn, useStarter } from './support/desk.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const folder = join(import.meta.dirname, '../../docs/pictures')
const starter = useStarter()
const browser = useBrowser()
const isMade = process.env['HEDDLE_PICTURES'] === '1'
/** By day `first-minute.test.ts` walks the same ways. */
const isWalked = isNight || isMade

/** Takes a picture, and keeps it if that is wished. The one that is kept has the same size. */
async function picture(page: Page, name: string): Promise<void> {
  const file = join(folder, `${name}.png`)
  const taken = await page.screenshot({ animations: 'disabled' })
  if (isMade) writeFileSync(file, taken)
  expect(sizeOf(readFileSync(file))).toEqual(sizeOf(taken))
}

/** Width and height, from the header of a PNG. */
const sizeOf = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)]

it.each(['studio-thread', 'studio-compare'])('%s is as large as a window, and loads soon',
  (name) => {
    const kept = readFileSync(join(folder, `${name}.png`))
    expect(sizeOf(kept)).toEqual([1_280, 800])
    expect(kept.length).toBeLessThan(200_000)
  })

it.runIf(isWalked)('a thread that waits for its reader', async () => {
  const tab = await browser.open(`${starter.url}/`)
  const { ask, node, line } = deskOn(tab.page)
  await ask(starter.url, 'How does a dobby loom differ?')
  await node(/^review.*: Waiting/).waitFor()
  await line.getByRole('row').filter({ hasText: 'now' }).waitFor()
  await tab.page.getByRole('heading', { name: 'How does a dobby loom differ?' }).waitFor()
  await picture(tab.page, 'studio-thread')
  expectQuiet(tab)
  await tab.close()
})

it.runIf(isWalked)('two branches, compared', async () => {
  const tab = await browser.open(`${starter.url}/`, { colours: 'dark' })
  const { page } = tab
  const { ask, composer, question, step, chat } = deskOn(page)
  await ask(starter.url, 'How does a dobby loom differ?')
  await question.getByRole('button', { name: 'Approve' }).click()
  await chat.getByText(/^Published/).waitFor()
  await step(/^write/).click()
  await composer.fill('And a Jacquard loom?')
  await composer.press('Enter')
  await chat.getByText('And a Jacquard loom?', { exact: true }).waitFor()
  await question.waitFor()
  await step(/^publish/).click()
  await chat.getByText(/^Published/).waitFor()
  await step(/^write/).first().hover()
  await step(/^write/).first().getByRole('button', { name: /^Compare step/ }).click()
  await page.getByRole('tree', { name: 'Changes' }).waitFor()
  await page.getByText(/\d added/).waitFor()
  await picture(page, 'studio-compare')
  expectQuiet(tab)
  await tab.close()
})
