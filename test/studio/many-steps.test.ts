/** A thread of 10,000 steps: how soon it is shown, how it folds, and how its oldest is reached. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

/** Steps of each of the two runs: one for the input, and as many as the limit allows. */
const stepsOfRun = 5_001

const gridOf = (page: Page) => page.getByRole('grid', { name: /Time line/ })
const rowsOf = (page: Page) => gridOf(page).getByRole('row')
const foldOf = (page: Page) => page.getByRole('combobox', { name: 'Rows' })
const elementsIn = (page: Page) => page.evaluate<number>('document.querySelectorAll("*").length')

async function threadOfManySteps(): Promise<string> {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'endless' })
  for (const topic of ['one', 'two']) {
    await server.client.runs.wait(id, 'endless', { input: { topic }, raiseError: false,
      config: { recursion_limit: stepsOfRun - 1 } })
  }
  return id
}

/** Milliseconds until something is seen. */
async function since(beganMs: number, seen: Promise<unknown>): Promise<string> {
  await seen
  return `${(performance.now() - beganMs).toFixed(0)} ms`
}

it('of 10,000 steps the newest are there at once, the oldest soon, and any two compare', async () => {
  const id = await threadOfManySteps()
  const tab = await browser.open(`${server.url}/studio/threads`)
  const { page } = tab
  page.setDefaultTimeout(30_000)
  let beganMs = performance.now()
  await page.goto(`${server.url}/studio/threads/${id}`)
  const first = await since(beganMs, rowsOf(page).nth(3).waitFor())
  expect(await elementsIn(page)).toBeLessThanOrEqual(1_500)

  beganMs = performance.now()
  await gridOf(page).focus()
  await page.keyboard.press('End')
  const chosen = gridOf(page).getByRole('row', { selected: true })
  const oldest = await since(beganMs, chosen.filter({ hasText: 'input' }).waitFor())
  await page.getByText('10,002 steps').waitFor()
  const tall = await elementsIn(page)
  expect(await rowsOf(page).allInnerTexts()).toEqual(['x'])
  console.log(first, oldest, tall)
  await tab.close()
}, 90_000)
