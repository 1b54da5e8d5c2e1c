/** 110 000 threads: shown, gone to the end of and jumped through with few elements and calls. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { writeManyThreads } from './support/many-threads.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const total = 110_000
const directory = mkdtempSync(join(tmpdir(), 'heddle-many-'))
beforeAll(() => writeManyThreads(directory, total))
const server = useServer({ dataDir: directory, args: oneWorker })
const browser = useBrowser()
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Reads the milliseconds of script, as CPU, since the last page was loaded. */
async function scriptClock(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'ScriptDuration')!.value * 1_000
  }
}

const elements = (page: Page) => page.locator('*').count()

/** Bars are wide: this machine does other things. What counts is that nothing grows with rows. */
it('are shown soon, and any of them is near', async () => {
  const tab = await browser.open(`${server.url}/studio/assistants`)
  const { page } = tab
  const grid = page.getByRole('grid', { name: 'Threads' })
  const first = page.getByRole('link', { name: 'Thread number 0', exact: true })
  const last = page.getByRole('link', { name: `Thread number ${total - 1}`, exact: true })
  const scriptMs = await scriptClock(page)
  await page.goto(`${server.url}/studio/crons`)
  await page.getByText('No crons yet').first().waitFor()
  const emptyMs = await scriptMs()
  const began = performance.now()
  await page.goto(`${server.url}/studio/threads`)
  await first.waitFor()
  const shownMs = performance.now() - began
  const script = await scriptMs()
  await page.getByText('110,000 threads').waitFor()
  const asked: { readonly offset: number; readonly limit: number }[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/threads/search')) asked.push(request.postDataJSON())
  })
  const leapt = performance.now()
  await grid.focus()
  await page.keyboard.press('End')
  await last.waitFor()
  const endMs = performance.now() - leapt
  // The end is asked from the other end, and nothing between is.
  const pages = asked.filter(({ offset }) => offset !== undefined)
  expect(pages.map(({ offset }) => offset)).toEqual([0])
  const jumped = performance.now()
  await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2))
  await page.getByRole('link', { name: /^Thread number 5[45]\d{3}$/ }).first().waitFor()
  const jumpMs = performance.now() - jumped
  const most = await elements(page)
  console.log(
    `110,000 threads: shown ${Math.round(shownMs)} ms, script ${Math.round(script)} ms ` +
      `(a page without rows ${Math.round(emptyMs)} ms), ` +
      `end ${Math.round(endMs)} ms, jump ${Math.round(jumpMs)} ms, ${most} elements`,
  )
  expect(most).toBeLessThanOrEqual(1_500)
  // The bound for a quiet machine; on a busy one, a page without rows takes longer as well.
  expect(script).toBeLessThanOrEqual(Math.max(1_000, 8 * emptyMs))
  expect(shownMs).toBeLessThanOrEqual(8_000)
  expect(Math.max(endMs, jumpMs)).toBeLessThanOrEqual(4_000)
  expectQuiet(tab)
  await tab.close()
})

it('are asked about once for a drag of the scroll bar', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`)
  const { page } = tab
  await page.getByRole('link', { name: 'Thread number 0', exact: true }).waitFor()
  let asked = 0
  page.on('request', (request) => {
    if ((request.postData() ?? '').includes('"offset"')) asked++
  })
  // In the page: a call for each step would be slower than a hand. Its timers wait for the end of
  // the drag: a frame of a busy machine may last longer than a position needs to be settled.
  await page.evaluate(`(async () => {
    const { setTimeout, clearTimeout } = window
    const waiting = new Map()
    window.setTimeout = (run, ms, ...values) => {
      if (!(ms > 0)) return setTimeout(run, ms, ...values)
      const id = -1 - waiting.size
      waiting.set(id, () => setTimeout(run, ms, ...values))
      return id
    }
    window.clearTimeout = (id) => waiting.set(id, () => {}) && clearTimeout(id)
    const grid = document.querySelector('[role=grid]')
    for (let step = 1; step <= 30; step++) {
      grid.scrollTop = grid.scrollHeight * step / 40
      await new Promise(requestAnimationFrame)
    }
    Object.assign(window, { setTimeout, clearTimeout })
    for (const start of waiting.values()) start()
  })()`)
  await page.getByRole('link', { name: /^Thread number 82\d{3}$/ }).first().waitFor()
  // The positions before and after the drag, each with rows in two pages at most.
  expect(asked).toBeLessThanOrEqual(4)
  expectQuiet(tab)
  await tab.close()
})
