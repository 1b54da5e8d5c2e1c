/** The chat: ask, answer, queue, edit, branch; what it refuses to do; what it looks like. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()
const newGate = useGates()

async function newThread(graph: string, ...texts: readonly string[]): Promise<string> {
  const { thread_id: id } = await server.client.threads.create({ graphId: graph })
  for (const text of texts) await server.client.runs.wait(id, graph, { input: say(text) })
  return id
}

const addressOf = (id: string, search = '') => `${server.url}/studio/threads/${id}${search}`
const chatOf = (page: Page) => page.getByRole('log', { name: 'Conversation' })
const composerOf = (page: Page) => page.getByRole('textbox', { name: 'Message' })
const rowsOf = (page: Page) => page.getByRole('grid', { name: /Time line/ }).getByRole('row')

it('asks and is answered; the draft stays with its thread; steps appear', async () => {
  const id = await newThread('echo')
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await page.getByRole('heading', { name: 'Say something' }).waitFor()
  await composerOf(page).fill('What is a heddle?')
  await page.reload()
  await expect.poll(() => composerOf(page).inputValue()).toBe('What is a heddle?')
  await composerOf(page).press('Shift+Enter')
  await composerOf(page).press('Backspace')
  await composerOf(page).press('Enter')
  await chatOf(page).getByText('echo: What is a heddle?').waitFor()
  await rowsOf(page).nth(1).waitFor()
  await page.getByRole('heading', { name: 'What is a heddle?', level: 1 }).waitFor()
  await expect.poll(() => composerOf(page).inputValue()).toBe('')
  await expect.poll(() => chatOf(page).getByRole('article').count()).toBe(2)
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})

it('while a run goes on: queue, remove, stop; runs of others are seen as well', async () => {
  const gate = newGate()
  const id = await newThread('held')
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await composerOf(page).waitFor()
  await server.client.runs.create(id, 'held', { input: say(`hold ${gate.url}`) })
  await gate.arrived()
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  await page.getByRole('combobox', { name: /What happens/ }).waitFor()
  for (const words of ['second', 'third']) {
    await composerOf(page).fill(words)
    await composerOf(page).press('Enter')
    await page.getByRole('list', { name: 'Queue' }).getByText(words).waitFor()
  }
  expect(await tab.violations()).toEqual([])
  const queue = page.getByRole('list', { name: 'Queue' })
  await expect.poll(() => queue.getByRole('listitem').count()).toBe(2)
  await queue.getByRole('listitem').filter({ hasText: 'second' })
    .getByRole('button', { name: 'Remove' }).click()
  await queue.getByText('second').waitFor({ state: 'detached' })
  gate.open()
  await queue.waitFor({ state: 'detached' })
  await chatOf(page).getByText('third', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  expectQuiet(tab)
  await tab.close()
})

it('Stop ends a run, and each strategy does what it says', async () => {
  const gate = newGate()
  const id = await newThread('held')
  const tab = await browser.open(addressOf(id), { expected: /422/ })
  const { page } = tab
  const strategy = page.getByRole('combobox', { name: /What happens/ })
  await composerOf(page).fill(`hold ${gate.url}`)
  await composerOf(page).press('Enter')
  await gate.arrived()
  await strategy.selectOption('reject')
  await composerOf(page).fill('refused')
  await composerOf(page).press('Enter')
  await page.getByRole('alert').waitFor()
  await expect.poll(() => composerOf(page).inputValue()).toBe('refused')
  await strategy.selectOption('rollback')
  await composerOf(page).fill(`hold ${gate.url} again`)
  await composerOf(page).press('Enter')
  await gate.arrived(2)
  await strategy.selectOption('interrupt')
  await composerOf(page).fill(`hold ${gate.url} more`)
  await composerOf(page).press('Enter')
  await gate.arrived(3)
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  await chatOf(page).getByText(`hold ${gate.url} more`).waitFor()
  const said = await chatOf(page).getByRole('article', { name: 'You' }).allInnerTexts()
  expect(said.map((each) => each.trim()))
    .toEqual([`hold ${gate.url} again`, `hold ${gate.url} more`])
  expectQuiet(tab)
  await tab.close()
})

it('an edited message is a branch; what was there stays', async () => {
  const id = await newThread('echo', 'one', 'two', 'three')
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await chatOf(page).getByText('echo: three').waitFor()
  const second = chatOf(page).getByRole('article', { name: 'You' }).filter({ hasText: 'two' })
  await second.hover()
  await second.getByRole('button', { name: 'Edit your message' }).click()
  await page.getByRole('textbox', { name: 'Your message' }).fill('other')
  await page.getByRole('button', { name: 'Send' }).first().click()
  await chatOf(page).getByText('echo: other').waitFor()
  await chatOf(page).getByText('echo: three').waitFor({ state: 'detached' })
  const { values } = await server.client.threads.getState<{ messages: { content: string }[] }>(id)
  expect(values.messages.map(({ content }) => content))
    .toEqual(['one', 'echo: one', 'other', 'echo: other'])
  await expect.poll(() => rowsOf(page).count()).toBe(8)
  expectQuiet(tab)
  await tab.close()
})

it.each(['at once', 'when the run is over'])(
  'words from a step of the past are a branch; the old one, answered %s, is not seen',
  async (when) => {
    const gate = newGate()
    const id = await newThread('held', 'one', 'two')
    const first = (await server.client.threads.getHistory<{ messages: unknown[] }>(id, {
      limit: 20,
    })).find(({ next, values }) => next.length === 0 && values.messages.length === 4)
    const tab = await browser.open(addressOf(id, `?at=${first!.checkpoint.checkpoint_id}`))
    const { page } = tab
    await page.getByText('What you send now starts a branch here.').waitFor()
    await expect.poll(() => chatOf(page).getByText('two').count()).toBe(0)
    // Answers that were on their way before the branch had a step.
    const old = await server.client.threads.getState(id)
    let isLate = true
    const [asked, due] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    if (when === 'at once') due.resolve()
    await page.route(`**/threads/${id}/state?*`, async (route) => {
      if (!isLate) return route.continue()
      asked.resolve()
      await due.promise
      // Those that nobody waits for any more have no route.
      await route.fulfill({ json: { ...old, checkpoint_id: old.checkpoint.checkpoint_id } })
        .catch(() => {})
    })
    await page.evaluate(`new MutationObserver(() => {
      globalThis.flashed ||= document.querySelector('[role=log]').innerText.includes('two')
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`)
    await composerOf(page).fill(`hold ${gate.url}`)
    await composerOf(page).press('Enter')
    await Promise.all([asked.promise, gate.arrived()])
    await chatOf(page).getByText('hold').first().waitFor()
    isLate = false
    gate.open()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    due.resolve()
    await expect.poll(() => chatOf(page).getByRole('article').count()).toBe(8)
    await chatOf(page).getByText('last').nth(1).waitFor()
    expect(await page.evaluate('globalThis.flashed')).toBe(false)
    expect(new URL(page.url()).search).toBe('')
    expectQuiet(tab)
    await tab.close()
  },
)

it('what a model wrote does nothing: no markup, no foreign image, no script', async () => {
  const hostile = ['<img src=x onerror=alert(1)><base href="https://evil.example/">',
    '[click](javascript:alert(1)) and [out](https://example.org/a?b)',
    '![see](https://evil.example/leak.png)', `${'*'.repeat(5_000)}a`,
    '| a |\n|---|\n| b |\n\n```js\nconst x = 1\n```']
  const id = await newThread('echo', hostile.join('\n\n'))
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  const answer = chatOf(page).getByRole('article', { name: 'Assistant' }).first()
  await answer.getByText('const x = 1').waitFor()
  const link = answer.getByRole('link', { name: 'out' })
  await expect.poll(() => link.getAttribute('rel')).toBe('noopener noreferrer')
  await answer.getByText('(example.org)').waitFor()
  await expect.poll(() => answer.getByRole('link', { name: 'click' }).count()).toBe(0)
  await expect.poll(() => page.locator('base[href*=evil], main img').count()).toBe(0)
  await page.goto(addressOf(await newThread('echo', `${'>'.repeat(10_000)} deep`)))
  await answer.getByText(/>{100} deep/).waitFor()
  await expect.poll(() => page.locator('main *').count()).toBeLessThan(1_500)
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})

it('a long conversation opens at its end, and reads older messages upwards', async () => {
  const id = await newThread('echo')
  const messages = Array.from({ length: 400 },
    (_, at) => ({ role: at % 2 ? 'ai' : 'user',
      content: `message ${at} ${'words '.repeat(at % 40)}`, id: `m${at}` }))
  await server.client.threads.updateState(id, { values: { messages }, asNode: 'echo' })
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await chatOf(page).getByText('message 399').waitFor()
  await expect.poll(() => page.locator('main *').count()).toBeLessThan(1_500)
  await chatOf(page).focus()
  await expect.poll(async () => {
    await page.keyboard.press('Home')
    return chatOf(page).getByText('message 0', { exact: true }).count()
  }).toBe(1)
  await page.getByRole('button', { name: 'To the end' }).click()
  await chatOf(page).getByText('message 399').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('run settings go with what is sent', async () => {
  const id = await newThread('held')
  const tab = await browser.open(addressOf(id))
  const { page } = tab
  await page.getByRole('button', { name: 'Run settings' }).click()
  const drawer = page.getByRole('dialog', { name: 'Run settings' })
  await drawer.getByRole('group', { name: 'Pause before' }).getByLabel('hold').check()
  expect(await tab.violations()).toEqual([])
  await drawer.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Run settings (changed)' }).waitFor()
  await composerOf(page).fill('stop there')
  await composerOf(page).press('Enter')
  await chatOf(page).getByText('first', { exact: true }).waitFor()
  await expect.poll(async () => (await server.client.threads.getState(id)).next).toEqual(['hold'])
  expectQuiet(tab)
  await tab.close()
})
