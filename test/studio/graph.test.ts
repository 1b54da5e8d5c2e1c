/** The picture of a graph: its nodes, what they do, by mouse, by keys and as a table. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { useServer } from '../support/server.ts'
import { expectGoodLooks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()
const newGate = useGates()

async function addressOf(graph: string, input: Record<string, unknown>): Promise<string> {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, graph, { input })
  return `${server.url}/studio/threads/${id}?pane=graph`
}

const picture = (page: Page) => page.getByRole('region', { name: 'Graph of the assistant' })
const node = (page: Page, name: string | RegExp) => picture(page).getByRole('button', { name })

it('has boxes for subgraphs; a node is chosen by mouse and by keys', async () => {
  const tab = await browser.open(await addressOf('nestedask', { topic: 'x' }))
  const { page } = tab
  await node(page, 'sub, prepare').waitFor()
  await expect.poll(() => picture(page).locator('[data-activity]').count()).toBe(4)
  await node(page, 'after: Idle').click()
  await expect.poll(() => new URL(page.url()).searchParams.get('node')).toBe('after')
  await node(page, 'sub, deep').focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).searchParams.get('node')).toBe('sub:deep')

  // What waits in a subgraph is known of the whole of it.
  await node(page, 'Fold sub: Waiting for you').click()
  await node(page, 'sub 2 nodes: Waiting for you').waitFor()
  await expect.poll(() => picture(page).locator('[data-activity]').count()).toBe(3)

  await picture(page).getByRole('button', { name: 'As a list' }).click()
  const row = picture(page).getByRole('row', { name: 'sub' })
  await expect.poll(() => row.getByRole('cell').last().textContent()).toBe('after')
  await row.getByRole('button', { name: 'Unfold 2' }).click()
  await picture(page).getByRole('rowheader', { name: 'sub › deep' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('lights up while a run goes on, and says so', async () => {
  const gate = newGate()
  const { thread_id: id } = await server.client.threads.create({ graphId: 'held' })
  const tab = await browser.open(`${server.url}/studio/threads/${id}`)
  const { page } = tab
  await node(page, 'first: Idle').waitFor()
  await page.getByRole('textbox', { name: 'Message' }).fill(`hold ${gate.url}`)
  await page.keyboard.press('Enter')
  await gate.arrived()
  await node(page, 'hold: Running').waitFor()
  await node(page, /^first.*: Done/).waitFor()
  await page.getByText('hold is running', { exact: true }).waitFor({ state: 'attached' })
  const active = picture(page).locator('[data-activity=active]')
  await expect.poll(() => active.count()).toBe(1)
  gate.open()
  await node(page, /^last.*: Done/).waitFor()
  await expect.poll(() => picture(page).locator('[data-activity=taken]').count()).toBe(4)
  // A node that took its time shows how long: what is seen and what is read aloud must agree.
  await node(page, /^hold \d.*: Done/).waitFor()
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})

it('keeps the times of a run that a late answer calls running still', async () => {
  const gate = newGate()
  const { thread_id: id } = await server.client.threads.create({ graphId: 'held' })
  const tab = await browser.open(`${server.url}/studio/threads/${id}`)
  const { page } = tab
  await node(page, 'first: Idle').waitFor()
  const [asked, runsLeave, rowsLeave] = [1, 2, 3].map(() => Promise.withResolvers<void>())
  await page.route(/\/threads\/[^/]+\/runs\?/, async (route) => {
    const response = await route.fetch()
    await page.route(new RegExp(`/threads/${id}$`), async (row) => {
      await rowsLeave!.promise
      await row.continue()
    })
    asked!.resolve()
    await runsLeave!.promise
    await route.fulfill({ response })
  }, { times: 1 })
  await page.getByRole('textbox', { name: 'Message' }).fill(`hold ${gate.url}`)
  await page.keyboard.press('Enter')
  await asked!.promise
  await gate.arrived()
  gate.open()
  await node(page, /^last.*: Done/).waitFor()
  const answered = page.waitForResponse(/\/threads\/[^/]+\/runs\?/)
  runsLeave!.resolve()
  await answered
  rowsLeave!.resolve()
  await page.getByText('Idle', { exact: true }).first().waitFor()
  await expect.poll(() => picture(page).locator('[data-activity=taken]').count()).toBe(4)
  expectQuiet(tab)
  await tab.close()
})

it('has breakpoints as marks, which go with the next run; a node says what it read', async () => {
  const tab = await browser.open(await addressOf('steps', { topic: 'before' }))
  const { page } = tab
  await node(page, /^b\b/).click()
  const panel = page.getByRole('region', { name: 'Node b' })
  await panel.getByRole('checkbox', { name: 'Pause before' }).check()
  await node(page, /^b\b.*, pauses before$/).waitFor()
  const reads: string[] = []
  page.on('request', (request) => reads.push(decodeURIComponent(request.url())))
  await panel.getByRole('button', { name: 'Show what it read' }).click()
  await panel.getByRole('tree', { name: 'What it read' }).getByText('topic:').waitFor()
  expect(reads.filter((url) => url.includes('select=values'))).toHaveLength(1)
  expect(await tab.violations()).toEqual([])
  await page.getByRole('textbox', { name: 'Topic' }).fill('again')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await node(page, /^b\b.*: Would run next, pauses before$/).waitFor()
  await picture(page).getByRole('button', { name: 'As a list' }).click()
  await picture(page).getByRole('row', { name: /^b\b.*pauses before/ }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('that is opened in the middle of a run follows it to its end', async () => {
  const gate = newGate()
  const { thread_id: id } = await server.client.threads.create({ graphId: 'held' })
  const tab = await browser.open(`${server.url}/studio/threads/${id}`)
  const { page } = tab
  await page.getByRole('textbox', { name: 'Message' }).fill(`hold ${gate.url}`)
  await page.keyboard.press('Enter')
  await gate.arrived()
  await page.reload()
  await node(page, 'hold: Running').waitFor()
  await node(page, /^first.*: Done/).waitFor()
  gate.open()
  await node(page, /^last.*: Done/).waitFor()
  for (const said of ['first', 'held', 'last']) {
    await expect.poll(() => page.getByRole('log').getByText(said, { exact: true }).count()).toBe(1)
  }
  expectQuiet(tab)
  await tab.close()
})

it('that does not load shows the sentence of the server', async () => {
  const url = await addressOf('steps', { topic: 'x' })
  const tab = await browser.open(url, { expected: /status of 500/ })
  const { page } = tab
  await node(page, 'a:').waitFor()
  await page.route(/\/graph\?/, (route) =>
    route.fulfill({ status: 500, json: {
      detail: 'The graph does not load: agent.ts:3.',
      code: 'graph_failed',
    } }))
  await page.reload()
  await page.getByText('The graph does not load: agent.ts:3.').waitFor()
  await page.unroute(/\/graph\?/)
  await page.getByLabel('Graph', { exact: true }).getByRole('button', { name: 'Try again' }).click()
  await node(page, 'a:').waitFor()
  await tab.close()
})

it('of 60 nodes starts folded, and opens where somebody wants to look', async () => {
  const ids = Array.from({ length: 60 }, (_, at) => `part${at % 3}:n${at}`)
  const edges = ids.slice(1).map((target, at) => ({ source: ids[at], target,
    conditional: at % 2 === 0 })
  )
  const url = await addressOf('steps', { topic: 'x' })
  const tab = await browser.open(`${server.url}/studio/threads`)
  const { page } = tab
  await page.route(/\/graph\?/, (route) =>
    route.fulfill({
      json: { edges, nodes: ids.map((id) => ({ id, type: 'runnable', data: {} })) },
    }))
  await page.goto(url)
  await node(page, 'part0 20 nodes').waitFor()
  await expect.poll(() => picture(page).locator('[data-node]').count()).toBe(3)
  await node(page, 'part1').getByText('20').click()
  await node(page, 'part1, n1: Idle').waitFor()
  await expect.poll(() => picture(page).locator('[data-node]').count()).toBe(2 + 20)
  await page.getByRole('button', { name: 'Zoom in' }).click()
  await page.getByRole('button', { name: 'Fit' }).click()
  expectQuiet(tab)
  await tab.close()
})

it('can be read by everybody', async () => {
  await expectGoodLooks(browser, await addressOf('nestedask', { topic: 'x' }),
    ({ page }) => node(page, 'sub, deep').waitFor())
})
