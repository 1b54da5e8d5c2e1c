/** Questions in the Studio: cards and forms by their shapes, several at once, and refusals. */

import { expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { TabOptions } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

/** A thread that waits with a question, seen in a tab. */
async function asked(graph: string, question: unknown, options?: TabOptions) {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, graph, { input: { question } })
  const tab = await browser.open(`${server.url}/studio/threads/${id}`, options)
  await tab.page.getByRole('region', { name: /^Questions?$/ }).waitFor()
  const answers = async () => {
    const { values } = await server.client.threads.getState(id)
    return (values as { answers?: unknown[] }).answers
  }
  return { id, tab, page: tab.page, answers }
}

const publish = {
  actionRequests: [{ name: 'publish', args: { title: 'Looms', channel: 'web', hours: 0 },
    description: 'Publish this draft to readers?' }],
  reviewConfigs: [{ actionName: 'publish', allowedDecisions: ['approve', 'edit', 'reject'],
    argsSchema: { type: 'object', required: ['title', 'channel'], properties: {
      title: { type: 'string', minLength: 1 },
      channel: { enum: ['web', 'print'] },
      notify_subscribers: { type: 'boolean' },
      hours: { type: 'integer', title: 'Embargo (hours)', minimum: 0 },
    } } }],
}

it('An act is approved with changes, once they are right', async () => {
  const { tab, page, answers } = await asked('askany', publish, { colours: 'dark' })
  const card = page.getByRole('article', { name: 'Publish this draft to readers?' })
  await card.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  expect(await tab.violations()).toEqual([])
  await card.getByLabel('Title').fill('')
  await card.getByLabel('Embargo (hours)').fill('-2')
  await card.getByRole('button', { name: 'Approve with changes' }).click()
  await card.getByText('must not be empty').waitFor()
  await card.getByText('must be 0 or more').waitFor()
  await card.getByLabel('Title').fill('Looms <b>& more</b>')
  await card.getByLabel('Embargo (hours)').fill('12')
  await card.getByLabel('Channel').selectOption('print')
  await card.getByRole('button', { name: 'Approve with changes' }).click()
  await card.getByRole('button', { name: 'Send now' }).click()
  await card.waitFor({ state: 'detached' })
  await expect.poll(answers).toEqual([{ decisions: [{ type: 'edit', editedAction: {
    name: 'publish',
    args: { title: 'Looms <b>& more</b>', channel: 'print', hours: 12 },
  } }] }])
  expectQuiet(tab)
  await tab.close()
})

it('A hand-held window rejects with a reason; Ctrl with Enter approves', async () => {
  const narrow = await asked('askany', publish, { width: 390, height: 844 })
  const { page } = narrow
  await page.getByRole('button', { name: 'Reject …' }).click()
  await page.getByLabel('Why?').fill('Too long.')
  expect(await narrow.tab.violations()).toEqual([])
  await page.getByRole('button', { name: 'Reject', exact: true }).click()
  await page.getByRole('button', { name: 'Send now' }).click()
  await expect.poll(narrow.answers)
    .toEqual([{ decisions: [{ type: 'reject', message: 'Too long.' }] }])
  await narrow.tab.close()

  const wide = await asked('askany', publish)
  await wide.page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  await wide.page.keyboard.press('Control+Enter')
  await wide.page.getByRole('button', { name: 'Send now' }).click()
  await expect.poll(wide.answers).toEqual([{ decisions: [{ type: 'approve' }] }])
  await wide.tab.close()
})

it('Several questions are answered together', async () => {
  const { tab, page, answers } = await asked('askboth', 'q')
  const left = page.getByRole('article', { name: 'left?' })
  const right = page.getByRole('article', { name: 'right?' })
  await left.getByLabel('Answer').fill('first')
  await left.getByRole('button', { name: 'Answer', exact: true }).click()
  await page.getByText('1 of 2 answered.').waitFor()
  await left.getByRole('button', { name: 'Change' }).click()
  await left.getByLabel('Answer').fill('one')
  await left.getByRole('button', { name: 'Answer', exact: true }).click()
  expect(await tab.violations()).toEqual([])
  await right.getByLabel('Answer').fill('two')
  await right.getByRole('button', { name: 'Answer', exact: true }).click()
  await expect.poll(async () => (await answers())?.toSorted()).toEqual(['left one', 'right two'])
  await right.waitFor({ state: 'detached' })
  expectQuiet(tab)
  await tab.close()
})

