/** Room for a graph: a large one is read, moved, and has the window to itself. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { TabOptions } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

const count = 44
const names = Array.from({ length: count }, (_, at) => `node_${at}`)

/** A thread whose graph is a chain of 44 nodes. */
async function open(query = '', options: TabOptions = {}) {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, 'steps', { input: { topic: 'x' } })
  const tab = await browser.open(`${server.url}/studio/threads`, options)
  await tab.page.route(/\/graph\?/, (route) =>
    route.fulfill({
      json: { nodes: names.map((name) => ({ id: name, type: 'runnable', data: {} })),
        edges: names.slice(1).map((target, at) => ({ source: names[at], target })) },
    }))
  await tab.page.goto(`${server.url}/studio/threads/${id}${query}`)
  await node(tab.page, 'node_0').waitFor()
  return tab
}

const picture = (page: Page) => page.getByRole('region', { name: 'Graph of the assistant' })
const node = (page: Page, name: string) =>
  picture(page).getByRole('button', { name: `${name}: Idle` })
const map = (page: Page) => picture(page).locator('svg:has([data-state])')
const boxOf = async (page: Page, name: string) => (await node(page, name).boundingBox())!

interface Element {
  getBoundingClientRect(): { readonly height: number }
}

/** Height of the words of a node on the screen. */
const wordsPx = (page: Page) =>
  node(page, 'node_0').evaluate((element) =>
    (element as unknown as Element).getBoundingClientRect().height / 36 * 12
  )

it('of 44 nodes can be read, and shows the rest of it on a map', async () => {
  const tab = await open()
  const { page } = tab
  expect(await wordsPx(page)).toBeGreaterThanOrEqual(9)
  await expect.poll(() => map(page).locator('[data-state]').count()).toBe(count)
  const canvas = (await picture(page).boundingBox())!
  const inside = ({ x, y, width, height }: typeof canvas) =>
    x >= canvas.x && y >= canvas.y && x + width <= canvas.x + canvas.width &&
    y + height <= canvas.y + canvas.height
  expect(inside(await boxOf(page, 'node_0'))).toBe(true)
  expect(inside(await boxOf(page, 'node_43'))).toBe(false)
  // The end of the map leads to the end of the graph, keys lead from node to node.
  const small = (await map(page).boundingBox())!
  await page.mouse.click(small.x + small.width / 2, small.y + small.height - 2)
  await expect.poll(async () => inside(await boxOf(page, 'node_43'))).toBe(true)
  await node(page, 'node_0').focus()
  await expect.poll(async () => inside(await boxOf(page, 'node_0'))).toBe(true)
  for (let press = 0; press < 20; press++) await page.keyboard.press('Tab')
  await expect.poll(async () => inside(await boxOf(page, 'node_20'))).toBe(true)
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).searchParams.get('node')).toBe('node_20')
  await picture(page).getByRole('button', { name: 'Fit' }).click()
  await expect.poll(() => map(page).count()).toBe(0)
  // It stays fitted when its size changes.
  const { width, height } = page.viewportSize()!
  await page.setViewportSize({ width, height: height - 60 })
  await expect.poll(async () => (await picture(page).boundingBox())!.height)
    .toBeLessThan(canvas.height)
  await expect.poll(() => map(page).count()).toBe(0)
  expectQuiet(tab)
  await tab.close()
})

it('is dragged, and zoomed by the wheel around its pointer', async () => {
  const tab = await open()
  const { page } = tab
  const before = await boxOf(page, 'node_2')
  const [x, y] = [before.x + before.width / 2, before.y + before.height / 2]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + 10, y + 30)
  await page.mouse.move(x + 20, y + 50)
  await page.mouse.up()
  const after = await boxOf(page, 'node_2')
  expect([after.x - before.x, after.y - before.y].map(Math.round)).toEqual([20, 50])
  // A drag chooses nothing.
  expect(new URL(page.url()).searchParams.get('node')).toBe(null)
  await page.mouse.wheel(0, 40)
  await expect.poll(async () => Math.round((await boxOf(page, 'node_2')).y - before.y)).toBe(10)
  const at = await boxOf(page, 'node_2')
  await page.mouse.move(at.x + at.width / 2, at.y + at.height / 2)
  await page.keyboard.down('Control')
  await page.mouse.wheel(0, -60)
  await page.keyboard.up('Control')
  await expect.poll(async () => (await boxOf(page, 'node_2')).width).toBeGreaterThan(at.width * 1.2)
  const zoomed = await boxOf(page, 'node_2')
  expect(Math.abs(zoomed.y + zoomed.height / 2 - at.y - at.height / 2)).toBeLessThan(2)
  expectQuiet(tab)
  await tab.close()
})

for (const look of [{ width: 1_440, colours: 'light' }, { width: 1_024, colours: 'dark' }, {
  width: 390,
  colours: 'light',
}] as const) {
  it(`has the window to itself, from left to right, at ${look.width} pixels`, async () => {
    const tab = await open('?pane=graph', { ...look, height: 800, reducedMotion: true })
    const { page } = tab
    await picture(page).getByRole('button', { name: 'Full screen' }).click()
    await expect.poll(async () => (await picture(page).boundingBox())!.width)
      .toBe(look.width)
    expect(new URL(page.url()).searchParams.get('alone')).toBe('graph')
    await expect.poll(async () => (await boxOf(page, 'node_1')).x - (await boxOf(page, 'node_0')).x)
      .toBeGreaterThan(100)
    expect(await wordsPx(page)).toBeGreaterThanOrEqual(9)
    expect(await page.getByRole('navigation', { name: 'Studio' }).isVisible()).toBe(false)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(look.width)
    expect(await tab.violations()).toEqual([])
    await picture(page).getByRole('button', { name: 'Top to bottom' }).click()
    await expect.poll(async () => (await boxOf(page, 'node_1')).y - (await boxOf(page, 'node_0')).y)
      .toBeGreaterThan(40)
    await page.reload()
    await node(page, 'node_0').waitFor()
    expect((await picture(page).boundingBox())!.width).toBe(look.width)
    await page.keyboard.press('Escape')
    await expect.poll(() => new URL(page.url()).searchParams.get('alone')).toBe(null)
    await page.getByRole('heading', { name: 'Graph', exact: true }).waitFor()
    expectQuiet(tab)
    await tab.close()
  })
}
