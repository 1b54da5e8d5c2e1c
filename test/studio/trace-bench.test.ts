/** The bench of traces: what was slow in one, and what is done with many of them. */

import { beforeAll, describe, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'
import { countClicks } from './support/clicks.ts'
import { projectId, sendSpans, spanOf, supportTrace } from './support/sent-traces.ts'
import type { SentSpan } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

// Its newest dataset is the one that is offered: nobody else may make any.
const server = useServer({})
const browser = useBrowser()

const project = `bench ${Date.now()}`
const hostile = '<img/src=x/onerror=alert(1)>'
const trace: readonly SentSpan[] = supportTrace({ project, beganMs: Date.now() - 60_000,
  words: 'What is the weather in Oslo?', error: 'TimeoutError: no answer' })
const inside = spanOf({ project, beganMs: Date.now() - 60_000, name: hostile, parent: trace[0],
  fromMs: 2_400, toMs: 2_405, outputs: { found: 'a heron in the reeds' } })
let address = ''

beforeAll(async () => {
  await sendSpans(server.url, [...trace, inside])
  address = `${server.url}/studio/traces/${await projectId(server.url, project)}`
})

describe('inside a trace', () => {
  it('the slowest span is one click away', async () => {
    const tab = await browser.open(`${address}/${trace[0]!.id}`)
    const { page } = tab
    const slowest = page.getByRole('button', { name: 'Slowest' })
    await slowest.waitFor()
    const clicks = await countClicks(page)
    await slowest.click()
    const chosen = page.getByRole('complementary', { name: 'Chosen span' })
    await chosen.getByRole('heading', { name: 'ChatModel' }).waitFor()
    expect(await clicks()).toBe(1)
    const list = page.getByRole('list', { name: 'Slowest spans' })
    expect(await list.getByRole('listitem').first().innerText()).toMatch(/ChatModel\s+1.4 s\s+44 %/)
    expect(await tab.violations()).toEqual([])
    await list.getByRole('button', { name: /search/ }).click()
    await chosen.getByRole('heading', { name: 'search' }).waitFor()
    await page.reload()
    await list.waitFor()
    expectQuiet(tab)
    await tab.close()
  })

  it('bars have the colour of their share, and the critical path can be shown alone', async () => {
    const tab = await browser.open(`${address}/${trace[0]!.id}`)
    const { page } = tab
    const tree = page.getByRole('tree', { name: 'Spans' })
    const row = (name: RegExp) => tree.getByRole('treeitem', { name })
    await row(/^ChatModel.*44 % of the time, on the critical path/).waitFor()
    const heats = () =>
      tree.locator('i[data-heat]').evaluateAll((bars) =>
        bars.map((bar) => bar.getAttribute('data-heat'))
      )
    expect(await heats()).toEqual(['2', '2', '0', '1', '1', '0'])
    await page.getByRole('button', { name: 'Critical path' }).click()
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(6)
    await page.getByLabel('Duration', { exact: true }).selectOption('1 s and more')
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(2)
    await page.reload()
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(2)
    expectQuiet(tab)
    await tab.close()
  })

  it('spans are found by failure, and by words of what they read and wrote', async () => {
    const tab = await browser.open(`${address}/${trace[0]!.id}`)
    const { page } = tab
    const tree = page.getByRole('tree', { name: 'Spans' })
    await page.getByRole('button', { name: 'Failed' }).click()
    await page.getByText('2 spans', { exact: true }).waitFor()
    await tree.getByRole('treeitem', { name: /^geocode/ }).waitFor()
    await page.getByRole('button', { name: 'Failed' }).click()
    await page.getByRole('searchbox', { name: 'Find spans' }).fill('HERON reeds')
    await tree.getByRole('treeitem', { name: hostile }).waitFor()
    await page.getByText('1 span', { exact: true }).waitFor()
    expect(await page.locator('img').count()).toBe(0)
    expectQuiet(tab)
    await tab.close()
  })

  it('span and waterfall stand beside each other from 900 pixels, and nothing overflows',
    async () => {
      const tab = await browser.open(`${address}/${trace[0]!.id}?slow=on`, { reducedMotion: true })
      const { page } = tab
      const chosen = page.getByRole('complementary', { name: 'Chosen span' })
      await page.getByRole('list', { name: 'Slowest spans' }).waitFor()
      for (const width of [900, 1_024, 1_440, 390]) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme: width === 1_024 ? 'dark' : 'light' })
        expect(await chosen.isVisible()).toBe(width >= 900)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
        expect(await tab.violations()).toEqual([])
      }
      expectQuiet(tab)
      await tab.close()
    })
})

