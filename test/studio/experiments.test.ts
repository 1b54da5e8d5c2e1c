/** Experiments in the Studio: their numbers, and some of them side by side. */

import { beforeAll, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { sendDataset, sendExperiment } from './support/sent-experiments.ts'
import { sendSpans, spanOf } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()
const stamp = Date.now()
let address = ''

beforeAll(async () => {
  const { id, ids } = await sendDataset(server.url, `rivers ${stamp}`,
    Array.from({ length: 30 },
      (_, at) => ({ inputs: { question: `question ${at}` },
        outputs: { answer: `It is river ${at}.` } })))
  const experiment = (name: string, words: string, score: (at: number) => number) =>
    sendExperiment(server.url, { dataset: id, name: `${name} ${stamp}`, answers: ids.map(
      (example, at) => ({ example, words: `${words} river ${at}.`, score: score(at),
        ...at === 9 && name === 'large' && { error: 'TimeoutError: none\n  at x' } }),
    ) })
  await experiment('small', 'It is', () => 0.75)
  await experiment('large', 'It was', (at) => at === 7 ? 0 : 1)
  address = `${server.url}/studio/datasets/${id}?view=experiments`
})

it('have their numbers in a list, and say when there are none', async () => {
  const tab = await browser.open(address)
  const { page } = tab
  const row = page.getByRole('row', { name: `large ${stamp}` })
  await row.getByText('correctness 0.97').waitFor()
  await row.getByText('3.3 %').waitFor()
  expect(await tab.violations()).toEqual([])
  const { id } = await sendDataset(server.url, `none ${stamp}`, [])
  await page.goto(`${server.url}/studio/datasets/${id}?view=experiments`)
  await page.getByText('No experiments yet').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('go on before the eyes of who looks, in the list and side by side', async () => {
  const { id, ids } = await sendDataset(server.url, `live ${stamp}`,
    ['one', 'two'].map((question) => ({ inputs: { question }, outputs: { answer: question } })))
  const send = (name: string, ...words: readonly string[]) =>
    sendExperiment(server.url, { dataset: id, name: `${name} ${stamp}`,
      answers: words.map((each, at) => ({ example: ids[at]!, words: each, score: 1 })) })
  const older = await send('older', 'It is one.', 'It is two.')
  const tab = await browser.open(`${server.url}/studio/datasets/${id}?view=experiments`)
  const { page } = tab
  const row = page.getByRole('row', { name: `older ${stamp}` })
  await row.getByText('Running').waitFor()
  // Nobody reloads the page, or clicks.
  const newer = await send('newer', 'It was one.')
  await page.getByRole('row', { name: `newer ${stamp}` }).waitFor()
  await page.goto(`${server.url}/studio/datasets/${id}?view=experiments&compare=${older},${newer}`)
  const second = page.getByRole('grid', { name: 'Examples side by side' })
    .getByRole('row', { name: 'two' })
  await second.getByText('Not asked').waitFor()
  await sendSpans(server.url, [
    spanOf({ project: `newer ${stamp}`, name: 'target', beganMs: Date.now(),
      reference_example_id: ids[1], inputs: {}, outputs: { answer: 'It came late.' } }),
  ])
  await second.getByText('It came late.').waitFor()
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})

it('stand side by side: differences, what became worse, the trace of a cell', async () => {
  const tab = await browser.open(address)
  const { page } = tab
  for (const name of ['small', 'large']) {
    await page.getByRole('checkbox', { name: `Choose ${name} ${stamp}` }).check()
  }
  await page.getByRole('button', { name: 'Compare' }).click()
  const grid = page.getByRole('grid', { name: 'Examples side by side' })
  await grid.getByRole('row', { name: 'question 0' }).getByText('best').waitFor()
  await page.getByText('30 examples, 2 worse').waitFor()
  // The first one is the older one: the others are compared with it.
  await page.getByText('+0.22').waitFor()
  await grid.getByRole('row', { name: 'question 0' }).getByText('+0.25').waitFor()
  await page.getByRole('combobox', { name: 'Sort' }).selectOption('Largest difference first')
  await expect.poll(() => grid.getByRole('row').first().textContent()).toContain('question 7')
  // What failed since is worse than any score that fell.
  await page.getByRole('combobox', { name: 'Sort' }).selectOption('What got worse first')
  await expect.poll(() => grid.getByRole('row').first().textContent()).toContain('question 9')
  const [dense, tall] = [await grid.getByRole('row').first().boundingBox(), async () => {
    await page.getByRole('button', { name: 'Tall rows' }).click()
    return await grid.getByRole('row').first().boundingBox()
  }]
  expect(dense!.height).toBeLessThanOrEqual(40)
  expect((await tall())!.height).toBeGreaterThan(100)
  await page.getByRole('button', { name: 'Tall rows' }).click()
  await page.getByRole('button', { name: 'Only regressions' }).click()
  await expect.poll(() => grid.getByRole('row').count()).toBe(2)
  await page.getByRole('combobox', { name: 'Show differences' }).selectOption({ index: 1 })
  await grid.locator('ins', { hasText: 'was' }).first().waitFor()
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await tab.violations()).toEqual([])
    }
  }
  await page.reload()
  await expect.poll(() => grid.getByRole('row').count()).toBe(2)
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await page.keyboard.press('Enter')
  await page.getByRole('tree', { name: 'Spans' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('say what went wrong, and ask again', async () => {
  const tab = await browser.open(address.replace('?view=experiments', ''), {
    expected: /status of (500|503)/,
  })
  const { page } = tab
  await page.route('**/api/v1/sessions?*',
    (route) => route.fulfill({ status: 503, json: { detail: 'The store rests.' } }))
  await page.getByRole('tab', { name: 'Experiments' }).click()
  await page.getByText('The store rests.').waitFor()
  await page.unroute('**/api/v1/sessions?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  for (const name of ['small', 'large']) {
    await page.getByRole('checkbox', { name: `Choose ${name} ${stamp}` }).check()
  }
  await page.route('**/experiment-runs',
    (route) => route.fulfill({ status: 503, json: { detail: 'The answers rest.' } }))
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByText('The answers rest.').waitFor()
  expect(await tab.violations()).toEqual([])
  await page.unroute('**/experiment-runs')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('30 examples, 2 worse').waitFor()
  expectQuiet(tab)
  await tab.close()
})
