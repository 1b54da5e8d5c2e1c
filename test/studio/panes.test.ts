/** Panes that people drag, by mouse and by keys: they are where they were after a reload. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

const divider = (page: Page, name: string) => page.getByRole('separator', { name })
const widthOf = async (page: Page, name: string) =>
  Math.round((await page.getByRole('region', { name, exact: true }).boundingBox())!.width)

async function newThread(): Promise<string> {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, 'steps', { input: { topic: 'x' } })
  return `${server.url}/studio/threads/${id}`
}

async function drag(page: Page, name: string, by: number): Promise<void> {
  const { x, y, width, height } = (await divider(page, name).boundingBox())!
  const [fromX, fromY] = [x + width / 2, y + height / 2]
  await page.mouse.move(fromX, fromY)
  await page.mouse.down()
  await page.mouse.move(fromX + by / 2, fromY)
  await page.mouse.move(fromX + by, fromY)
  await page.mouse.up()
}

it('of a thread are dragged, and moved by keys, within bounds', async () => {
  const tab = await browser.open(await newThread(), { width: 1_440, height: 900 })
  const { page } = tab
  await divider(page, 'Width of the time line').waitFor()
  const [line, graph] = [await widthOf(page, 'Time line'), await widthOf(page, 'Graph')]
  await drag(page, 'Width of the time line', 60)
  await drag(page, 'Width of the graph', -80)
  const wanted = [line + 60, graph + 80]
  const now = async () => [await widthOf(page, 'Time line'), await widthOf(page, 'Graph')]
  expect(await now()).toEqual(wanted)
  await page.reload()
  await divider(page, 'Width of the time line').waitFor()
  expect(await now()).toEqual(wanted)

  await divider(page, 'Width of the time line').focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await divider(page, 'Width of the graph').focus()
  await page.keyboard.press('ArrowRight')
  const moved = [wanted[0]! + 32, wanted[1]! - 16]
  expect(await now()).toEqual(moved)
  expect(await divider(page, 'Width of the graph').getAttribute('aria-valuenow'))
    .toBe(String(moved[1]))
  expect(await tab.violations()).toEqual([])
  await page.reload()
  await divider(page, 'Width of the graph').waitFor()
  expect(await now()).toEqual(moved)

  await divider(page, 'Width of the time line').focus()
  await page.keyboard.press('Home')
  expect(await widthOf(page, 'Time line')).toBe(180)
  await divider(page, 'Width of the graph').focus()
  await page.keyboard.press('End')
  // A narrow window makes panes smaller than they were dragged, and nothing goes over its edge.
  for (const width of [1_110, 1_440]) {
    await page.setViewportSize({ width, height: 900 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    expect(await widthOf(page, 'Thread')).toBeGreaterThan(200)
  }
  await page.keyboard.press('Enter')
  await divider(page, 'Width of the time line').dblclick()
  expect(await now()).toEqual([line, graph])
  await page.reload()
  await divider(page, 'Width of the graph').waitFor()
  expect(await now()).toEqual([line, graph])
  expectQuiet(tab)
  await tab.close()
})

it('are as usual if what was stored is of no use', async () => {
  const tab = await browser.open(`${server.url}/ok`, { expected: /status of 404/ })
  const { page } = tab
  const address = await newThread()
  for (const stored of ['{', '7', '{"line":"1px;x","graph":-4}', '{"line":1e99}', 'null']) {
    await page.evaluate(`localStorage.setItem('studio.panes', ${JSON.stringify(stored)})`)
    await page.goto(address)
    await divider(page, 'Width of the time line').waitFor()
    expect(await widthOf(page, 'Time line')).toBe(268)
  }
  expectQuiet(tab)
  await tab.close()
})

it('on a phone there are five entries and More, the inbox first', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`, { width: 390, height: 800 })
  const { page } = tab
  const bar = page.getByRole('navigation', { name: 'Studio' })
  await bar.getByRole('button', { name: 'More' }).waitFor()
  // The inbox has a number beside its name while threads wait.
  expect((await bar.getByRole('link').allInnerTexts()).map((text) => text.split('\n')[0]))
    .toEqual(['Inbox', 'Threads', 'Assistants', 'Runs', 'Traces'])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await bar.getByRole('button', { name: 'More' }).click()
  await bar.getByRole('link', { name: 'Limits & keys' }).waitFor()
  expect(await tab.violations()).toEqual([])
  await page.keyboard.press('Escape')
  await bar.getByRole('link', { name: 'Limits & keys' }).waitFor({ state: 'detached' })
  await bar.getByRole('button', { name: 'More' }).click()
  await bar.getByRole('link', { name: 'Cluster' }).click()
  await page.getByRole('heading', { level: 1, name: 'Cluster' }).waitFor()
  await bar.getByRole('link', { name: 'Limits & keys' }).waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 1_280, height: 800 })
  await bar.getByRole('link', { name: 'Limits & keys' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})
