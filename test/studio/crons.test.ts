/** Crons in the Studio: the table, pause, run now, and the editor with the next times. */

import { beforeAll, expect, it } from 'vitest'

import { say } from '../support/run-events.ts'
import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { countClicks } from './support/clicks.ts'
import { gone } from './support/gone.ts'
import { expectGoodLooks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer({ args: oneWorker })
const browser = useBrowser()
const markup = '<img src=x onerror=alert(1)> {{7*7}} ‮evil'
const pageUrl = (path = '') => `${server.url}/studio/crons${path}`

beforeAll(async () => {
  const { assistants, crons, threads } = server.client
  const hostile = await assistants.create({ graphId: 'echo', name: markup + 'w'.repeat(400) })
  await crons.create('echo', { schedule: '0 7 * * 1-5', timezone: 'Asia/Tokyo', input: say('hi'),
    onRunCompleted: 'keep' })
  await crons.create(hostile.assistant_id, { schedule: '0 0 1 1 *', enabled: false })
  const { thread_id: thread } = await threads.create({ graphId: 'failing' })
  await crons.createForThread(thread, 'failing', { schedule: '*/30 2-5 1 1 *',
    input: { topic: 'broke' }, endTime: '2999-12-31T00:00:00Z' })
})

it('stops a cron with two clicks, runs it now, and leads to the run', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`)
  const { page } = tab
  const clicks = await countClicks(page)
  await page.getByRole('link', { name: 'Crons' }).click()
  const row = page.getByRole('row', { name: /^Monday to Friday at 07:00/ })
  await row.getByRole('button', { name: 'Pause' }).click()
  await row.getByText('Paused', { exact: true }).waitFor()
  expect(await clicks()).toBe(2)
  await row.getByText('never').waitFor()
  await row.getByRole('button', { name: 'Run now' }).click()
  await row.getByRole('link', { name: 'Done' }).waitFor()
  await row.getByRole('button', { name: 'Resume' }).click()
  await row.getByText('On', { exact: true }).waitFor()
  const failing = page.getByRole('row', { name: /^Every 30 minutes from 02:00 to 05:59/ })
  await failing.getByRole('button', { name: 'Run now' }).click()
  await failing.getByRole('link', { name: 'Failed' }).waitFor()
  await row.getByRole('link', { name: 'Done' }).click()
  await page.getByRole('tab', { name: 'Runs', selected: true }).waitFor()
  await page.getByText('hi').first().waitFor()
  expectQuiet(tab)
  await tab.close()
}, 60_000)

it('makes a cron, shows its next times in both zones, changes and deletes it', async () => {
  const tab = await browser.open(pageUrl(), { expected: /status of (404|422)/ })
  const { page } = tab
  await page.getByRole('button', { name: 'New cron' }).click()
  const drawer = page.getByRole('dialog', { name: 'New cron' })
  await drawer.getByLabel('Assistant').selectOption({ label: 'echo' })
  const schedule = drawer.getByLabel('Schedule')
  await schedule.fill('61 * * * *')
  await drawer.getByText(/^cannot be read/).waitFor()
  await schedule.fill('every <b>day</b>')
  await drawer.getByText(/^must have five fields/).waitFor()
  await schedule.fill('15 9 * * *')
  await drawer.getByText('Every day at 09:15').waitFor()
  await drawer.getByLabel('Time zone').selectOption('Africa/Nairobi')
  const times = drawer.getByRole('table', { name: 'Next runs' })
  await times.getByRole('columnheader', { name: 'Africa/Nairobi' }).waitFor()
  await expect.poll(() => times.getByText(/09:15 GMT\+3$/).count()).toBe(5)
  await drawer.getByRole('button', { name: 'Create' }).click()
  const row = page.getByRole('row', { name: /^Every day at 09:15/ })
  await row.getByText('Africa/Nairobi').waitFor()
  await row.getByRole('button', { name: 'Edit' }).click()
  const editor = page.getByRole('dialog', { name: 'Edit the cron' })
  await editor.getByLabel('Schedule').fill('15 10 * * *')
  await editor.getByRole('button', { name: 'Save' }).click()
  const changed = page.getByRole('row', { name: /^Every day at 10:15/ })
  await changed.getByRole('button', { name: 'Edit' }).click()
  await editor.getByRole('button', { name: 'Delete' }).click()
  await editor.getByRole('button', { name: 'Yes, delete it' }).click()
  await gone(changed)
  await page.getByLabel('State').selectOption('paused')
  await page.getByText('1 cron', { exact: true }).waitFor()
  await page.getByRole('row', { name: /1st of January/ }).waitFor()
  expect(await page.locator('main img').count()).toBe(0)
  expectQuiet(tab)
  await tab.close()
}, 60_000)

it('looks well: the table, the editor, and no overflow', async () => {
  await expectGoodLooks(browser, pageUrl(), async ({ page, violations }) => {
    await page.goto(pageUrl())
    await page.getByRole('row', { name: /^Monday/ }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await violations()).toEqual([])
    await page.goto(pageUrl('?edit=new'))
    await page.getByRole('dialog').getByRole('table', { name: 'Next runs' }).waitFor()
  })
}, 60_000)

it('has a word for nothing, for a server that is ill, and for a reader', async () => {
  const tab = await browser.open(`${server.url}/studio/threads`, { expected: /status of 503/ })
  const { page } = tab
  let isIll = true
  await page.route('**/runs/crons/search', (route) =>
    route.fulfill(isIll
      ? { status: 503, json: { error: 'It is ill.', detail: 'It is ill.' } }
      : { status: 200, json: [], headers: { 'x-pagination-total': '0' } }))
  await page.getByRole('link', { name: 'Crons' }).click()
  await page.getByText('It is ill.').waitFor()
  isIll = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'No crons yet' }).waitFor()
  await tab.close()
}, 30_000)
