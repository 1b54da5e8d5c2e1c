/** Annotation queues: made, changed, and worked through run by run. */

import { randomUUID } from 'node:crypto'

import { beforeAll, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'
import { sendDataset } from './support/sent-experiments.ts'
import { sendSpans, spanOf } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

const name = `review ${randomUUID()}`
const spans = ['one', 'two', 'three'].map((words, at) =>
  spanOf({ project: name, name: `run ${words}`, beganMs: Date.now() - 60_000 + at,
    inputs: { input: words }, outputs: { output: words } })
)

/** The body of an answer. */
async function said<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  return (await ask(server.url, method, path, body)).body as Body
}

beforeAll(() => sendSpans(server.url, spans))

it('A queue is made, its runs are scored, and those that are done leave it', async () => {
  const tab = await browser.open(`${server.url}/studio/queues?q=${encodeURIComponent(name)}`)
  const { page } = tab
  await page.getByText('No queue matches').waitFor()
  await page.getByRole('button', { name: 'New queue' }).click()
  const form = page.getByRole('dialog', { name: 'New queue' })
  await form.getByLabel('Name').fill(name)
  await form.getByLabel('Instructions').fill('Is it polite?')
  await form.getByRole('button', { name: 'Add a key' }).click()
  await form.getByLabel('Key 1', { exact: true }).fill('polite')
  expect(await tab.violations()).toEqual([])
  await form.getByRole('button', { name: 'Make queue' }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await page.getByText('Nothing to look at').waitFor()

  const id = page.url().split('/').at(-1)!
  for (const { id: run } of spans) {
    await ask(server.url, 'POST', `/api/v1/annotation-queues/${id}/runs`, [run])
  }
  await page.reload()
  await page.getByText('3 runs left, 0 done').waitFor()
  await page.getByRole('heading', { level: 2, name: /^run / }).waitFor()
  await page.getByText('Is it polite?').waitFor()
  expect(await tab.violations()).toEqual([])
  const question = page.getByRole('form', { name: 'polite' })
  await question.getByRole('button', { name: 'polite: good' }).click()
  await question.getByText('Given').waitFor()
  await question.getByLabel('Comment').fill('Very.')
  await question.getByLabel('Score').fill('0.5')
  await question.getByRole('button', { name: 'Give' }).click()
  await page.getByText('Very.').waitFor()
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('j')
  await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('1')
  await page.keyboard.press('k')
  await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBeNull()
  await page.keyboard.press('Control+Enter')
  await page.getByText('2 runs left, 1 done').waitFor()
  await page.getByRole('button', { name: 'Remove from queue' }).click()
  await page.getByText('1 run left, 1 done').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByText('All is done').waitFor()

  await page.getByRole('button', { name: 'Change the queue' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill(`${name} again`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: `${name} again` }).waitFor()
  await page.setViewportSize({ width: 390, height: 800 })
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await tab.violations()).toEqual([])
  await page.getByRole('button', { name: 'Delete the queue' }).click()
  await page.getByRole('button', { name: 'Delete queue' }).click()
  await page.getByRole('heading', { level: 1, name: 'Annotation queues' }).waitFor()
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})

it('A run that is looked at is kept from others, and becomes an example of its queue', async () => {
  const dataset = await sendDataset(server.url, `for ${name}`, [])
  const { id } = await said<{ id: string }>('POST', '/api/v1/annotation-queues', {
    name: `kept ${name}`,
    rubric_items: [{ feedback_key: 'polite' }],
  })
  await ask(server.url, 'POST', `/api/v1/annotation-queues/${id}/runs`, [spans[0]!.id])
  const tab = await browser.open(`${server.url}/studio/queues/${id}`)
  const { page } = tab
  await page.getByText('1 run left, 0 done').waitFor()
  const items = () =>
    said<{ items: readonly { reserved_by: readonly string[] }[] }>('GET',
      `/api/v1/platform/annotation-queues/${id}/items`)
  await expect.poll(async () => (await items()).items[0]!.reserved_by.length).toBe(1)

  await page.getByRole('button', { name: 'Change the queue' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Dataset').selectOption(dataset.id)
  await form.getByLabel('Minutes for which').fill('0')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  expect(await said('GET', `/api/v1/annotation-queues/${id}`)).toMatchObject({
    default_dataset: dataset.id,
    enable_reservations: false,
  })

  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('a')
  const dialog = page.getByRole('dialog', { name: 'Add to dataset' })
  // The choice is the new dataset until the list of datasets has come.
  await expect.poll(() => dialog.getByLabel('Dataset').inputValue()).toBe(dataset.id)
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('The example was added.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.keyboard.press('Control+Enter')
  await page.getByText('All is done').waitFor()
  const [example] = await said<object[]>('GET', `/api/v1/examples?dataset=${dataset.id}`)
  expect(example).toMatchObject({ inputs: { input: 'one' }, source_run_id: spans[0]!.id })
  expectQuiet(tab)
  await tab.close()
})

it('Queues say what went wrong, and ask again', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`, {
    expected: /status of (503|404)/,
  })
  const { page } = tab
  await page.route('**/api/v1/annotation-queues?*',
    (route) => route.fulfill({ status: 503, json: { detail: 'The store rests.' } }))
  await page.getByRole('link', { name: 'Annotation queues' }).click()
  await page.getByText('The store rests.').waitFor()
  await page.unroute('**/api/v1/annotation-queues?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('The store rests.').waitFor({ state: 'detached' })
  await page.goto(`${server.url}/studio/queues/${randomUUID()}`)
  await page.getByText('There is no such annotation queue.').waitFor()
  expectQuiet(tab)
  await tab.close()
})
