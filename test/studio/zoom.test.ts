/** Screens at 200 %, where 1280 pixels are 640 wide, and for those whom motion disturbs. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import { expectNothingCutOff, zoomed } from './support/zoomed.ts'

const server = useServer()
const browser = useBrowser()
const newGate = useGates()

it('at 200 % nothing is cut off, and no page is wider than the window', async () => {
  const { threads, runs, assistants } = server.client
  const { thread_id: asking } = await threads.create({ graphId: 'ask' })
  await runs.wait(asking, 'ask', { input: { question: 'Which one?' } })
  const { thread_id: chat } = await threads.create({ graphId: 'echo' })
  await runs.wait(chat, 'echo', { input: say(`one ${'long'.repeat(60)}`) })
  const [assistant] = await assistants.search({ graphId: 'configured' })
  const [step] = await threads.getHistory(chat, { limit: 1 })
  const at = step!.checkpoint.checkpoint_id
  const tab = await browser.open(`${server.url}/studio/threads`, zoomed)
  const { page } = tab
  for (const [address, words] of [['threads', 'New thread'], [`threads/${chat}`, 'echo: one'], [
    `threads/${chat}?at=${at}`,
    'What you send now starts a branch here.',
  ], [`threads/${chat}?view=state`, 'messages'], [`threads/${chat}?pane=line`, 'now'], [
    `threads/${asking}`,
    'Which one?',
  ], ['assistants', 'configured'], [`assistants?id=${assistant!.assistant_id}`, 'configured'], [
    'cluster',
    'One member, embedded.',
  ]] as const) {
    await page.goto(`${server.url}/studio/${address}`)
    await page.getByRole('main').getByText(words).filter({ visible: true }).first().waitFor()
    await expectNothingCutOff(page, address)
  }
  expectQuiet(tab)
  await tab.close()
})

/** How much moves for longer than an instant. */
const moving = (page: Page) =>
  page.evaluate<number>(`document.getAnimations().filter(({ effect, playState }) =>
    playState === 'running' && effect.getComputedTiming().duration > 1).length`)

it('who wants no motion sees none while a run goes on; others do', async () => {
  const gate = newGate()
  const { thread_id: id } = await server.client.threads.create({ graphId: 'held' })
  const tab = await browser.open(`${server.url}/studio/threads/${id}`, { reducedMotion: true })
  const { page } = tab
  await page.getByRole('textbox', { name: 'Message' }).fill(`hold ${gate.url}`)
  await page.keyboard.press('Enter')
  await gate.arrived()
  await page.getByRole('button', { name: 'hold: Running' }).waitFor()
  expect(await moving(page)).toBe(0)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await expect.poll(() => moving(page)).toBeGreaterThan(0)
  gate.open()
  await page.getByRole('button', { name: /^last.*: Done/ }).waitFor()
  expectQuiet(tab)
  await tab.close()
})