it('The schema of an answer is its form, and the next question appears by itself', async () => {
  const { tab, page, answers } = await asked('form', 'q')
  const many = page.getByRole('article', { name: 'how many?' })
  const field = many.getByRole('textbox', { name: 'Answer' })
  await field.fill('thr')
  await many.getByRole('button', { name: 'Answer', exact: true }).click()
  await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
  await field.fill('3.5')
  await many.getByText('must be a whole number').waitFor()
  await field.fill('3')
  await many.getByRole('button', { name: 'Answer', exact: true }).click()
  const which = page.getByRole('article', { name: 'which?' })
  await which.getByRole('textbox', { name: 'Answer' }).fill('red')
  await which.getByRole('button', { name: 'Answer', exact: true }).click()
  await expect.poll(answers).toEqual([3, 'red'])
  expectQuiet(tab)
  await tab.close()
})

it('The next question of a task is asked also if nothing on the page saw its run', async () => {
  const { id, tab, page, answers } = await asked('form', 'q')
  const asks = async () => {
    const { tasks } = await server.client.threads.getState(id)
    return tasks[0]?.interrupts[0]?.value
  }
  // The run is between two frames, and between two looks at the thread.
  await page.evaluate(`requestAnimationFrame = (call) =>
    setTimeout(() => call(performance.now()), 1_500)`)
  await page.route(`**/threads/${id}`, async (route) => {
    await expect.poll(asks).toBe('which?')
    await route.fallback()
  })
  const many = page.getByRole('article', { name: 'how many?' })
  await many.getByRole('textbox', { name: 'Answer' }).fill('3')
  await many.getByRole('button', { name: 'Answer', exact: true }).click()
  await page.getByRole('article', { name: 'which?' }).getByRole('textbox').fill('red')
  await page.unroute(`**/threads/${id}`)
  await page.getByRole('article', { name: 'which?' }).getByRole('button', { name: 'Answer',
    exact: true }).click()
  await expect.poll(answers).toEqual([3, 'red'])
  await tab.close()
})

it('Any value is answered with text or JSON; what is large or hostile is shown', async () => {
  const hostile = { '<img src=x onerror=alert(1)>': '<script>alert(1)</script>',
    text: '‮</style>'.repeat(500), large: 'x'.repeat(3_000_000) }
  const { tab, page, answers } = await asked('askany', hostile)
  const card = page.getByRole('article', { name: 'The graph waits for an answer' })
  await card.getByText('onerror').first().waitFor()
  await expect.poll(() => page.locator('*').count()).toBeLessThan(1_500)
  await card.getByRole('button', { name: 'Answer with JSON' }).click()
  const editor = card.getByRole('textbox', { name: 'Answer, as JSON' })
  await editor.fill('{"ok": ')
  await card.getByText('This is no JSON').waitFor()
  await expect.poll(() => card.getByRole('button', { name: 'Answer', exact: true }).isDisabled())
    .toBe(true)
  await editor.fill('{"ok": [true]}')
  await card.getByRole('button', { name: 'Answer', exact: true }).click()
  await expect.poll(answers).toEqual([{ ok: [true] }])
  expectQuiet(tab)
  await tab.close()
})

it('A refusal stands on the card; a question that was answered elsewhere goes away', async () => {
  const { id, tab, page, answers } = await asked('askany', { question: 'Which?',
    options: ['red', 'green'] }, { expected: /status of/ })
  const message = 'The queue of this thread is full.'
  await page.route('**/runs', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 429, json: { detail: message }, headers: { 'retry-after': '3' } })
      : route.fallback())
  const card = page.getByRole('article', { name: 'Which?' })
  await card.getByRole('button', { name: 'green' }).click()
  await page.getByRole('alert').getByText(message).waitFor()
  expect(await tab.violations()).toEqual([])
  await card.getByRole('button', { name: 'red' }).waitFor()
  await server.client.runs.wait(id, 'askany', { command: { resume: 'elsewhere' } })
  await card.waitFor({ state: 'detached' })
  await expect.poll(answers).toEqual(['elsewhere'])
  await tab.close()
})
