/** How much a page loads, asks for and holds, and how soon it shows what it has. */

import { join } from 'node:path'
import { readdirSync, statSync } from 'node:fs'

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { useServer } from '../support/server.ts'
import { firstPaintMs } from './support/first-paint.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { Tab } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

/** A page of the API has no icon. */
const noIcon = /status of 404/

const built = join(import.meta.dirname, '../../dist')

/** A thread with a first state that is given, and steps that each wrote a message. */
async function threadOf(graph: string, supersteps: readonly object[]): Promise<string> {
  const answer = await fetch(`${server.url}/threads`, { method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { graph_id: graph }, supersteps }) })
  expect(answer.status).toBe(200)
  return (await answer.json() as { thread_id: string }).thread_id
}

const wrote = (...messages: readonly object[]) => ({
  updates: [{ values: { messages }, as_node: 'echo' }],
})

/** Loads an address in a fresh tab. Answers what it fetched until `ready` was there. */
async function load(address: string, ready: (page: Page) => Promise<unknown>) {
  const tab = await browser.open(`${server.url}/ok`, { expected: noIcon })
  const { page } = tab
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.goto(`${server.url}${address}`)
  await ready(page)
  const scripts = asked.filter((path) => path.endsWith('.js'))
  const calls = asked.filter((path) => !path.startsWith('/studio'))
  const isStream = (path: string) => path.endsWith('/stream')
  return { tab, page, scriptKb: scripts.reduce((sum, path) => sum + gzKbOf(path), 0),
    calls: calls.filter((path) => !isStream(path)), streams: calls.filter(isStream),
    files: asked.length - calls.length }
}

const gzKbOf = (path: string) => statSync(join(built, `${path}.gz`)).size / 1_000

const elementsIn = (page: Page) => page.evaluate<number>('document.querySelectorAll("*").length')

async function done(tab: Tab): Promise<void> {
  expectQuiet(tab)
  await tab.close()
}

it('the first page, and a thread with its graph, load and ask for little', async () => {
  const id = await threadOf('echo', [wrote({ role: 'user', content: 'a' }),
    wrote({ role: 'ai', content: 'b' })])
  const list = await load('/studio/threads',
    (page) => page.getByRole('row').filter({ hasText: 'echo' }).first().waitFor())
  const thread = await load(`/studio/threads/${id}`, async (page) => {
    await page.getByRole('article').nth(1).waitFor()
    await page.getByRole('grid', { name: /Time line/ }).getByRole('row').first().waitFor()
    await page.getByRole('region', { name: 'Graph', exact: true }).getByRole('button', {
      name: /^echo/,
    }).waitFor()
  })
  for (const [name, { scriptKb, files, calls, page }] of Object.entries({ list, thread })) {
    console.log(`${name}: ${scriptKb.toFixed(0)} kB of JS (gz), ${files} files, ` +
      `${calls.length} calls, ${await elementsIn(page)} elements`)
  }
  expect(list.scriptKb).toBeLessThanOrEqual(160)
  expect(thread.scriptKb).toBeLessThanOrEqual(220)
  expect(list.files).toBeLessThanOrEqual(20)
  expect(list.calls.length, list.calls.join('\n')).toBeLessThanOrEqual(8)
  expect(thread.calls.length, thread.calls.join('\n')).toBeLessThanOrEqual(8)
  expect(thread.streams).toEqual([expect.stringMatching(/^\/threads\/[^/]+\/stream$/)])
  for (const { page, tab } of [list, thread]) {
    expect(await elementsIn(page)).toBeLessThanOrEqual(1_500)
    await done(tab)
  }
})

it('has all styles in one sheet, which is small', () => {
  const sheets = readdirSync(join(built, 'studio/assets')).filter((name) => name.endsWith('.css'))
  expect(sheets).toHaveLength(1)
  const kb = statSync(join(built, 'studio/assets', sheets[0]!)).size / 1_000
  const packedKb = gzKbOf(`/studio/assets/${sheets[0]}`)
  console.log(`styles: ${kb.toFixed(0)} kB, ${packedKb.toFixed(1)} kB gz`)
  expect(kb).toBeLessThanOrEqual(109)
  expect(packedKb).toBeLessThanOrEqual(22)
})

it('the first paint takes at most 2.5 times as long as that of a blank page', async () => {
  // The machine does other things as well: of several rounds the best one counts.
  for (let round = 1, isSoon = false; !isSoon; round++) {
    const blankMs = await firstPaintMs(browser, `${server.url}/ok`)
    const pageMs = await firstPaintMs(browser, `${server.url}/studio/threads`)
    console.log(`first paint: ${pageMs.toFixed(0)} ms, blank ${blankMs.toFixed(0)} ms, ` +
      `${(pageMs / blankMs).toFixed(2)} times`)
    isSoon = pageMs <= 2.5 * blankMs
    expect(isSoon || round < 8).toBe(true)
  }
})

/** Milliseconds from the press of the tab to the frame that has the rows. */
const clickAndSeeTree = `new Promise((resolve) => {
  const beganMs = performance.now()
  const look = () => document.querySelectorAll('[role=treeitem]').length > 5
    ? requestAnimationFrame(() => resolve(performance.now() - beganMs))
    : requestAnimationFrame(look)
  document.getElementById('view-state').click()
  look()
})`

