/** Tabs that nobody looks at: a browser has six connections for all tabs of a server. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

/** As if another tab were in front: a browser without a window shows all of them. */
const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate(`Object.defineProperty(document, 'visibilityState',
    { configurable: true, value: '${isHidden ? 'hidden' : 'visible'}' })
    document.dispatchEvent(new Event('visibilitychange'))`)

const isStream = (path: string) => /\/stream(\?|$)/.test(path)

/** Streams of a page that are open now. */
function streamsOf(page: Page): ReadonlySet<object> {
  const open = new Set<object>()
  page.on('request', (request) => {
    if (isStream(request.url())) open.add(request)
  })
  for (const end of ['requestfinished', 'requestfailed'] as const) {
    page.on(end as 'requestfailed', (request) => open.delete(request))
  }
  return open
}

const saidIn = (page: Page, words: string) =>
  page.getByRole('log', { name: 'Conversation' }).getByText(words, { exact: true })
const stepsIn = (page: Page) =>
  page.getByRole('grid', { name: /Time line/ }).getByRole('row').count()

it('of two tabs the hidden one rests, and shows everything once when it is back', async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'echo' })
  await server.client.runs.wait(id, 'echo', { input: say('one') })
  const address = `${server.url}/studio/threads/${id}`
  const tab = await browser.open(address)
  const front = tab.page
  const back = await front.context().newPage()
  const streams = streamsOf(back)
  await back.goto(address)
  for (const page of [front, back]) await saidIn(page, 'echo: one').waitFor()
  await expect.poll(() => streams.size).toBe(1)

  await setHidden(back, true)
  await expect.poll(() => streams.size).toBe(0)
  await server.client.runs.wait(id, 'echo', { input: say('two') })
  await saidIn(front, 'echo: two').waitFor()
  expect(streams.size).toBe(0)
  expect(await saidIn(back, 'echo: two').count()).toBe(0)

  await setHidden(back, false)
  await saidIn(back, 'echo: two').waitFor()
  await server.client.runs.wait(id, 'echo', { input: say('three') })
  for (const page of [front, back]) {
    for (const words of ['one', 'two', 'three']) {
      await saidIn(page, `echo: ${words}`).waitFor()
      expect(await saidIn(page, words).count()).toBe(1)
    }
    await expect.poll(() => stepsIn(page)).toBe(6)
  }
  expectQuiet(tab)
  await tab.close()
})
