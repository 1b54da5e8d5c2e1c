/** What is hostile, broken or far too large is text or words of refusal; no page goes blank. */

import { beforeAll, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { setup as buildStudio } from './support/setup.ts'
import { projectId, sendSpans, spanOf } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { Tab } from './support/tab.ts'

beforeAll(buildStudio)
const server = useServer({})
const browser = useBrowser()

const markup = '<img src=x onerror=alert(1)>'
const word = 'w'.repeat(10_000_000)

/** The page has words, within its window, and nothing of what was written is a part of it. */
async function expectWhole({ page }: Tab, where: string): Promise<void> {
  await expect.poll(async () => (await page.locator('#root').innerText()).trim().length, {
    message: where,
  }).toBeGreaterThan(40)
  expect(await page.locator('main img, iframe, [onerror], [href^="javascript" i]').count(), where)
    .toBe(0)
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth'), {
    message: where,
  }).toBe(true)
  expect(await page.evaluate('document.querySelectorAll("*").length'), where).toBeLessThan(2_500)
}

it('10 MB of one word: in a message, its list, its state and its trace', async () => {
  const { threads } = server.client
  const { thread_id: id } = await threads.create({ graphId: 'echo', metadata: { title: markup },
    supersteps: [{ updates: [{ asNode: 'echo', values: { messages: [
      { id: 'm1', role: 'user', content: word },
      { id: 'm2', role: 'ai', content: markup },
    ] } }] }] })
  const root = spanOf({ project: markup, name: markup, beganMs: Date.now() - 60_000,
    inputs: { word }, outputs: { [markup]: 'javascript:alert(1)' }, tags: [markup],
    error: `${markup} ${'e'.repeat(100_000)}` })
  await sendSpans(server.url, [root])
  const project = await projectId(server.url, markup)
  const tab = await browser.open(`${server.url}/studio/threads`, { width: 390 })
  const { page } = tab
  for (const [address, words] of [['threads', markup], [`threads/${id}`, markup], [
    `threads/${id}?view=state`,
    'messages',
  ], ['traces', markup], [`traces/${project}`, markup], [`traces/${project}/${root.id}`, markup], [
    `traces/${project}/${root.id}?pane=span`,
    markup,
  ]]) {
    await page.goto(`${server.url}/studio/${address}`)
    await page.locator('#root').getByText(words!).filter({ visible: true }).first().waitFor()
    await expectWhole(tab, address!)
    expect(await tab.violations(), address).toEqual([])
  }
  expectQuiet(tab)
  await tab.close()
})

it('addresses that are broken or hostile', async () => {
  const evil = encodeURIComponent(markup)
  const none = '00000000-0000-4000-8000-000000000000'
  const tab = await browser.open(`${server.url}/studio/threads`, { expected: /status of 4\d\d/ })
  for (const address of [`threads/${evil}`, `threads/${none}?view=${evil}&at=${evil}&vs=${evil}`,
    `threads?q=${evil}&status=${evil}&sort=${evil}`, `inbox?at=${evil}`, `runs?status=${evil}`,
    `assistants?id=${evil}&act=${evil}`, `crons?edit=${evil}&state=${evil}`,
    `store?at=${evil}&key=${evil}&by=${evil}`, `traces/${evil}`, `traces/${none}?filter=and(`,
    `traces/${none}?filter=${evil}&cols=${evil}:99999999,,:&peek=${evil}`,
    `traces/${none}/${evil}?span=${evil}&vs=${evil}&least=${evil}`, `public/${evil}`,
    `public/${none}`, `public/${none}/d`, `datasets/${evil}`,
    `datasets/${none}?view=experiments&compare=${evil},,${none}`, `prompts/${evil}`,
    `playground?models=${evil}&prompt=${evil}`,
    'playground?models=%5B%7B%22saved%22%3A%7B%7D%7D%5D', `queues/${evil}`, `rules/${evil}?line=-1`,
    `charts?dashboard=${evil}&time=${evil}`, `prices?model=${evil}`, `limits?view=${evil}`,
    `deployments/${evil}?view=${evil}`, `${evil}/${evil}`, `threads/${'a'.repeat(4_000)}`,
    '%E0%A4%A', 'threads?q=%E0%A4%A']) {
    await tab.page.goto(`${server.url}/studio/${address}`)
    await expectWhole(tab, address.slice(0, 200))
  }
  expectQuiet(tab)
  await tab.close()
})
