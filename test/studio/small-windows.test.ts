/** What small windows show: laptops and phones cut nothing off that one needs. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Locator } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'

import { say } from '../support/run-events.ts'
import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { projectId, sendSpans, spanOf } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer({ args: oneWorker })
const browser = useBrowser()

let thread = ''
let trace = ''

beforeAll(async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'echo' })
  await server.client.runs.wait(id, 'echo', { input: say('a question') })
  thread = `${server.url}/studio/threads/${id}`
  const span = spanOf({ project: 'narrow', name: 'root', beganMs: Date.now() - 60_000,
    toMs: 2_105 })
  await sendSpans(server.url, [span])
  trace = `${server.url}/studio/traces/${await projectId(server.url, 'narrow')}/${span.id}`
})

/** Fails if a part of something lies outside of the window. */
async function expectWhole(what: Locator, width: number, height: number): Promise<void> {
  await what.waitFor()
  const { x, y, width: wide, height: high } = (await what.boundingBox())!
  expect(Math.min(x, y)).toBeGreaterThanOrEqual(0)
  expect([x + wide <= width + 0.5, y + high <= height + 0.5], `${x + wide} ${y + high}`)
    .toEqual([true, true])
}

it('a low window has the composer, and leads to every page', async () => {
  const size = { width: 1_024, height: 560 }
  const tab = await browser.open(thread, size)
  const { page } = tab
  await expectWhole(page.getByRole('button', { name: 'Send' }), size.width, size.height)
  const last = page.getByRole('link', { name: /^Limits/ })
  await last.scrollIntoViewIfNeeded()
  await expectWhole(last, size.width, size.height)
  await expectWhole(page.getByRole('button', { name: /colours/i }), size.width, size.height)
  expectQuiet(tab)
  await tab.close()
})

it('a phone has the names of projects, parts of threads and times of traces', async () => {
  const size = { width: 390, height: 800 }
  const tab = await browser.open(`${server.url}/studio/traces`, size)
  const { page } = tab
  const row = page.getByRole('row').filter({ hasText: '1 trace' }).filter({ hasText: 'narrow' })
  await expectWhole(row.getByRole('link', { name: 'narrow' }), size.width, size.height)
  const { height } = (await row.boundingBox())!
  expect((await row.getByRole('link', { name: 'narrow' }).boundingBox())!.height)
    .toBeLessThan(height)

  await page.goto(thread)
  const parts = page.getByRole('tablist', { name: 'Parts of the thread' }).getByRole('tab')
  await parts.first().waitFor()
  const heights = await parts.evaluateAll((tabs) =>
    tabs.map((tab) => {
      const { scrollHeight, clientHeight } = tab as unknown as { scrollHeight: number;
        clientHeight: number }
      return scrollHeight <= clientHeight
    })
  )
  expect(heights).toEqual([true, true, true])

  // The page scrolls below its bar, not the window with both.
  for (const [path, words] of [['playground', 'Add a model'], ['prices', 'gpt-4.1-mini'], [
    'prompts',
    'No prompts yet',
  ]] as const) {
    await page.goto(`${server.url}/studio/${path}`)
    await page.getByText(words, { exact: true }).first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollHeight'), path).toBe(size.height)
  }

  await page.goto(trace)
  await expectWhole(page.getByText('2 s', { exact: true }), size.width, size.height)
  expectQuiet(tab)
  await tab.close()
})

it('no rule of the styles is dropped by the browser', async () => {
  const assets = join(import.meta.dirname, '../../dist/studio/assets')
  const sheet = readdirSync(assets).find((name) => name.endsWith('.css'))!
  const rules = readFileSync(join(assets, sheet), 'utf8')
    .replaceAll(/@font-face\s*\{[^}]*\}/g, '')
  const declarations = [...new Set([...rules.matchAll(/[{;]([\w-]+:[^;{}]+)(?=[;}])/g)]
    .map(([, declaration]) => declaration!.replace('!important', '')))]
  expect(declarations.length).toBeGreaterThan(500)
  const tab = await browser.open(`${server.url}/studio/threads`)
  const dropped = await tab.page.evaluate<readonly string[]>(`${JSON.stringify(declarations)}
    .filter((each) => !CSS.supports(...each.split(/:(.*)/s, 2)))`)
  expect(dropped).toEqual([])
  await tab.close()
})
