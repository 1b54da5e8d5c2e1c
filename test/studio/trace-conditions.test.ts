/** The menu of conditions of the list of traces: every filter, built with the mouse. */

import { beforeAll, expect, it } from 'vitest'

import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { projectId, sendSpans, spanOf } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer({ args: oneWorker })
const browser = useBrowser()

const project = 'conditions'
const hostile = '<img/src=x/onerror=alert(1)>'
let address = ''

beforeAll(async () => {
  await sendSpans(server.url,
    Array.from({ length: 8 },
      (_, at) =>
        spanOf({ project, name: `job ${at}`, beganMs: Date.now() - 3_600_000 - at * 60_000,
          toMs: (at + 1) * 1_000, tags: at % 2 === 0 ? ['web'] : [hostile],
          inputs: { input: `question ${at}` }, extra: { metadata: { customer: `c-${at}` } },
          ...at === 7 && { error: 'TimeoutError: no answer' } })))
  address = `${server.url}/studio/traces/${await projectId(server.url, project)}`
})

it('builds conditions, negations and groups, which the box and the address show', async () => {
  const tab = await browser.open(address)
  const { page } = tab
  const list = page.getByRole('grid', { name: 'Traces' })
  const box = page.getByRole('searchbox', { name: 'Filter traces' })
  const add = page.getByRole('button', { name: 'Add', exact: true })
  const count = (rows: number) => expect.poll(() => list.getByRole('link').count()).toBe(rows)
  await count(8)

  await page.getByRole('button', { name: 'Conditions' }).click()
  await page.getByLabel('Field').selectOption('Tag')
  await page.getByLabel('Value').fill('web')
  await add.click()
  await count(4)
  expect(await box.inputValue()).toBe('tag:web')
  await page.getByRole('button', { name: 'Tag is web', exact: true }).click()
  await page.getByLabel('Not', { exact: true }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await list.getByRole('link', { name: 'question 1' }).waitFor()
  await count(4)
  expect(await box.inputValue()).toBe('not(has(tags, "web"))')

  await page.getByRole('button', { name: 'Group', exact: true }).click()
  await page.getByLabel('Field').selectOption('Metadata')
  await page.getByLabel('Key').fill('customer')
  await page.getByLabel('Value').fill('c-1')
  await add.click()
  await count(1)
  await page.getByLabel('Field').selectOption('Duration')
  await page.getByLabel('Value').fill('7500ms')
  await add.click()
  await count(2)
  const filter = 'and(not(has(tags, "web")), or(and(eq(metadata_key, "customer"), ' +
    'eq(metadata_value, "c-1")), gt(latency, 7.5)))'
  expect(await box.inputValue()).toBe(filter)
  expect(new URL(page.url()).searchParams.get('filter')).toBe(filter)
  expect(await tab.violations()).toEqual([])

  await page.getByRole('group', { name: 'Group' }).getByLabel('How the conditions are joined')
    .selectOption('None of')
  await count(2)
  await list.getByRole('link', { name: 'question 3' }).waitFor()
  await page.getByRole('button', { name: 'Failed' }).click()
  await page.getByText('No trace matches').waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Remove the group' }).click()
  await count(1)
  await page.getByRole('button', { name: 'Remove not Tag is web' }).click()
  await page.getByRole('button', { name: 'Failed' }).click()
  await count(8)
  expect(await box.inputValue()).toBe('')
  expectQuiet(tab)
  await tab.close()
})

it('says what is wrong with a condition or a filter, and shows hostile ones as text', async () => {
  const tab = await browser.open(`${address}?filter=${encodeURIComponent('eq(name, "a"')}`, {
    expected: /status of 400/,
  })
  const { page } = tab
  await page.getByText('"," or ")" is expected at character 13').waitFor()
  const box = page.getByRole('searchbox', { name: 'Filter traces' })
  expect(await box.getAttribute('aria-invalid')).toBe('true')
  expect(await page.getByRole('button', { name: 'Conditions' }).isDisabled()).toBe(true)
  await box.fill(`has(tags, "${hostile}")`)
  await page.getByRole('button', { name: `Tag is ${hostile}`, exact: true }).waitFor()
  await page.getByRole('link', { name: 'question 1' }).waitFor()
  await page.getByRole('button', { name: 'Add a condition' }).click()
  await page.getByLabel('Field').selectOption('Cost')
  await page.getByLabel('Value').fill('cheap')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('alert').getByText('Write a number.').waitFor()
  expect(await page.locator('img').count()).toBe(0)
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})

it('fits phones and wide screens, by day and by night', async () => {
  const filter = 'and(not(has(tags, "web")), or(eq(name, "job 1"), gt(latency, 7.5), ' +
    `in(metadata_key, ["${'long'.repeat(60)}"])), search("question"))`
  const tab = await browser.open(`${address}?filter=${encodeURIComponent(filter)}`, {
    reducedMotion: true,
  })
  const { page } = tab
  await page.getByRole('button', { name: 'Conditions' }).click()
  for (const width of [390, 1_024, 1_440]) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme: width === 1_024 ? 'dark' : 'light' })
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    expect(await tab.violations()).toEqual([])
  }
  expectQuiet(tab)
  await tab.close()
})