/** Milliseconds to fetch and parse the state. */
const readState = (id: string) =>
  `(async () => {
  const beganMs = performance.now()
  await (await fetch('/threads/${id}/state?select=values')).json()
  return performance.now() - beganMs
})()`

it.runIf(isNight)('5 MB of state: the end of the chat, and the tree', async () => {
  const messages = Array.from({ length: 2_000 },
    (_, at) => ({ id: `m${at}`, role: at % 2 ? 'ai' : 'user',
      content: `message ${at} ${'words of it '.repeat(210)}` }))
  const id = await threadOf('echo', [wrote(...messages)])
  const tab = await browser.open(`${server.url}/ok`, { expected: noIcon })
  const { page } = tab
  const beganMs = performance.now()
  await page.goto(`${server.url}/studio/threads/${id}`)
  await page.getByRole('log').getByText('message 1999').waitFor()
  const chatMs = performance.now() - beganMs
  expect(await elementsIn(page)).toBeLessThanOrEqual(1_500)
  console.log(`5 MB: chat ${chatMs.toFixed(0)} ms`)
  for (let round = 1, isSoon = false; !isSoon; round++) {
    if (round > 1) await page.reload()
    await page.getByRole('log').getByText('message 1999').waitFor()
    await page.getByRole('tab', { name: 'State' }).hover()
    const treeMs = await page.evaluate<number>(clickAndSeeTree)
    expect(await elementsIn(page)).toBeLessThanOrEqual(1_500)
    // No page shows what it has not read, and a busy machine takes longer for that as well.
    const readMs = await page.evaluate<number>(readState(id))
    console.log(`5 MB: tree ${treeMs.toFixed(0)} ms, reading ${readMs.toFixed(0)} ms`)
    isSoon = treeMs < Math.max(300, 1.5 * readMs)
    expect(isSoon || round < 8).toBe(true)
    await page.getByRole('tab', { name: 'Chat' }).click()
  }
  await done(tab)
})

it('1,000 steps: the newest ones at once, few of them in the page', async () => {
  const id = await threadOf('echo',
    Array.from({ length: 1_000 },
      (_, at) => wrote({ id: 'one', role: 'ai', content: `step ${at}` })))
  const tab = await browser.open(`${server.url}/ok`, { expected: noIcon })
  const { page } = tab
  const beganMs = performance.now()
  await page.goto(`${server.url}/studio/threads/${id}`)
  await page.getByRole('log').getByText('step 999').waitFor()
  await page.getByRole('grid', { name: /Time line/ }).getByRole('row').nth(3).waitFor()
  console.log(`1,000 steps: ${(performance.now() - beganMs).toFixed(0)} ms`)
  expect(await elementsIn(page)).toBeLessThanOrEqual(1_500)
  await done(tab)
})

/** The value below which that part of them lies. */
const partOf = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]!

/** Notes when pieces of streams come, and how long after that the page draws what it changed. */
const watchPixels = `(() => {
  const lags = globalThis.lags = []
  let waiting = []
  const { read } = ReadableStreamDefaultReader.prototype
  ReadableStreamDefaultReader.prototype.read = async function () {
    const part = await read.call(this)
    if (!part.done) waiting.push(performance.now())
    return part
  }
  new MutationObserver(() => {
    const came = waiting
    waiting = []
    if (came.length > 0) requestAnimationFrame(() => {
      for (const ms of came) lags.push(performance.now() - ms)
    })
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true })
})()`

it('events are drawn as they come', async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'diary' })
  const tab = await browser.open(`${server.url}/ok`, { expected: noIcon })
  const { page } = tab
  await page.addInitScript(watchPixels)
  // A busy page begins to follow the thread after a run has ended if that does not wait for it.
  const followed = page.waitForResponse((answer) => answer.url().includes(`/threads/${id}/stream`))
  await page.goto(`${server.url}/studio/threads/${id}?view=events`)
  await page.getByRole('tab', { name: 'Events' }).waitFor()
  await followed
  const beganMs = performance.now()
  // As the page itself starts runs: with everything that it shows.
  const { run_id: run } = await server.client.runs.create(id, 'diary', { input: {
    file: '/dev/null',
    thread: id,
    word: 'w',
    steps: 150,
    pauseMs: 10,
  }, config: { recursion_limit: 200 }, streamResumable: true,
    streamMode: ['messages-tuple', 'tasks', 'updates', 'custom'] })
  await server.client.runs.join(id, run)
  const seconds = (performance.now() - beganMs) / 1_000
  const lags = await page.evaluate<number[]>('globalThis.lags')
  const at = (part: number) => partOf(lags, part)
  console.log(`event to pixel: ${lags.length} pieces at ${(150 / seconds).toFixed(0)} steps/s, ` +
    `p50 ${at(0.5).toFixed(0)} ms, p95 ${at(0.95).toFixed(0)} ms`)
  // A busy machine makes steps and pieces slower alike, and of several pieces one.
  expect(lags.length).toBeGreaterThan(Math.min(150 / 10, 6 * seconds))
  // A page that cannot keep up falls behind by more with every event, up to the whole run.
  expect(at(0.95)).toBeLessThan(Math.max(500, 1_000 * seconds / 3))
  await done(tab)
})
