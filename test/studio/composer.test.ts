/** The composer first: it has the focus, what is typed goes to it, and nothing is sent too soon. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

/** A page of the API has no icon. */
const noIcon = /status of 404/

const server = useServer()
const browser = useBrowser()

const addressOf = (id: string, search = '') => `${server.url}/studio/threads/${id}${search}`
const chatOf = (page: Page) => page.getByRole('log', { name: 'Conversation' })
const composerOf = (page: Page) => page.getByRole('textbox', { name: 'Message' })
const hasFocus = (page: Page) =>
  page.evaluate<boolean>('document.activeElement?.tagName === "TEXTAREA"')

const publish = {
  actionRequests: [{ name: 'publish', args: { title: 'Looms' }, description: 'Publish it?' }],
  reviewConfigs: [{ actionName: 'publish', allowedDecisions: ['approve', 'reject'] }],
}

/** A thread that waits for an approval, and what it was answered. */
async function waiting() {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'askany' })
  await server.client.runs.wait(id, 'askany', { input: { question: publish } })
  const answers = async () => {
    const { values } = await server.client.threads.getState<{ answers?: unknown[] }>(id)
    return values.answers ?? []
  }
  return { id, answers }
}

it('has the focus after New thread and on opening one; keys from elsewhere go to it', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`)
  const { page } = tab
  await page.getByRole('button', { name: 'New thread' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: /^echo/ }).click()
  await composerOf(page).waitFor()
  await expect.poll(() => hasFocus(page)).toBe(true)
  await page.keyboard.type('Hi ')
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.type('are you there?')
  await page.getByRole('tab', { name: 'Chat' }).focus()
  await page.keyboard.type('/g?')
  expect(await composerOf(page).inputValue()).toBe('Hi are you there?/g?')
  await page.keyboard.press('Enter')
  await chatOf(page).getByText('echo: Hi are you there?/g?').waitFor()
  await page.reload()
  await composerOf(page).waitFor()
  await expect.poll(() => hasFocus(page)).toBe(true)
  // Who comes back to the chat by keys stays where they are.
  await page.getByRole('tab', { name: 'Chat' }).focus()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('region', { name: 'State' }).waitFor()
  await page.keyboard.press('ArrowLeft')
  await composerOf(page).waitFor()
  expect(await hasFocus(page)).toBe(false)
  expectQuiet(tab)
  await tab.close()
})

it('An approval can be taken back; what is left is sent', async () => {
  const { id, answers } = await waiting()
  const tab = await browser.open(addressOf(id), { expected: noIcon })
  const { page } = tab
  const card = page.getByRole('article', { name: 'Publish it?' })
  await page.clock.install()
  await card.getByRole('button', { name: 'Approve' }).waitFor()
  await page.clock.pauseAt(Date.now() + 60_000)
  await card.getByRole('button', { name: 'Approve' }).click()
  await card.getByText('It is sent in 5 seconds.').waitFor()
  await card.getByRole('button', { name: 'Undo' }).click()
  await card.getByRole('button', { name: 'Approve' }).waitFor()
  await page.clock.runFor(6_000)
  expect(await server.client.runs.list(id)).toHaveLength(1)
  await card.getByRole('button', { name: 'Approve' }).click()
  await card.getByRole('button', { name: 'Undo' }).waitFor()
  await page.goto(`${server.url}/ok`)
  await expect.poll(answers).toEqual([{ decisions: [{ type: 'approve' }] }])
  expect(await server.client.runs.list(id)).toHaveLength(2)
  expectQuiet(tab)
  await tab.close()
})

it('An approval is sent by itself, and when another page is opened', async () => {
  const [first, second] = [await waiting(), await waiting()]
  const tab = await browser.open(addressOf(first.id))
  const { page } = tab
  const approve = page.getByRole('article').getByRole('button', { name: 'Approve' })
  await page.clock.install()
  await approve.click()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  await page.clock.runFor(4_000)
  expect(await server.client.runs.list(first.id)).toHaveLength(1)
  await page.clock.runFor(1_500)
  await expect.poll(first.answers).toHaveLength(1)
  await page.clock.resume()
  await page.goto(addressOf(second.id))
  await approve.click()
  await page.getByRole('link', { name: 'All threads' }).click()
  await expect.poll(second.answers).toHaveLength(1)
  expectQuiet(tab)
  await tab.close()
})

it('What a person answered stands in the chat, and the last events are there later', async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'chatcolour' })
  await server.client.runs.wait(id, 'chatcolour', { input: say('a loom') })
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await page.getByRole('textbox', { name: 'Your answer' }).or(composerOf(page)).first().waitFor()
  await page.getByRole('article', { name: 'Which colour?' }).waitFor()
  await page.keyboard.type('blue')
  await page.keyboard.press('Enter')
  const said = async () =>
    (await chatOf(page).getByRole('article').allInnerTexts()).map((text) =>
      text.replace(/\s+/g, ' ').trim()
    )
  const whole = ['a loom', 'asking', 'You answered blue', 'it is blue']
  await expect.poll(said).toEqual(whole)
  await page.reload()
  await expect.poll(said).toEqual(whole)
  await page.getByRole('tab', { name: 'Events' }).click()
  await page.getByRole('listbox', { name: 'Events' }).getByRole('option').nth(2).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('The chat follows what is sent, unless the reader has scrolled up', async () => {
  const { thread_id: id } = await server.client.threads.create({ graphId: 'echo' })
  const messages = Array.from({ length: 40 },
    (_, at) => ({ role: at % 2 ? 'ai' : 'user', content: `message ${at} ${'words '.repeat(60)}`,
      id: `m${at}` }))
  await server.client.threads.updateState(id, { values: { messages }, asNode: 'echo' })
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await chatOf(page).getByText('message 39').waitFor()
  const toEnd = () =>
    chatOf(page).evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight)
  for (const words of ['one', 'two']) {
    await page.keyboard.type(words)
    await page.keyboard.press('Enter')
    await chatOf(page).getByText(`echo: ${words}`).waitFor()
    await expect.poll(toEnd).toBeLessThan(4)
  }
  await chatOf(page).hover()
  await page.mouse.wheel(0, -1_200)
  await expect.poll(toEnd).toBeGreaterThan(600)
  await composerOf(page).fill('three')
  await page.keyboard.press('Enter')
  await expect.poll(async () =>
    (await server.client.threads.getState<{ messages: unknown[] }>(id)).values.messages.length
  ).toBe(46)
  await page.getByRole('button', { name: 'To the end' }).waitFor()
  expect(await toEnd()).toBeGreaterThan(600)
  expectQuiet(tab)
  await tab.close()
})
