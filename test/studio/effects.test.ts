/** Effects of a run on its page, the warning before they happen again, and what a person says. */

import { afterAll, expect, it } from 'vitest'

import { openReceiver } from '../support/receiver.ts'
import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

/** A lost mail is received, and answered as if it were not. */
const receiver = await openReceiver(({ body }, response) =>
  response.writeHead(body.includes('lost') ? 500 : 200).end('{"id":1}')
)
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

/** A thread that asks whether its mail was sent. */
async function asksAboutMail(): Promise<string> {
  const { threads, runs } = server.client
  const { thread_id: id } = await threads.create({ graphId: 'mailing' })
  await runs.wait(id, 'mailing', { input: { order: `lost ${id}` }, raiseError: false })
  await runs.wait(id, 'mailing', { input: null })
  return id
}

const sentFor = async (id: string) =>
  (await server.client.threads.getState(id)).values as { readonly sent?: unknown }
const mailsOf = (id: string) => receiver.received.filter(({ body }) => body.includes(id)).length

it('In the inbox, an effect that was done gets its result as JSON', async () => {
  const id = await asksAboutMail()
  const tab = await browser.open(`${server.url}/studio/inbox?at=${id}`)
  const { page } = tab
  const card = page.getByRole('article', { name: /^It is not known whether the effect "mail"/ })
  await card.getByRole('button', { name: 'Do it now' }).waitFor()
  await card.getByRole('button', { name: 'It was done, with a result …' }).click()
  const editor = card.getByRole('textbox', { name: 'Its result, as JSON' })
  const say = card.getByRole('button', { name: 'It was done', exact: true })
  await say.click()
  await card.getByText(/^Give the result that it had/).waitFor()
  await editor.fill('{"id": ')
  await card.getByText(/^This is no JSON/).waitFor()
  expect(await tab.violations()).toEqual([])
  await editor.fill('{"id": 7, "by": "<img src=x onerror=alert(1)>"}')
  await expect.poll(() => card.getByText(/^This is no JSON/).count()).toBe(0)
  await say.click()
  // It may be taken back, and nothing of it is lost.
  await card.getByRole('button', { name: 'Undo' }).click()
  await editor.getByText('onerror').waitFor()
  await say.click()
  await card.getByRole('button', { name: 'Send now' }).click()
  await expect.poll(() => sentFor(id))
    .toMatchObject({ sent: { id: 7, by: '<img src=x onerror=alert(1)>' } })
  expect(mailsOf(id)).toBe(1)
  expectQuiet(tab)
  await tab.close()
})

it('On its thread, by night and on a phone, it gets a text', async () => {
  const id = await asksAboutMail()
  const tab = await browser.open(`${server.url}/studio/threads/${id}`, { colours: 'dark',
    width: 390 })
  const { page } = tab
  const card = page.getByRole('article', { name: /^It is not known whether the effect "mail"/ })
  await card.getByRole('button', { name: 'It was done, with a result …' }).click()
  await card.getByRole('button', { name: 'Give a text' }).click()
  const box = card.getByRole('textbox', { name: 'Its result, as text' })
  await card.getByRole('button', { name: 'It was done', exact: true }).click()
  await card.getByText(/^Give the result that it had/).waitFor()
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  expect(await tab.violations()).toEqual([])
  await box.fill('{"sent": <b>yes</b>}')
  await card.getByRole('button', { name: 'It was done', exact: true }).click()
  await card.getByRole('button', { name: 'Send now' }).click()
  await expect.poll(() => sentFor(id)).toMatchObject({ sent: '{"sent": <b>yes</b>}' })
  expect(mailsOf(id)).toBe(1)
  expectQuiet(tab)
  await tab.close()
})

it('A step that is to fail says so, and does nothing', async () => {
  const id = await asksAboutMail()
  const tab = await browser.open(`${server.url}/studio/inbox?at=${id}`)
  const { page } = tab
  await page.getByRole('button', { name: 'Fail the step' }).click()
  await page.getByText('Answered. It is sent in 5 seconds.').waitFor()
  expect((await server.client.threads.get(id)).status).toBe('interrupted')
  await page.getByRole('button', { name: 'Send now' }).click()
  await expect.poll(async () => (await server.client.threads.get(id)).status).toBe('error')
  expect(mailsOf(id)).toBe(1)
  expectQuiet(tab)
  await tab.close()
})
