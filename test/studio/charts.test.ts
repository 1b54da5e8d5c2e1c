/** Charts in the Studio: dashboards that people make, arrange and read. */

import { beforeAll, expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'
import { gone } from './support/gone.ts'
import { expectGoodLooks } from './support/looks.ts'
import { asReader } from './support/changed-answer.ts'
import { projectId, sendSpans, spanOf, supportTrace } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()
const project = `desk ${Date.now()}`
const title = `Support ${Date.now()}`
const roots = 'eq(is_root, true)'
let [desk, dashboard] = ['', '']

interface Made {
  readonly id: string
}

async function made<Answer = Made>(path: string, body: object): Promise<Answer> {
  const answer = await ask(server.url, 'POST', `/api/v1${path}`, body)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body as Answer
}

async function chart(name: string, series: readonly object[], more: object = {}): Promise<string> {
  return (await made('/charts/create', { title: name, chart_type: 'line', section_id: dashboard,
    series: series.map((each) => ({ name: 'Count', metric: 'run_count', ...each })),
    common_filters: { session: [desk], filter: roots }, ...more })).id
}

beforeAll(async () => {
  const traces = [1, 2, 3].flatMap((hours) =>
    supportTrace({ project, beganMs: Date.now() - hours * 3_600_000, words: 'Where is my parcel?',
      ...hours === 2 && { error: 'TimeoutError' } })
  )
  const kinds = ['web', 'phone'].map((kind) =>
    spanOf({ project, name: 'لوحة', beganMs: Date.now() - 5_400_000, tags: [kind] })
  )
  await sendSpans(server.url, [...traces, ...kinds])
  desk = await projectId(server.url, project)
  dashboard = (await made('/charts/section', { title, index: 1 })).id
  await chart('Traces', [{}], { index: 1, chart_type: 'bar' })
  await chart('Latency', [{ name: 'p50', metric: 'latency_p50' }, { name: 'p99',
    metric: 'latency_p99' }], { index: 2 })
  await chart(`${'A very long title '.repeat(12)}`, [{ group_by: { attribute: 'tag' } }], {
    index: 3,
    chart_type: 'bar',
    metadata: { width: 'full' },
  })
  await chart('Scores', [{ metric: 'feedback_score_avg', feedback_key: 'none' }], { index: 4 })
})

const pageUrl = (query = '') => `${server.url}/studio/charts?dashboard=${dashboard}${query}`

/** The charts of the dashboard as the server has them. */
async function kept() {
  const { charts } = await made<{ charts: { title: string; metadata: unknown }[] }>(
    `/charts/section/${dashboard}`,
    { omit_data: true },
  )
  return charts
}

it.runIf(isNight)('looks well: drawings, numbers, the editor', async () => {
  await expectGoodLooks(browser, pageUrl(), async ({ page }) => {
    await page.getByRole('img', { name: 'Traces over time: Count from 0 to ' }).waitFor()
    await page.getByRole('figure', { name: 'Scores' }).getByText('Nothing in this time.').waitFor()
  })
  await expectGoodLooks(browser, pageUrl('&as=table'),
    ({ page }) => page.getByRole('region', { name: 'Numbers of Latency' }).waitFor())
  await expectGoodLooks(browser, pageUrl('&edit=new'),
    ({ page }) => page.getByRole('dialog', { name: 'New chart' }).getByLabel('Shows').waitFor())
}, 60_000)

it('says what a pointer points at, shows numbers, and keeps the time in its address', async () => {
  const tab = await browser.open(pageUrl())
  const { page } = tab
  const latency = page.getByRole('figure', { name: 'Latency' })
  const drawing = latency.getByRole('img')
  await drawing.hover({ position: { x: 300, y: 60 } })
  await latency.getByText('p99').nth(1).waitFor()
  await page.getByRole('combobox', { name: 'Time' }).selectOption({ label: 'Last week' })
  await expect.poll(() => new URL(page.url()).searchParams.get('time')).toBe('7d')
  await page.getByRole('button', { name: 'As tables' }).click()
  const numbers = page.getByRole('region', { name: 'Numbers of Latency' })
  await numbers.getByRole('columnheader', { name: 'p50' }).waitFor()
  await numbers.getByText('3.2 s').first().waitFor()
  await page.reload()
  await numbers.waitFor()
  await expect.poll(() => page.getByRole('combobox', { name: 'Time' }).inputValue()).toBe('7d')
  await page.getByRole('button', { name: 'Acts of Traces' }).click()
  await page.getByRole('menuitem', { name: 'Its traces' }).click()
  await page.getByRole('heading', { name: project }).waitFor()
  expect(new URL(page.url()).searchParams.get('time')).toBe('7d')
  expectQuiet(tab)
  await tab.close()
}, 30_000)

it('is arranged by keys, by the menu and by dragging, and stays so', async () => {
  const tab = await browser.open(pageUrl())
  const { page } = tab
  const titles = () =>
    page.getByRole('figure').evaluateAll((all) =>
      all.map((each) => (each.getAttribute('aria-label') ?? '').slice(0, 7))
    )
  const order = (wanted: readonly string[]) => expect.poll(titles).toEqual(wanted)
  await order(['Traces', 'Latency', 'A very ', 'Scores'])
  const handle = page.getByRole('button', { name: 'Move Traces' })
  await handle.press('ArrowDown')
  await page.getByText('Traces is number 2 of 4.').waitFor()
  await order(['Latency', 'Traces', 'A very ', 'Scores'])
  expect(await handle.evaluate((element) => element === element.ownerDocument.activeElement))
    .toBe(true)
  await page.getByRole('button', { name: 'Acts of Scores' }).click()
  await page.getByRole('menuitem', { name: 'Move up' }).click()
  await order(['Latency', 'Traces', 'Scores', 'A very '])
  await page.getByRole('button', { name: 'Move Scores' })
    .dragTo(page.getByRole('figure', { name: 'Latency' }))
  await order(['Scores', 'Latency', 'Traces', 'A very '])
  await page.getByRole('button', { name: 'Acts of Latency' }).click()
  await page.getByRole('menuitem', { name: 'Wider' }).click()
  await page.getByText('Latency has the width full.').waitFor()
  const figure = page.getByRole('figure', { name: 'Latency' })
  await expect.poll(async () => (await figure.boundingBox())?.width).toBeGreaterThan(900)
  await expect.poll(async () => (await kept()).map((each) => each.title.slice(0, 7)))
    .toEqual(['Scores', 'Latency', 'Traces', 'A very '])
  await expect.poll(async () => (await kept())[1]?.metadata).toEqual({ width: 'full' })
  expectQuiet(tab)
  await tab.close()
}, 30_000)

it('makes a dashboard with the usual charts, adds one, changes it, and deletes all', async () => {
  const tab = await browser.open(pageUrl(), { expected: /status of 400|status of 422/ })
  const { page } = tab
  await page.getByRole('button', { name: 'New dashboard' }).click()
  const form = page.getByRole('dialog', { name: 'New dashboard' })
  await form.getByLabel('Name').fill('Second')
  await form.getByLabel('Begin with').selectOption({ label: `The usual charts of ${project}` })
  await form.getByRole('button', { name: 'Make the dashboard' }).click()
  await page.getByRole('img', { name: /^Error rate over time/ }).waitFor()
  await expect.poll(() => page.getByRole('figure').count()).toBe(6)

  await page.getByRole('button', { name: 'New chart' }).click()
  const drawer = page.getByRole('dialog', { name: 'New chart' })
  await drawer.getByLabel('Title').fill('By tag')
  await drawer.getByLabel('Project').selectOption({ label: project })
  await drawer.getByLabel('Group by').selectOption('tag')
  await drawer.getByRole('img').waitFor()
  await drawer.getByText('phone').waitFor()
  await drawer.getByLabel('Filter').fill('eq(nonsense, ')
  await drawer.getByRole('alert').waitFor()
  await drawer.getByLabel('Filter').fill('tag:web')
  await drawer.getByText('phone').waitFor({ state: 'detached' })
  await drawer.getByRole('button', { name: 'Make the chart' }).click()
  const card = page.getByRole('figure', { name: 'By tag' })
  await card.getByText('web').waitFor()

  await page.getByRole('button', { name: 'Acts of By tag' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const editor = page.getByRole('dialog', { name: 'Edit the chart' })
  await expect.poll(() => editor.getByLabel('Filter').inputValue()).toBe('tag:web')
  await editor.getByLabel('Title').fill('Renamed')
  await editor.getByLabel('Dashboard').selectOption({ label: title })
  await editor.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('figure', { name: 'Renamed' }).waitFor()
  await page.getByRole('figure', { name: 'Scores' }).waitFor()
  await page.getByRole('button', { name: 'Acts of Renamed' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await gone(page.getByRole('figure', { name: 'Renamed' }))

  await page.getByRole('link', { name: 'Second' }).click()
  await page.getByRole('button', { name: 'Acts of the dashboard' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByText('goes with 6 charts').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await gone(page.getByRole('link', { name: 'Second' }))
  expectQuiet(tab)
  await tab.close()
}, 60_000)

it('has words for nothing, for an ill server, and for those who may only read', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`, { expected: /status of 503/ })
  const { page } = tab
  await asReader(page)
  let isIll = true
  await page.route('**/api/v1/charts', (route) =>
    route.fulfill(isIll
      ? { status: 503, json: { detail: 'It is ill.' } }
      : { status: 200, json: { sections: [] } }))
  await page.getByRole('link', { name: 'Charts' }).click()
  await page.getByText('It is ill.').waitFor()
  isIll = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'No charts yet' }).waitFor()
  await page.unroute('**/api/v1/charts')
  await page.route('**/api/v1/charts/section/*',
    (route) => route.fulfill({ status: 503, json: { detail: 'No numbers today.' } }))
  await page.goto(pageUrl())
  await page.getByText('No numbers today.').waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'New chart' }).isDisabled()).toBe(true)
  await expect.poll(() => page.getByRole('button', { name: 'Move Traces' }).getAttribute('title'))
    .toBe('Your key may only read.')
  expectQuiet(tab)
  await tab.close()
}, 30_000)
