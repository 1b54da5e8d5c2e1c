/** Rules in the Studio: the list, the editor with a dry run, the log, and going over the past. */

import { randomUUID } from 'node:crypto'

import { beforeAll, expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { eventually, ruleWire } from '../support/rules.ts'
import { useServer } from '../support/server.ts'
import { oneWorker } from '../support/server-process.ts'
import { gone } from './support/gone.ts'
import { expectGoodLooks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer({ project: 'judging', args: oneWorker })
const browser = useBrowser()
const wire = ruleWire(server)
const judge = { graph_id: 'judge' }
const longName = `قاعدة whose name is longer than any column, ${'very '.repeat(12)}long`

let [project, rule, idle] = ['', '', '']

beforeAll(async () => {
  project = await wire.project('shop')
  rule = await wire.rule({ display_name: 'Short answers', session_id: project,
    evaluators: [judge] })
  idle = await wire.rule({ display_name: longName, session_id: project, is_enabled: false,
    sampling_rate: 0.25, evaluators: [judge] })
  const run = (kind: string) => ({ id: randomUUID(), inputs: { kind }, outputs: { answer: 'yes' } })
  await wire.end(project, ['mute', 'broken'].map(run))
  // The editor tries a judge on the newest run.
  await wire.end(project, ['', ''].map(run))
  await eventually(async () => expect(await wire.log(rule)).toHaveLength(4))
})

const pageUrl = (path = '') => `${server.url}/studio/rules${path}`

it.runIf(isNight)('looks well: the list, the editor, a log with a line', async () => {
  await expectGoodLooks(browser, pageUrl(), async ({ page, violations }) => {
    await page.goto(pageUrl())
    const name = page.getByRole('rowheader', { name: 'Short answers' })
    await name.waitFor()
    expect(await violations()).toEqual([])
    await page.getByRole('button', { name: 'New rule' }).click()
    await page.getByRole('dialog', { name: 'New rule' }).getByLabel('Evaluator', { exact: true })
      .waitFor()
    expect(await violations()).toEqual([])
    await page.keyboard.press('Escape')
    await name.getByRole('link').click()
    await page.getByRole('grid', { name: 'Log of the rule' }).getByRole('row').first().click()
    await page.getByRole('region', { name: 'Line of the log' }).waitFor()
  })
}, 60_000)

it('makes a rule, tries its judge, turns it off, and deletes it', async () => {
  const tab = await browser.open(pageUrl(), { expected: /status of 422/ })
  const { page } = tab
  await page.getByRole('button', { name: 'New rule' }).click()
  const drawer = page.getByRole('dialog', { name: 'New rule' })
  await drawer.getByLabel('Name').fill('Second')
  await drawer.getByLabel('Project').selectOption({ label: 'shop' })
  await drawer.getByRole('button', { name: 'Make the rule' }).click()
  await drawer.getByText(/^A rule needs an action/).waitFor()
  await drawer.getByLabel('Filter').fill('eq(name, "agent")')
  await drawer.getByRole('button', { name: 'Count the runs of the last day' }).click()
  await drawer.getByText('4 runs of the last day').waitFor()
  await drawer.getByLabel('Sample').fill('50')
  await drawer.getByText('One trace in 2').waitFor()
  await drawer.getByLabel('Evaluator', { exact: true }).selectOption('graph')
  await drawer.getByLabel('Graph').selectOption('judge')
  await drawer.getByRole('button', { name: 'Try it on the newest run' }).click()
  await drawer.getByText(/^(true|false): \d+ characters$/).waitFor()
  await drawer.getByRole('button', { name: 'Make the rule' }).click()
  await page.getByRole('rowheader', { name: 'Second' }).waitFor()
  const row = page.getByRole('row', { name: /^Second/ })
  await row.getByText('One trace in 2').waitFor()
  await row.getByRole('button', { name: 'Turn off' }).click()
  await row.getByText('Off', { exact: true }).waitFor()
  await row.getByRole('button', { name: 'Edit' }).click()
  const editor = page.getByRole('dialog', { name: 'Edit the rule' })
  await expect.poll(() => editor.getByLabel('Filter').inputValue()).toBe('eq(name, "agent")')
  await editor.getByRole('button', { name: 'Delete' }).click()
  await editor.getByRole('button', { name: 'Yes, delete it with its log' }).click()
  await gone(page.getByRole('rowheader', { name: 'Second' }))
  expectQuiet(tab)
  await tab.close()
}, 60_000)

it('reads the log by keys, follows a judge to its trace, and goes over the past', async () => {
  const tab = await browser.open(pageUrl(`/${rule}`))
  const { page } = tab
  const log = page.getByRole('grid', { name: 'Log of the rule' })
  await log.getByRole('row').first().waitFor()
  await page.getByLabel('Which lines').selectOption('alert')
  await page.getByRole('heading', { name: 'No such line' }).waitFor()
  await page.getByLabel('Which lines').selectOption('failed')
  await log.getByText('The graph of the judge failed.').first().waitFor()
  await page.getByLabel('Which lines').selectOption('done')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  const line = page.getByRole('region', { name: 'Line of the log' })
  await line.getByText(/^Judged: short/).first().waitFor()
  await page.getByRole('button', { name: 'Go over the past' }).click()
  const dialog = page.getByRole('dialog', { name: 'Go over the past' })
  await dialog.getByRole('button', { name: 'Count them' }).click()
  await dialog.getByText('4 runs').waitFor()
  await dialog.getByRole('button', { name: 'Begin' }).click()
  await page.getByText('8 runs').waitFor()
  await line.getByRole('link', { name: 'The trace of the evaluator' }).click()
  await page.getByRole('heading', { name: 'judge' }).first().waitFor()
  expectQuiet(tab)
  await tab.close()
}, 60_000)

it('has a word for nothing, and for a server that is ill', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`, {
    expected: /status of (503|429)/,
  })
  const { page } = tab
  let answer = 503
  await page.route('**/api/v1/runs/rules?*', (route) =>
    route.fulfill(answer === 503
      ? { status: 503, json: { error: 'It is ill.', detail: 'It is ill.' } }
      : { status: 200, json: [] }))
  await page.getByRole('link', { name: 'Rules' }).click()
  await page.getByText('It is ill.').waitFor()
  answer = 200
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'No rules yet' }).waitFor()
  await page.goto(pageUrl(`/${idle}`))
  await page.getByRole('heading', { name: 'Nothing yet' }).waitFor()
  await page.route('**/api/v1/runs/rules/*/logs?*',
    (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '7' },
        json: { detail: 'Too many questions.' } }))
  await page.reload()
  await page.getByText('Too many questions.').waitFor()
  await page.getByText('It asks for 7 s of patience.').waitFor()
  await tab.close()
}, 30_000)
