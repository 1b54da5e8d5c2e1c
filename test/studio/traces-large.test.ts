/** A trace of ten thousand spans: as quick as a short one, with as few elements in the page. */

import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { projectId, sendSpans, spanOf } from './support/sent-traces.ts'
import type { SentSpan } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

const spansMax = 10_000
/** What a page may hold, however long the trace is. */
const elementsMax = 1_500

/** Four spans below each one, which begin one after the other. */
function longTrace(project: string): readonly SentSpan[] {
  const beganMs = Date.now() - 3_600_000
  const spans = [{ span: spanOf({ project, name: 'root', beganMs, toMs: 600_000 }), fromMs: 0,
    lengthMs: 600_000 }]
  for (let at = 0; spans.length < spansMax; at++) {
    const { span: parent, fromMs, lengthMs } = spans[at >> 2]!
    const own = { fromMs: fromMs + lengthMs / 4 * (at % 4), lengthMs: lengthMs / 4 }
    spans.push({ ...own,
      span: spanOf({ project, name: `step ${at}`, beganMs, parent, fromMs: Math.floor(own.fromMs),
        toMs: Math.ceil(own.fromMs + own.lengthMs), inputs: { at } }) })
  }
  return spans.map(({ span }) => span)
}

it('is shown, walked through and searched at once', async () => {
  const project = `long ${Date.now()}`
  const spans = longTrace(project)
  await sendSpans(server.url, spans)
  const address = `${server.url}/studio/traces/${await projectId(server.url, project)}`
  const tab = await browser.open(address)
  const { page } = tab
  await page.getByRole('link', { name: 'root' }).waitFor()

  const began = performance.now()
  await page.goto(`${address}/${spans[0]!.id}`)
  const tree = page.getByRole('tree', { name: 'Spans' })
  await tree.getByRole('treeitem', { name: /^root/ }).waitFor()
  const shownMs = performance.now() - began
  await page.getByText('10,000 spans').waitFor()
  const elements = () => page.evaluate<number>('document.querySelectorAll("*").length')
  const atFirst = await elements()

  await page.getByRole('button', { name: 'Open all' }).click()
  const walked = performance.now()
  await tree.press('End')
  // The last child of the last child, and so on.
  await tree.getByRole('treeitem', { name: /^step 5459/ }).waitFor()
  const walkedMs = performance.now() - walked
  const opened = await elements()
  console.log(
    `10 000 spans: shown ${Math.round(shownMs)} ms, to the end ${
      Math.round(walkedMs)
    } ms, ${atFirst} and ${opened} elements`,
  )
  expect(Math.max(atFirst, opened)).toBeLessThanOrEqual(elementsMax)

  await page.getByRole('searchbox', { name: 'Find spans' }).fill('step 9998')
  await page.getByText('1 span', { exact: true }).waitFor()
  await expect.poll(() =>
    tree.getByRole('treeitem', { name: /^step 9998/ }).getAttribute('aria-level')
  )
    .toBe('8')
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})
