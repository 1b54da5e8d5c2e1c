/** Experiments from the page: begun with few clicks, followed, cancelled, and read afterwards. */

import { expect, it } from 'vitest'

import { experimentWire } from '../support/experiments.ts'
import { useServer } from '../support/server.ts'
import { countClicks } from './support/clicks.ts'
import { expectGoodLooks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer({ project: 'judging' })
const browser = useBrowser()
const wire = experimentWire(server)

const questions = (word: string, count: number) =>
  Array.from({ length: count }, (_, no) => `${word} ${no}`)

it('one begins with at most four clicks from its dataset, and its scores come in', async () => {
  const id = await wire.dataset('begun here', questions('question', 3))
  const tab = await browser.open(`${server.url}/studio/datasets/${id}`)
  const { page } = tab
  const clicks = await countClicks(page)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const form = page.getByRole('dialog', { name: 'Run an experiment' })
  // What the first example suggests.
  await expect.poll(() => form.getByLabel('Input').inputValue()).toBe('question')
  expect(await form.getByLabel('Name of the output').inputValue()).toBe('answer')
  await form.getByLabel('Assistant').selectOption('answer')
  await form.getByRole('button', { name: 'Run', exact: true }).click()
  // A list takes a person two clicks: one that opens it, and one that chooses.
  expect(await clicks() + 2).toBeLessThanOrEqual(4)
  const row = page.getByRole('row', { name: /answer-/ })
  await row.getByText('3', { exact: true }).waitFor({ timeout: 20_000 })
  await page.getByRole('list', { name: 'Experiments that go on' }).waitFor({ state: 'detached' })
  expectQuiet(tab)
  await tab.close()
})

it('judges, repeats and is named as its form says', async () => {
  const id = await wire.dataset('filled in', questions('question', 2))
  const tab = await browser.open(`${server.url}/studio/datasets/${id}?view=experiments`, {
    expected: /status of 409/,
  })
  const { page } = tab
  await page.getByRole('button', { name: 'Run experiment' }).click()
  const form = page.getByRole('dialog', { name: 'Run an experiment' })
  await form.getByLabel('Assistant').selectOption('answer')
  await form.getByLabel('Graph as evaluator').selectOption('judge')
  await form.getByLabel('Repetitions').fill('2')
  await form.getByLabel('Name', { exact: true }).fill('twice each')
  await form.getByRole('button', { name: 'Run', exact: true }).click()
  const row = page.getByRole('row', { name: 'twice each' })
  await row.getByText('short 0').waitFor({ timeout: 20_000 })
  await row.getByText('4', { exact: true }).waitFor()
  // The name is taken: the form says so and stays.
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await form.getByLabel('Name', { exact: true }).fill('twice each')
  await form.getByRole('button', { name: 'Run', exact: true }).click()
  await form.getByRole('alert').first().waitFor()
  await page.keyboard.press('Escape')
  await tab.close()
})

it('shows how far it is, also after a reload, and is cancelled', async () => {
  const id = await wire.dataset('long one', questions('slowly', 60))
  await wire.begun({ assistant_id: 'answer', input_text: 'question', output_text: 'answer',
    dataset_id: id, max_concurrency: 1, project_name: 'the long one' })
  const tab = await browser.open(`${server.url}/studio/datasets/${id}?view=experiments`)
  const { page } = tab
  const going = page.getByRole('listitem', { name: 'the long one' })
  await going.getByText(/^[1-9]\d* of 60$/).waitFor({ timeout: 20_000 })
  await page.reload()
  await going.getByText(/ of 60$/).waitFor()
  expect(await tab.violations()).toEqual([])
  await going.getByRole('button', { name: 'Cancel the long one' }).click()
  await going.waitFor({ state: 'detached' })
  const { body } = await wire.send('GET', `/experiments?dataset=${id}`)
  expect(body).toMatchObject([{ status: 'Cancelled' }])
  expectQuiet(tab)
  await tab.close()
})

it('an assistant asks for the dataset; the form looks good', async () => {
  const id = await wire.dataset('looked at', questions('question', 2))
  const tab = await browser.open(`${server.url}/studio/assistants`)
  const { page } = tab
  await page.getByRole('navigation', { name: 'Assistants by graph' })
    .getByRole('link', { name: 'answer' }).click()
  await page.getByRole('button', { name: 'Run experiment' }).click()
  const form = page.getByRole('dialog', { name: 'Run an experiment' })
  const run = form.getByRole('button', { name: 'Run', exact: true })
  expect(await run.isDisabled()).toBe(true)
  await form.getByLabel('Dataset').selectOption('looked at')
  await run.click()
  await page.getByRole('row', { name: /answer-/ }).waitFor({ timeout: 20_000 })
  expectQuiet(tab)
  await tab.close()
  await expectGoodLooks(browser, `${server.url}/studio/datasets/${id}`, async ({ page }) => {
    // The form has a button of the same name: in the next look it would begin one and close.
    const dialog = page.getByRole('dialog')
    if (!await dialog.isVisible()) {
      await page.getByRole('button', { name: 'Run', exact: true }).click()
    }
    await dialog.waitFor()
  })
})