describe('the list of traces', () => {
  const many = `many ${Date.now()}`
  const jobs = Array.from({ length: 25 },
    (_, at) =>
      spanOf({ project: many, name: at === 24 ? hostile : 'job', beganMs: Date.now() -
        3_600_000 - at * 60_000, inputs: { input: `job ${at}` }, outputs: { output: at } }))
  let list = ''

  beforeAll(async () => {
    const call = spanOf({ project: many, name: 'ChatModel', parent: jobs[0], run_type: 'llm',
      beganMs: Date.now() - 3_600_000 })
    await sendSpans(server.url, [...jobs, call])
    list = `${server.url}/studio/traces/${await projectId(server.url, many)}`
  })

  it('brings 20 traces into a dataset with four clicks', async () => {
    await ask(server.url, 'POST', '/api/v1/datasets', { name: `from ${many}`, data_type: 'kv' })
    const tab = await browser.open(list)
    const { page } = tab
    await page.getByRole('checkbox', { name: 'Choose job 0' }).waitFor()
    const clicks = await countClicks(page)
    await page.getByRole('checkbox', { name: 'Choose job 0' }).click()
    await page.mouse.wheel(0, 900)
    await page.getByRole('checkbox', { name: 'Choose job 19' }).click({ modifiers: ['Shift'] })
    await page.getByText('20 chosen').waitFor()
    await page.getByRole('toolbar').getByRole('button', { name: 'Add to dataset' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('20 traces, each an example').waitFor()
    await expect.poll(() => dialog.getByLabel('Dataset').innerText()).toContain(`from ${many}`)
    expect(await tab.violations()).toEqual([])
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText('20 traces added.').waitFor()
    expect(await clicks()).toBeLessThanOrEqual(4)
    await dialog.getByRole('link', { name: 'Open the dataset' }).click()
    await page.getByText('20 examples').first().waitFor()
    expectQuiet(tab)
    await tab.close()
  })

  it('has tabs and an order, adds all that match to a queue, and deletes what is chosen',
    async () => {
      const { body: queue } = await ask(server.url, 'POST', '/api/v1/annotation-queues', {
        name: `queue of ${many}`,
      })
      const tab = await browser.open(list)
      const { page } = tab
      const grid = page.getByRole('grid', { name: 'Traces' })
      await page.getByRole('tab', { name: 'Model calls' }).click()
      await grid.getByText('ChatModel').first().waitFor()
      await expect.poll(() => grid.getByRole('link').count()).toBe(1)
      await page.getByRole('tab', { name: 'Traces', exact: true }).click()
      await page.getByRole('button', { name: /^Started/ }).click()
      await grid.getByRole('link', { name: 'job 24' }).waitFor()
      await grid.getByText(hostile).waitFor()
      expect(await page.locator('img').count()).toBe(0)

      await page.getByRole('checkbox', { name: 'Choose all that match' }).click()
      await page.getByRole('button', { name: 'Add to queue' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Queue').selectOption({ label: `queue of ${many}` })
      await dialog.getByRole('button', { name: 'Add', exact: true }).click()
      await dialog.getByText('25 traces added.').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).last().click()
      const { id } = queue as { id: string }
      const { body: size } = await ask(server.url, 'GET', `/api/v1/annotation-queues/${id}/size`)
      expect(size).toMatchObject({ size: 25 })

      await page.getByRole('checkbox', { name: 'Choose job 24' }).click()
      await page.getByRole('button', { name: 'Delete …' }).click()
      await dialog.getByRole('button', { name: 'Delete 1 trace' }).click()
      await dialog.getByText('1 trace deleted.').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).last().click()
      await page.reload()
      await grid.getByRole('link', { name: 'job 23' }).waitFor()
      expect(await grid.getByRole('link', { name: 'job 24' }).count()).toBe(0)
      expectQuiet(tab)
      await tab.close()
    })

  it('fits phones and wide screens, by day and by night', async () => {
    const tab = await browser.open(list, { reducedMotion: true })
    const { page } = tab
    await page.getByRole('checkbox', { name: 'Choose job 1', exact: true }).click()
    for (const width of [390, 1_024, 1_440]) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme: width === 1_024 ? 'dark' : 'light' })
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect(await tab.violations()).toEqual([])
    }
    expectQuiet(tab)
    await tab.close()
  })

  it('has saved views, and refuses one of a later version in words', async () => {
    const tab = await browser.open(`${list}?order=oldest&q=job`)
    const { page } = tab
    await page.evaluate(`localStorage.setItem('studio.views.traces', JSON.stringify([
      { name: '${hostile}', search: { q: { and: [] } }, version: 2 }]))`)
    await page.getByRole('button', { name: 'Views' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`${hostile}: a later version saved it`).waitFor()
    await dialog.getByLabel('Save what is shown now as').fill('Oldest jobs')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('link', { name: 'Oldest jobs' }).waitFor()
    expect(await tab.violations()).toEqual([])
    await page.goto(list)
    await page.getByRole('button', { name: 'Views' }).click()
    await dialog.getByText('a later version saved it').waitFor()
    await dialog.getByRole('link', { name: 'Oldest jobs' }).click()
    await page.waitForURL(/order=oldest/)
    expect(new URL(page.url()).searchParams.get('q')).toBe('job')
    expect(await page.locator('img').count()).toBe(0)
    expectQuiet(tab)
    await tab.close()
  })
})
