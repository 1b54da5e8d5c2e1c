/** Runs of this server, run again from a span of their trace. */

import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { asReader } from './support/changed-answer.ts'
import { projectId, sendSpans, supportTrace } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

interface Log {
  readonly log: readonly string[]
}

/** Runs a, b and c on a new thread. */
async function ran(topic: string): Promise<{ readonly threadId: string; readonly runId: string }> {
  const { threads, runs } = server.client
  const { thread_id: threadId } = await threads.create()
  await runs.wait(threadId, 'steps', { input: { topic } })
  const [run] = await runs.list(threadId)
  return { threadId, runId: run!.run_id }
}

const checkpoints = (threadId: string) =>
  server.client.threads.getHistory<Log>(threadId, { limit: 100 })

it('A step runs again as a branch, from the state that it began with', async () => {
  const { threadId, runId } = await ran('warp')
  const before = await checkpoints(threadId)
  const tab = await browser.open(`${server.url}/studio/traces/-/${runId}`)
  const { page } = tab
  await page.getByRole('tree', { name: 'Spans' }).getByRole('treeitem', { name: /^b/ }).click()
  await page.getByRole('heading', { level: 2, name: 'b', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Run again from here' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: /as a new branch/ }).waitFor()
  expect(await tab.violations()).toEqual([])
  await dialog.getByRole('button', { name: 'Run again' }).click()
  await page.waitForURL(`**/threads/${threadId}*`)
  await expect.poll(async () => (await server.client.runs.list(threadId))[0]!.status)
    .toBe('success')
  const after = await checkpoints(threadId)
  // b and c ran again: a did not, and all that was there stays.
  const made = after.slice(0, after.length - before.length)
  expect(made.flatMap(({ tasks }) => tasks.map(({ name }) => name))).not.toContain('a')
  expect(made.at(-1)!.parent_checkpoint?.checkpoint_id).toBe(
    before.find(({ next }) => next[0] === 'b')!.checkpoint.checkpoint_id,
  )
  expect(after.slice(made.length)).toEqual(before)
  expect(after[0]!.values.log).toEqual(['a:warp', 'b:warp', 'c:warp'])
  expectQuiet(tab)
  await tab.close()
})

it('A step runs again in a copy, and its own thread stays as it is', async () => {
  const { threadId, runId } = await ran('weft')
  const before = await checkpoints(threadId)
  const tab = await browser.open(`${server.url}/studio/traces/-/${runId}`)
  const { page } = tab
  await page.getByRole('tree', { name: 'Spans' }).getByRole('treeitem', { name: /^c/ }).click()
  await page.getByRole('heading', { level: 2, name: 'c', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Open at this step' }).click()
  await page.waitForURL(/\/threads\/.*at=/)
  await page.goBack()
  await page.getByRole('button', { name: 'Run again from here' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: /In a copy/ }).check()
  await dialog.getByRole('button', { name: 'Run again' }).click()
  await page.waitForURL((url) =>
    url.pathname.includes('/threads/') && !url.pathname.endsWith(threadId)
  )
  const copy = new URL(page.url()).pathname.split('/').at(-1)!
  await expect.poll(async () => (await server.client.threads.getState<Log>(copy)).values.log)
    .toEqual(['a:weft', 'b:weft', 'c:weft'])
  expect(await checkpoints(threadId)).toEqual(before)
  expectQuiet(tab)
  await tab.close()
})

it('A whole run runs again, but not what a client sent, and not for a reader', async () => {
  const { threadId, runId } = await ran('all')
  const tab = await browser.open(`${server.url}/studio/traces/-/${runId}`)
  const { page } = tab
  await page.getByRole('button', { name: 'Run again from here' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/^The whole run/).waitFor()
  await dialog.getByRole('button', { name: 'Run again' }).click()
  await page.waitForURL(`**/threads/${threadId}*`)
  await expect.poll(async () =>
    (await server.client.runs.list(threadId)).map(({ status }) => status)
  ).toEqual(['success', 'success'])

  const project = `sent ${Date.now()}`
  const [root] = supportTrace({ project, beganMs: Date.now() - 5_000, words: 'Hello' })
  await sendSpans(server.url, [root!])
  await page.goto(
    `${server.url}/studio/traces/${await projectId(server.url, project)}/${root!.id}`,
  )
  const again = page.getByRole('button', { name: 'Run again from here' })
  await again.waitFor()
  expect(await again.isDisabled()).toBe(true)
  await expect.poll(() => again.getAttribute('title')).toContain('a client sent this trace')
  await asReader(page)
  await page.goto(`${server.url}/studio/traces/-/${runId}`)
  await expect.poll(() => again.getAttribute('title')).toMatch(/reader/)
  expect(await again.isDisabled()).toBe(true)
  expectQuiet(tab)
  await tab.close()
})
