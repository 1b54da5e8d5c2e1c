/** Effects of a run on its page, and the warning before they happen again. */

import { afterAll, expect, it } from 'vitest'

import { openReceiver } from '../support/receiver.ts'
import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const receiver = await openReceiver((_, response) => response.end('{"id":1}'))
const server = useServer({ project: 'effects', env: { RECEIVER: receiver.url } })
const browser = useBrowser()
afterAll(() => receiver.close())

async function ran(graphId: string): Promise<{ threadId: string; runId: string }> {
  const { threads, runs } = server.client
  const { thread_id: threadId } = await threads.create()
  await runs.wait(threadId, graphId, { input: { order: 'a chair' } })
  const [run] = await runs.list(threadId)
  return { threadId, runId: run!.run_id }
}

it('A run shows its effects: their strength, their key and their times', async () => {
  const { threadId, runId } = await ran('asking')
  const tab = await browser.open(
    `${server.url}/studio/threads/${threadId}?view=runs&run=${runId}`,
  )
  const { page } = tab
  await page.getByRole('tab', { name: 'Effects' }).click()
  const effects = page.getByRole('list', { name: 'Effects of the run' }).getByRole('listitem')
  await effects.filter({ hasText: 'charge' }).filter({ hasText: 'once' })
    .filter({ hasText: 'done' }).filter({ hasText: /hdl_/ }).filter({ hasText: 'begun' }).waitFor()
  await effects.filter({ hasText: 'model' }).filter({ hasText: 'kept answer' }).waitFor()
  expect(await effects.count()).toBe(2)
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})

it('Who goes on from a step of the past reads what is done again', async () => {
  const { threadId, runId } = await ran('shop')
  const states = await server.client.threads.getHistory(threadId)
  const before = (node: string) =>
    states.find(({ next }) => next[0] === node)!.checkpoint.checkpoint_id!
  const tab = await browser.open(`${server.url}/studio/threads/${threadId}?at=${before('look')}`)
  const { page } = tab
  await page.getByText('This will do charge again.').waitFor()
  await page.goto(`${server.url}/studio/traces/-/${runId}`)
  await page.getByRole('button', { name: 'Run again from here' }).click()
  await page.getByRole('dialog').getByText('This will do charge again.').waitFor()
  expect(await tab.violations()).toEqual([])
  // After the charge there is nothing left that would be done again.
  const last = states[0]!.checkpoint.checkpoint_id!
  await page.goto(`${server.url}/studio/threads/${threadId}?at=${before('pay')}`)
  await page.getByText('This will do charge again.').waitFor()
  await page.goto(`${server.url}/studio/threads/${threadId}?at=${last}`)
  await page.getByRole('button', { name: 'Back to now' }).waitFor()
  expect(await page.getByText(/This will do/).count()).toBe(0)
  expectQuiet(tab)
  await tab.close()
})
