/** A thread of 10,000 steps: how soon it is shown, how it folds, and how its oldest is reached. */

import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { setup as buildStudio } from './support/setup.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

beforeAll(buildStudio)

const server = useServer()
const browser = useBrowser()

/** Supersteps of each of the two runs. The step that takes their input in is shown with it. */
const superstepsOfRun = 5_000

const gridOf = (page: Page) => page.getByRole('grid', { name: /Time line/ })
const rowsOf = (page: Page) => gridOf(page).getByRole('row')
const chosenOf = (page: Page) => gridOf(page).getByRole('row', { selected: true })
/** Without the options of lists, which are as many as the project has graphs. */
const elementsIn = (page: Page) =>
  page.evaluate<number>('document.querySelectorAll("*:not(option)").length')

async function threadOfManySteps(): Promise<string> {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'endless' })
  for (const topic of ['one', 'two']) {
    await server.client.runs.wait(id, 'endless', { input: { topic }, raiseError: false,
      config: { recursion_limit: superstepsOfRun } })
  }
  return id
}

/** How long it takes from an act until something is seen. */
async function since(...actAndSight: readonly Promise<unknown>[]): Promise<string> {
  const beganMs = performance.now()
  await Promise.all(actAndSight)
  return `${(performance.now() - beganMs).toFixed(0)} ms`
}

it(
  'of 10,000 steps the newest are there at once, the oldest soon, and any two compare',
  async () => {
    const id = await threadOfManySteps()
    // The files of the page are known: what counts is the thread.
    const tab = await browser.open(`${server.url}/studio/threads`)
    const { page } = tab
    page.setDefaultTimeout(40_000)
    await page.getByRole('heading', { name: 'Threads', level: 1 }).waitFor()
    const address = `${server.url}/studio/threads/${id}`
    const newest = await since(page.goto(address), rowsOf(page).nth(3).waitFor())
    const oldest = await since(gridOf(page).press('End'), chosenOf(page).waitFor())
    await page.getByText(`${(2 * (superstepsOfRun + 1)).toLocaleString('en')} steps`).waitFor()
    await chosenOf(page).filter({ hasText: 'Input' }).waitFor()
    const oldestId = new URL(page.url()).searchParams.get('at')

    // Each run is a row, and so are its step that is looked at and the newest one.
    await expect.poll(() => rowsOf(page).count()).toBe(3)
    await rowsOf(page).filter({ hasText: /^5,000 steps|5,00\d steps/ }).nth(1).waitFor()
    const unfolded = await since(page.getByRole('checkbox', { name: 'Runs as one row' }).uncheck(),
      expect.poll(() => rowsOf(page).count()).toBeGreaterThan(10))
    const compared = await since(page.getByRole('button', { name: 'Compare with now' }).click(),
      page.getByRole('tree', { name: 'Changes' }).getByRole('treeitem').nth(5).waitFor())
    expect(new URL(page.url()).searchParams.get('at')).toBe(oldestId)
    const elements = await elementsIn(page)
    console.log(`10,000 steps: newest ${newest}, oldest ${oldest}, unfolded ${unfolded}, ` +
      `compared ${compared}, ${elements} elements`)
    expect(elements).toBeLessThanOrEqual(1_500)
    expectQuiet(tab)
    await tab.close()
  },
)
