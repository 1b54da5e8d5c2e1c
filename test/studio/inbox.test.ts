/** The inbox: what waits for a person, the oldest first, answered one after the other. */

import { expect, it } from 'vitest'

import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer({ args: oneWorker })
const browser = useBrowser()

async function asks(title: string): Promise<string> {
  const { thread_id: id } = await server.client.threads.create({ metadata: { title } })
  await server.client.runs.wait(id, 'ask', { input: { question: `${title}?` } })
  return id
}

it('says that nothing waits', async () => {
  for (const look of [{ colours: 'light', width: 390 }, { colours: 'dark',
    width: 1280 }] as const) {
    const tab = await browser.open(`${server.url}/studio/inbox`, look)
    await tab.page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor()
    expect(await tab.violations()).toEqual([])
    expectQuiet(tab)
    await tab.close()
  }
})

it('shows who waits longest first, and goes on to the next', async () => {
  const ids = [await asks('One'), await asks('Two'), await asks('Three')]
  const tab = await browser.open(`${server.url}/studio/inbox`)
  const { page } = tab
  const grid = page.getByRole('grid', { name: 'Threads that wait' })
  await grid.getByRole('row').first().waitFor()
  await expect.poll(async () =>
    (await grid.getByRole('row').allInnerTexts()).map((text) => text.split('\n')[0])
  ).toEqual(['One', 'Two', 'Three'])
  await page.getByRole('navigation').getByLabel('3 waiting').waitFor()
  expect(await tab.violations()).toEqual([])
  const question = page.getByRole('region', { name: 'What it asks' })
  await question.getByRole('heading', { name: 'One', exact: true }).waitFor()
  await page.keyboard.press('j')
  await question.getByRole('heading', { name: 'Two', exact: true }).waitFor()
  expect(new URL(page.url()).searchParams.get('at')).toBe(ids[1])
  await page.reload()
  await question.getByRole('heading', { name: 'Two', exact: true }).waitFor()
  await page.keyboard.press('k')
  await question.getByRole('heading', { name: 'One', exact: true }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('is one column on a phone, with the way back', async () => {
  const tab = await browser.open(`${server.url}/studio/inbox`, { width: 390, height: 844 })
  const { page } = tab
  const grid = page.getByRole('grid', { name: 'Threads that wait' })
  await grid.getByText('Two', { exact: true }).click()
  await page.getByRole('heading', { name: 'Two', exact: true }).waitFor()
  await expect.poll(() => grid.isVisible()).toBe(false)
  expect(await tab.violations()).toEqual([])
  await page.getByRole('button', { name: 'To the list' }).click()
  await grid.waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('answers a question, and goes on to the next one', async () => {
  const tab = await browser.open(`${server.url}/studio/inbox`)
  const { page } = tab
  const question = page.getByRole('region', { name: 'What it asks' })
  const grid = page.getByRole('grid', { name: 'Threads that wait' })
  await question.getByRole('heading', { name: 'One', exact: true }).waitFor()
  const at = await server.client.threads.search({ metadata: { title: 'One' } })
  await question.getByLabel('Answer', { exact: true }).last().fill('Yes')
  await question.getByRole('button', { name: 'Answer', exact: true }).click()
  await question.getByRole('heading', { name: 'Two', exact: true }).waitFor()
  await expect.poll(() => grid.getByRole('row').count()).toBe(2)
  await expect.poll(async () =>
    (await server.client.threads.getState<{ answers: string[] }>(at[0]!.thread_id)).values.answers
  ).toEqual(['Yes', 'after'])
  await page.getByRole('navigation').getByLabel('2 waiting').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('has a thread whose last answer failed, in front of the others', async () => {
  const tab = await browser.open(`${server.url}/studio/inbox`)
  const { page } = tab
  const [found] = await server.client.threads.search({ metadata: { title: 'Three' } })
  await page.route('**/threads/search', async (route) => {
    const asked = route.request().postDataJSON() as { readonly status?: string }
    if (asked.status !== 'error') return route.continue()
    const json = [{ ...found, thread_id: crypto.randomUUID(), status: 'error',
      metadata: { title: 'Failed' } }]
    await route.fulfill({ json, headers: { 'x-pagination-total': '1' } })
  })
  await page.reload()
  const grid = page.getByRole('grid', { name: 'Threads that wait' })
  await expect.poll(async () =>
    (await grid.getByRole('row').allInnerTexts()).map((text) => text.split('\n')[0])
  ).toEqual(['Failed', 'Two', 'Three'])
  await page.getByRole('navigation').getByLabel('3 waiting').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('leaves a refused answer where it was written', async () => {
  const tab = await browser.open(`${server.url}/studio/inbox`, { expected: /Failed to load/ })
  const { page } = tab
  await page.getByRole('heading', { name: 'Two', exact: true }).waitFor()
  await page.route('**/runs',
    (route) => route.fulfill({ status: 403, json: { detail: 'You may not answer here.' } }))
  await page.getByLabel('Answer', { exact: true }).last().fill('Perhaps')
  await page.getByRole('button', { name: 'Answer', exact: true }).click()
  await page.getByText('You may not answer here.').waitFor()
  await page.getByRole('heading', { name: 'Two', exact: true }).waitFor()
  expectQuiet(tab)
  await tab.close()
})
