/** Traces in the Studio: projects, their traces and filters, and the spans of one. */

import { beforeAll, describe, expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { useServer } from '../support/server.ts'
import { projectId, sendSpans, spanOf, supportTrace } from './support/sent-traces.ts'
import type { SentSpan } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

const project = `support ${Date.now()}`
const failed: readonly SentSpan[] = supportTrace({ project, beganMs: Date.now() - 7_200_000,
  words: 'Cancel my plan', error: 'TimeoutError: no answer within 3 s\n    at search (s.ts:1)' })
const good: readonly SentSpan[] = supportTrace({ project, beganMs: Date.now() - 60_000,
  words: 'What is the weather in Oslo?' })
let address = ''

beforeAll(async () => {
  const many = Array.from({ length: 130 },
    (_, at) =>
      spanOf({ project, name: at % 2 === 0 ? 'nightly' : 'ما هو الطقس',
        beganMs: Date.now() - 86_400_000 - at * 60_000, inputs: { input: `job ${at}` },
        outputs: { output: 'word '.repeat(at) } }))
  await sendSpans(server.url, [...failed, ...good, ...many])
  address = `${server.url}/studio/traces/${await projectId(server.url, project)}`
})

describe('the projects', () => {
  it('are listed with their numbers, and found by name', async () => {
    const tab = await browser.open(`${server.url}/studio/traces?q=${encodeURIComponent(project)}`)
    const { page } = tab
    const row = page.getByRole('row', { name: project })
    await row.getByText('132').waitFor()
    await row.getByText('0.8 %').waitFor()
    const box = page.getByRole('searchbox', { name: 'Filter projects' })
    await box.fill('no such project')
    await page.getByText('No project matches').waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('no such project')
    await box.fill(project)
    await row.waitFor()
    expect(await tab.violations()).toEqual([])
    await page.getByRole('grid', { name: 'Projects' }).press('Enter')
    await page.getByRole('heading', { name: project }).waitFor()
    expectQuiet(tab)
    await tab.close()
  })

  it('say what went wrong, and ask again', async () => {
    const tab = await browser.open(`${server.url}/studio/threads`, { expected: /status of 503/ })
    const { page } = tab
    await page.route('**/api/v1/sessions?*',
      (route) => route.fulfill({ status: 503, json: { detail: 'The store rests.' } }))
    await page.getByRole('link', { name: 'Traces' }).click()
    await page.getByText('The store rests.').waitFor()
    await page.unroute('**/api/v1/sessions?*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('grid', { name: 'Projects' }).getByRole('link').first().waitFor()
    expectQuiet(tab)
    await tab.close()
  })
})

describe('the traces of a project', () => {
  it('are filtered by words, by code and by buttons, and the address says how', async () => {
    const tab = await browser.open(address)
    const { page } = tab
    const list = page.getByRole('grid', { name: 'Traces' })
    const statistics = page.getByLabel('Statistics')
    await list.getByRole('link', { name: 'What is the weather in Oslo?' }).waitFor()
    await statistics.getByText('132').waitFor()
    await statistics.getByText('Cached').waitFor()
    const search = () => new URL(page.url()).searchParams

    await page.getByRole('button', { name: 'Failed' }).click()
    await list.getByText('TimeoutError').waitFor()
    await expect.poll(() => list.getByRole('link').count()).toBe(1)
    expect(search().get('q')).toBe('status:error')
    await page.getByRole('button', { name: 'As code' }).click()
    const box = page.getByRole('searchbox', { name: 'Filter traces' })
    await expect.poll(() => box.inputValue()).toBe('eq(status, "error")')
    await box.fill('and(eq(status, "success"), has(tags, "web"))')
    await list.getByRole('link', { name: 'What is the weather in Oslo?' }).waitFor()
    await page.getByRole('button', { name: 'As words' }).click()
    await expect.poll(() => box.inputValue()).toBe('status:success tag:web')
    await page.getByRole('button', { name: 'Conditions' }).click()
    await page.getByRole('button', { name: 'Remove Status is success' }).click()
    await expect.poll(() => list.getByRole('link').count()).toBe(2)
    await page.getByLabel('Field').selectOption('Duration')
    await page.getByLabel('Operator').selectOption('<')
    await page.getByLabel('Value').fill('1h')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await expect.poll(() => box.inputValue()).toBe('tag:web latency<3600s')
    await page.reload()
    await expect.poll(() => list.getByRole('link').count()).toBe(2)

    await page.getByRole('combobox', { name: 'Started', exact: true }).selectOption('Last hour')
    await expect.poll(() => list.getByRole('link').count()).toBe(1)
    await box.fill('customer:nobody')
    await page.getByText('No trace matches').waitFor()
    expectQuiet(tab)
    await tab.close()
  })

  it('say what is wrong with a filter', async () => {
    const tab = await browser.open(`${address}?filter=${encodeURIComponent('eq(foo, 1)')}`, {
      expected: /status of 400/,
    })
    await tab.page.getByText('foo is no field of filters at character 4').waitFor()
    expectQuiet(tab)
    await tab.close()
  })

  it('are looked at one after the other, and more come by scrolling', async () => {
    const tab = await browser.open(address)
    const { page } = tab
    const list = page.getByRole('grid', { name: 'Traces' })
    await list.getByRole('link', { name: 'What is the weather in Oslo?' }).click()
    const peek = page.getByRole('complementary', { name: 'Trace' })
    await peek.getByText('An answer to: What is the weather in Oslo?').waitFor()
    await page.keyboard.press('j')
    await peek.getByText('An answer to: Cancel my plan').waitFor()
    await page.keyboard.press('k')
    await peek.getByText('An answer to: What is the weather in Oslo?').waitFor()
    expect(await tab.violations()).toEqual([])
    await page.keyboard.press('Escape')
    await peek.waitFor({ state: 'detached' })
    await list.press('End')
    await list.press('End')
    await expect.poll(async () => {
      await list.press('End')
      return list.getByRole('link', { name: 'job 129' }).count()
    }).toBe(1)
    expectQuiet(tab)
    await tab.close()
  })

  it('are drawn over time, and the same numbers stand in a table', async () => {
    const tab = await browser.open(`${address}?charts=on&time=24h`)
    const { page } = tab
    const charts = page.getByRole('region', { name: 'Charts' })
    await charts.getByRole('img', { name: /^Traces over time: Traces from 0 to \d/ }).waitFor()
    expect(await tab.violations()).toEqual([])
    await charts.getByRole('button', { name: 'As a table' }).click()
    await charts.getByRole('cell', { name: '100 %' }).waitFor()
    expectQuiet(tab)
    await tab.close()
  })

  it('say when there are new ones', async () => {
    const fresh = `${project} fresh`
    const send = (input: string, beganMs: number) =>
      sendSpans(server.url, [spanOf({ project: fresh, name: 'job', beganMs, inputs: { input } })])
    await send('first', Date.now() - 1_000)
    const tab = await browser.open('about:blank')
    const { page } = tab
    await page.clock.install()
    await page.goto(`${server.url}/studio/traces/${await projectId(server.url, fresh)}`)
    await page.getByRole('link', { name: 'first' }).waitFor()
    await send('second', Date.now())
    await page.clock.fastForward(11_000)
    await page.getByRole('button', { name: '1 new trace' }).click()
    await page.getByRole('link', { name: 'second' }).waitFor()
    expect(tab.complaints).toEqual([])
    await tab.close()
  })
})

describe('a trace', () => {
  it('is walked through by keys, folded, searched and looked at closer', async () => {
    const tab = await browser.open(`${address}/${failed[0]!.id}`)
    const { page } = tab
    const tree = page.getByRole('tree', { name: 'Spans' })
    const chosen = page.getByRole('complementary', { name: 'Chosen span' })
    await chosen.getByText('TimeoutError: no answer within 3 s').waitFor()
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(5)
    expect(await tab.violations()).toEqual([])

    await page.keyboard.press('j')
    await chosen.getByRole('heading', { name: 'ChatModel' }).waitFor()
    await chosen.getByText('→ search').waitFor()
    await chosen.getByText('20 in (12 read from a cache), 3 out').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(3)
    await tree.getByRole('treeitem', { name: /^tools chain.*Done.*2 below/, expanded: false })
      .waitFor()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('End')
    await chosen.getByRole('heading', { name: 'geocode' }).waitFor()
    expect(new URL(page.url()).searchParams.get('span')).toBe(failed[4]!.id)
    const bar = tree.getByRole('treeitem', { name: /geocode/ }).locator('i')
    const width = async () => (await bar.boundingBox())!.width
    const before = await width()
    await page.keyboard.press('f')
    await expect.poll(width).toBeGreaterThan(before * 5)
    await page.keyboard.press('0')
    await expect.poll(width).toBe(before)
    await page.getByRole('searchbox', { name: 'Find spans' }).fill('GEOCODE')
    await page.getByText('1 span', { exact: true }).waitFor()
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(3)
    await page.reload()
    await chosen.getByRole('heading', { name: 'geocode' }).waitFor()
    expectQuiet(tab)
    await tab.close()
  })

  it('takes feedback, shows it, and loses it again', async () => {
    const tab = await browser.open(`${address}/${good[0]!.id}`)
    const { page } = tab
    const feedback = page.getByRole('region', { name: 'Feedback' })
    await feedback.getByRole('button', { name: 'Good' }).click()
    await feedback.getByText('user_score').waitFor()
    await feedback.getByRole('button', { name: 'Write' }).click()
    await feedback.getByLabel('Name', { exact: true }).fill('tone')
    await feedback.getByLabel('Score', { exact: true }).fill('high')
    await feedback.getByRole('button', { name: 'Give feedback' }).click()
    await feedback.getByText('A number, such as 0.5.').waitFor()
    await feedback.getByLabel('Score', { exact: true }).fill('0.5')
    await feedback.getByLabel('Comment').fill('<b>kind</b>')
    await feedback.getByRole('button', { name: 'Give feedback' }).click()
    await feedback.getByText('<b>kind</b>').waitFor()
    await page.reload()
    await feedback.getByText('tone').waitFor()
    await feedback.getByRole('button', { name: 'Delete tone' }).click()
    await feedback.getByText('tone').waitFor({ state: 'detached' })
    expectQuiet(tab)
    await tab.close()
  })

  it('of a run of this server leads to its thread, and is found by the run alone', async () => {
    const { threads, runs } = server.client
    const { thread_id: thread } = await threads.create()
    await runs.wait(thread, 'steps', { input: { topic: 'x' } })
    const [run] = await runs.list(thread)
    const tab = await browser.open(`${server.url}/studio/traces/-/${run!.run_id}`)
    const { page } = tab
    const tree = page.getByRole('tree', { name: 'Spans' })
    await tree.getByRole('treeitem', { name: /^b chain/ }).click()
    // Until then the whole run is shown, which leads to its last step.
    await page.getByRole('heading', { name: 'b', exact: true }).waitFor()
    expect(page.url()).not.toContain('/-/')
    await page.getByRole('button', { name: 'Open at this step' }).click()
    await page.waitForURL(`**/studio/threads/${thread}?at=*`)
    await page.getByText('Step 2.').waitFor()
    await tab.close()
  })

  it('that is not there says so', async () => {
    const tab = await browser.open(`${address}/${crypto.randomUUID()}`, {
      expected: /status of 404/,
    })
    await tab.page.getByText('There is no such trace in this project').waitFor()
    await tab.page.goto(`${server.url}/studio/traces/-/${crypto.randomUUID()}`)
    await tab.page.getByText('There is no such trace').waitFor()
    expectQuiet(tab)
    await tab.close()
  })
})

it.runIf(isNight)('all of it is fit for readers in both colours, and for phones', async () => {
  const looks = [{ colours: 'dark' as const }, { colours: 'light' as const, width: 390 }, {
    colours: 'dark' as const,
    width: 390,
  }]
  for (const look of looks) {
    const tab = await browser.open(`${server.url}/studio/traces`, look)
    const { page } = tab
    await page.getByRole('row', { name: project }).getByText('132').waitFor()
    expect(await tab.violations()).toEqual([])
    await page.goto(`${address}?charts=on&q=status:error`)
    await page.getByText('TimeoutError').waitFor()
    await page.getByRole('img', { name: /^Traces over time/ }).waitFor()
    expect(await tab.violations()).toEqual([])
    await page.goto(`${address}/${failed[0]!.id}`)
    if (look.width !== undefined) {
      const tree = page.getByRole('tree', { name: 'Spans' })
      await expect.poll(async () =>
        (await tree.getByRole('treeitem').first().boundingBox())?.height
      ).toBe(44)
      expect(await tab.violations()).toEqual([])
      await tree.getByRole('treeitem', { name: /geocode/ }).click()
    }
    await page.getByRole('complementary', { name: 'Chosen span' })
      .getByText('TimeoutError: no answer within 3 s').waitFor()
    expect(await tab.violations()).toEqual([])
    expectQuiet(tab)
    await tab.close()
  }
})
