/** The bench of traces: what was slow in one, and what is done with many of them. */

import { beforeAll, describe, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { countClicks } from './support/clicks.ts'
import { projectId, sendSpans, spanOf, supportTrace } from './support/sent-traces.ts'
import type { SentSpan } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

const project = `bench ${Date.now()}`
const hostile = '<img/src=x/onerror=alert(1)>'
const trace: readonly SentSpan[] = supportTrace({ project, beganMs: Date.now() - 60_000,
  words: 'What is the weather in Oslo?', error: 'TimeoutError: no answer' })
const inside = spanOf({ project, beganMs: Date.now() - 60_000, name: hostile, parent: trace[0],
  fromMs: 2_400, toMs: 2_405, outputs: { found: 'a heron in the reeds' } })
let address = ''

beforeAll(async () => {
  await sendSpans(server.url, [...trace, inside])
  address = `${server.url}/studio/traces/${await projectId(server.url, project)}`
})

describe('inside a trace', () => {
  it('the slowest span is one click away', async () => {
    const tab = await browser.open(`${address}/${trace[0]!.id}`)
    const { page } = tab
    const slowest = page.getByRole('button', { name: 'Slowest' })
    await slowest.waitFor()
    const clicks = await countClicks(page)
    await slowest.click()
    const chosen = page.getByRole('complementary', { name: 'Chosen span' })
    await chosen.getByRole('heading', { name: 'ChatModel' }).waitFor()
    expect(await clicks()).toBe(1)
    const list = page.getByRole('list', { name: 'Slowest spans' })
    expect(await list.getByRole('listitem').first().innerText()).toMatch(/ChatModel\s+1.4 s\s+44 %/)
    expect(await tab.violations()).toEqual([])
    await list.getByRole('button', { name: /search/ }).click()
    await chosen.getByRole('heading', { name: 'search' }).waitFor()
    await page.reload()
    await list.waitFor()
    expectQuiet(tab)
    await tab.close()
  })

  it('bars have the colour of their share, and the critical path can be shown alone', async () => {
    const tab = await browser.open(`${address}/${trace[0]!.id}`)
    const { page } = tab
    const tree = page.getByRole('tree', { name: 'Spans' })
    const row = (name: RegExp) => tree.getByRole('treeitem', { name })
    await row(/^ChatModel.*44 % of the time, on the critical path/).waitFor()
    const heats = () =>
      tree.locator('i[data-heat]').evaluateAll((bars) =>
        bars.map((bar) => bar.getAttribute('data-heat'))
      )
    expect(await heats()).toEqual(['2', '2', '0', '1', '1', '0'])
    await page.getByRole('button', { name: 'Critical path' }).click()
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(6)
    await page.getByLabel('Duration', { exact: true }).selectOption('1 s and more')
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(2)
    await page.reload()
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(2)
    expectQuiet(tab)
    await tab.close()
  })

  it('spans are found by failure, and by words of what they read and wrote', async () => {
    const tab = await browser.open(`${address}/${trace[0]!.id}`)
    const { page } = tab
    const tree = page.getByRole('tree', { name: 'Spans' })
    await page.getByRole('button', { name: 'Failed' }).click()
    await page.getByText('2 spans', { exact: true }).waitFor()
    await tree.getByRole('treeitem', { name: /^geocode/ }).waitFor()
    await page.getByRole('button', { name: 'Failed' }).click()
    await page.getByRole('searchbox', { name: 'Find spans' }).fill('HERON reeds')
    await tree.getByRole('treeitem', { name: hostile }).waitFor()
    await page.getByText('1 span', { exact: true }).waitFor()
    expect(await page.locator('img').count()).toBe(0)
    expectQuiet(tab)
    await tab.close()
  })

  it('span and waterfall stand beside each other from 900 pixels, and nothing overflows',
    async () => {
      const tab = await browser.open(`${address}/${trace[0]!.id}?slow=on`, { reducedMotion: true })
      const { page } = tab
      const chosen = page.getByRole('complementary', { name: 'Chosen span' })
      await page.getByRole('list', { name: 'Slowest spans' }).waitFor()
      for (const width of [900, 1_024, 1_440, 390]) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme: width === 1_024 ? 'dark' : 'light' })
        expect(await chosen.isVisible()).toBe(width >= 900)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
        expect(await tab.violations()).toEqual([])
      }
      expectQuiet(tab)
      await tab.close()
    })
})
