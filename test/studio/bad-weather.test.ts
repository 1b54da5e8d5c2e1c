/** Each screen while the server is ill, silent or gone, and while others do the same thing. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

const nowhere = '00000000-0000-4000-8000-000000000000'
const screens = ['threads', 'inbox', 'runs', 'assistants', 'traces', 'cluster', 'limits',
  `threads/${nowhere}`]

/** A page of the API has no icon. */
const noIcon = /status of 404/

/** Answers of the API; the files of the page come as always. */
const isCall = ({ pathname }: URL) => !pathname.startsWith('/studio')

const errorOf = (status: number) => ({ status,
  json: { detail: `The weather: ${status}.`, code: 'x' }, headers: { 'retry-after': '7' } })

it.runIf(isNight)('every screen says what the server said, and can be left', async () => {
  const tab = await browser.open(`${server.url}/ok`, { expected: /status of|ERR_/ })
  const { page } = tab
  let status = 500
  await page.route(isCall, (route) => route.fulfill(errorOf(status)))
  for (status of [500, 429, 403]) {
    for (const screen of status === 429 ? ['cluster'] : screens) {
      await page.goto(`${server.url}/studio/${screen}`)
      const words = page.getByRole('alert').getByText(`The weather: ${status}.`)
      await words.first().waitFor().catch((error: Error) => {
        throw new Error(`${screen} says nothing of ${status}: ${error.message}`)
      })
    }
    if (status === 500) expect(await tab.violations()).toEqual([])
  }
  status = 401
  await page.goto(`${server.url}/studio/runs?status=error`)
  await page.getByText(/^Sign in with the API key that you were given/).waitFor()
  expect(new URL(page.url()).search).toBe('?status=error')
  expectQuiet(tab)
  await tab.close()
})

it('every screen waits for a silent server, then comes back by itself', async () => {
  const tab = await browser.open(`${server.url}/ok`, { expected: /status of 404|ERR_/ })
  const { page } = tab
  let weather: 'silent' | 'lost' | 'fine' = 'silent'
  await page.route(isCall,
    (route) =>
      weather === 'fine' ? route.continue() : weather === 'lost' ? route.abort() : undefined)
  for (const screen of screens) {
    await page.goto(`${server.url}/studio/${screen}`)
    await page.getByRole('navigation', { name: 'Studio' }).getByText('Connecting').waitFor()
    await page.getByRole('main').waitFor()
    await expect.poll(() => page.getByRole('alert').count(), { message: screen }).toBe(0)
  }
  weather = 'lost'
  await page.goto(`${server.url}/studio/threads`)
  await page.getByText('Connection lost').waitFor()
  weather = 'fine'
  await page.getByText(/^local ·/).waitFor()
  await page.getByRole('alert').waitFor({ state: 'detached' })
  expectQuiet(tab)
  await tab.close()
})

it('a server that is away is asked once a second at most, and by one probe', async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'echo' })
  const tab = await browser.open(`${server.url}/ok`, { expected: /status of 404|ERR_/ })
  const { page } = tab
  await page.clock.install()
  await page.goto(`${server.url}/studio/threads/${id}`)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  let asked: string[] = []
  await page.route(isCall, (route) => {
    asked.push(new URL(route.request().url()).pathname)
    return route.abort()
  })
  // Whatever the page asks first finds out; its retries may be under way.
  await page.clock.runFor(16_000)
  await page.getByText('Connection lost').waitFor({ state: 'attached' })
  asked = []
  for (let second = 0; second < 40; second++) await page.clock.runFor(1_000)
  expect(asked.length).toBeGreaterThan(2)
  expect(asked.length).toBeLessThan(20)
  expect([...new Set(asked)]).toEqual(['/ok'])
  await page.unroute(isCall)
  await page.clock.runFor(9_000)
  await page.getByText('Connection lost').waitFor({ state: 'detached' })
  expectQuiet(tab)
  await tab.close()
})

const cardOf = (page: Page) => page.getByRole('region', { name: 'Question', exact: true }).last()

async function give(page: Page, words: string): Promise<void> {
  const card = cardOf(page)
  await card.getByRole('textbox').first().fill(words)
  await card.getByRole('button', { name: 'Answer', exact: true }).click()
}

it('of two tabs that answer a question one wins, and the other says so', async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'ask' })
  await server.client.runs.wait(id, 'ask', { input: { question: 'Which one?' } })
  const address = `${server.url}/studio/threads/${id}`
  const [first, second] = [await browser.open(address),
    await browser.open(address, { expected: /status of 4/ })]
  // The answer of the second tab is under way while that of the first one is taken.
  const sent = Promise.withResolvers<void>()
  const taken = Promise.withResolvers<void>()
  await second.page.route(`**/threads/${id}/runs`, async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    sent.resolve()
    await taken.promise
    return route.continue()
  })
  await give(second.page, 'late')
  await sent.promise
  await give(first.page, 'early')
  await cardOf(first.page).waitFor({ state: 'detached' })
  await expect.poll(async () => (await server.client.threads.get(id)).status).toBe('idle')
  taken.resolve()
  await second.page.getByText('This question was already answered').waitFor()
  const { values } = await server.client.threads.getState<{ answers: string[] }>(id)
  expect(values.answers).toEqual(['early', 'after'])
  for (const tab of [first, second]) {
    expectQuiet(tab)
    await tab.close()
  }
})

it('a thread that is deleted while it is open says so', async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'echo' })
  const tab = await browser.open(`${server.url}/studio/threads/${id}`, {
    expected: /status of 404/,
  })
  await tab.page.getByRole('textbox', { name: 'Message' }).waitFor()
  await server.client.threads.delete(id)
  await tab.page.getByRole('heading', { name: 'This thread was deleted' }).waitFor()
  await tab.page.getByRole('link', { name: 'All threads' }).click()
  await tab.page.getByRole('heading', { name: 'Threads', level: 1 }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('a graph of 300 nodes is drawn, and a state without a schema is a tree', async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'steps' })
  await server.client.runs.wait(id, 'steps', { input: { topic: 'x' } })
  const tab = await browser.open(`${server.url}/ok`, { expected: noIcon })
  const { page } = tab
  const node = (at: number) => ({ id: `n${at}`, type: 'runnable',
    data: { id: `n${at}`, name: `n${at}` } })
  const nodes = Array.from({ length: 300 }, (_, at) => node(at))
  const edges = nodes.slice(1).map(({ id: target }, at) => ({ target,
    source: `n${Math.floor(at / 2)}`, conditional: at % 3 === 0 })
  )
  await page.route('**/graph?*', (route) => route.fulfill({ json: { nodes, edges } }))
  await page.route('**/schemas', (route) =>
    route.fulfill({
      json: { graph_id: 'steps', input_schema: null, output_schema: null, state_schema: null,
        config_schema: null, context_schema: null },
    }))
  const beganMs = performance.now()
  await page.goto(`${server.url}/studio/threads/${id}?view=state`)
  await page.getByRole('tree', { name: 'values' }).getByText('topic:').waitFor()
  await page.getByRole('region', { name: 'Graph', exact: true })
    .getByRole('button', { name: /^n0\b/ }).waitFor()
  console.log(
    `300 nodes: ${(performance.now() - beganMs).toFixed(0)} ms, ${await page.evaluate<number>(
      'document.querySelectorAll("*").length',
    )} elements`,
  )
  expectQuiet(tab)
  await tab.close()
})
