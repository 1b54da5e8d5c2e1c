/** The list of traces: its columns and their widths, conversations, comparison and tags. */

import { beforeAll, describe, expect, it } from 'vitest'

import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'
import { projectId, sendSpans, spanOf, supportTrace } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const server = useServer({ args: oneWorker })
const browser = useBrowser()

const hostile = '<img/src=x/onerror=alert(1)>'

describe('columns', () => {
  const project = 'columns'
  let address = ''

  beforeAll(async () => {
    const jobs = Array.from({ length: 6 },
      (_, at) =>
        spanOf({ project, name: 'job', beganMs: Date.now() - at * 60_000, tags: ['web'],
          inputs: { input: `question ${at}` },
          extra: { metadata: { plan: at === 0 ? hostile : 'pro' } } }))
    await sendSpans(server.url, jobs)
    await ask(server.url, 'POST', '/api/v1/feedback', { run_id: jobs[1]!.id, key: 'good',
      score: 1 })
    address = `${server.url}/studio/traces/${await projectId(server.url, project)}`
  })

  it('are chosen, dragged, remembered, and a part of saved views', async () => {
    const tab = await browser.open(address)
    const { page } = tab
    const head = (name: string) => page.getByRole('columnheader', { name, exact: true })
    const cells = page.getByRole('gridcell')
    await page.getByRole('button', { name: 'Columns' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Tokens').click()
    await dialog.getByLabel('Key', { exact: true }).fill('plan')
    await dialog.getByRole('button', { name: 'Add' }).click()
    await dialog.getByLabel('Kind of the key').selectOption('Feedback')
    await dialog.getByLabel('Key', { exact: true }).fill('good')
    await dialog.getByRole('button', { name: 'Add' }).click()
    await dialog.getByRole('list', { name: 'Keys' }).getByText('good').waitFor()
    expect(await tab.violations()).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await cells.getByText(hostile, { exact: true }).waitFor()
    await head('Tokens').waitFor({ state: 'detached' })
    const cols = () => new URL(page.url()).searchParams.get('cols')
    expect(cols()).toBe('tags,metadata.plan,feedback.good,latency,started')
    expect(await page.locator('img').count()).toBe(0)

    const edge = page.getByRole('separator', { name: 'Width of plan' })
    const { x, y, height, width } = (await edge.boundingBox())!
    // The dialog may still be on its way out.
    await edge.hover()
    await page.mouse.down()
    await page.mouse.move(x + width / 2 - 60, y + height / 2, { steps: 4 })
    await page.mouse.up()
    await expect.poll(cols).toBe('tags,metadata.plan:180,feedback.good,latency,started')
    await edge.press('ArrowRight')
    await expect.poll(cols).toBe('tags,metadata.plan:164,feedback.good,latency,started')
    expect((await head('plan').boundingBox())!.width).toBe(164)
    expect(await tab.violations()).toEqual([])

    await page.getByRole('button', { name: 'Views' }).click()
    await dialog.getByLabel('Save what is shown now as').fill('Plans')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('link', { name: 'Plans' }).waitFor()
    await page.goto(address)
    await head('plan').waitFor()
    expect((await head('plan').boundingBox())!.width).toBe(164)
    await page.getByRole('button', { name: 'Columns' }).click()
    await dialog.getByRole('button', { name: 'Usual columns' }).click()
    await page.keyboard.press('Escape')
    await head('Tokens').waitFor()
    await page.reload()
    await head('Tokens').waitFor()
    await page.getByRole('button', { name: 'Views' }).click()
    await dialog.getByRole('link', { name: 'Plans' }).click()
    await head('plan').waitFor()
    expectQuiet(tab)
    await tab.close()
  })

  it('fit phones, and are scrolled sideways where they are too wide', async () => {
    const many = Array.from({ length: 12 }, (_, at) => `metadata.key${at}:200`).join(',')
    const tab = await browser.open(`${address}?cols=${many}`, { reducedMotion: true })
    const { page } = tab
    await page.getByRole('link', { name: 'question 1' }).waitFor()
    for (const width of [390, 1_024, 1_440]) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme: width === 1_024 ? 'dark' : 'light' })
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect(await tab.violations()).toEqual([])
    }
    expectQuiet(tab)
    await tab.close()
  })
})

describe('conversations', () => {
  const project = 'conversations'
  let address = ''

  beforeAll(async () => {
    const turn = (thread: string, at: number, words: string, error?: string) =>
      spanOf({ project, name: 'chat', beganMs: Date.now() - 7_200_000 + at * 60_000,
        run_type: 'llm', inputs: { input: words },
        outputs: { output: `Answer to ${words}`,
          usage_metadata: { input_tokens: 20, output_tokens: 5, total_tokens: 25 } },
        extra: { metadata: { thread_id: thread } }, ...error !== undefined && { error } })
    await sendSpans(server.url, [turn('t 1', 0, 'hello'), turn('t 1', 2, 'and Oslo?'),
      turn('t 2', 1, hostile, 'TimeoutError: no answer'),
      spanOf({ project, name: 'alone', beganMs: Date.now() - 60_000 })])
    address = `${server.url}/studio/traces/${await projectId(server.url, project)}`
  })

  it('have their turns, tokens and last input, and lead to their traces', async () => {
    const tab = await browser.open(address)
    const { page } = tab
    await page.getByRole('tab', { name: 'Conversations' }).click()
    const list = page.getByRole('grid', { name: 'Conversations' })
    const first = list.getByRole('row').first()
    await first.getByRole('link', { name: 'and Oslo?' }).waitFor()
    expect(await first.innerText()).toMatch(/2 turns[^]*50 tokens[^]*first/)
    const second = list.getByRole('row').nth(1)
    expect(await second.innerText()).toContain('1 failed')
    await second.getByRole('link', { name: hostile }).waitFor()
    expect(await page.locator('img').count()).toBe(0)
    for (const width of [390, 1_024, 1_440]) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme: width === 1_024 ? 'dark' : 'light' })
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect(await tab.violations()).toEqual([])
    }
    await first.getByRole('link').click()
    const traces = page.getByRole('grid', { name: 'Traces' })
    await traces.getByRole('link', { name: 'hello' }).waitFor()
    await expect.poll(() => traces.getByRole('link').count()).toBe(2)
    expect(new URL(page.url()).searchParams.get('q')).toBe('thread:"t 1"')
    expectQuiet(tab)
    await tab.close()
  })

  it('of runs of this server lead to their threads', async () => {
    const { thread_id: id } = await server.client.threads.create()
    await server.client.runs.wait(id, 'echo', {
      input: { messages: [{ role: 'user', content: 'hi there' }] },
    })
    const own = `${server.url}/studio/traces/${await projectId(server.url, 'echo')}`
    const tab = await browser.open(`${own}?list=conversations`)
    const { page } = tab
    const row = page.getByRole('grid', { name: 'Conversations' }).getByRole('row').first()
    await row.getByRole('link', { name: '1 turn' }).waitFor()
    await row.getByRole('link').first().click()
    await page.waitForURL(`**/studio/threads/${id}**`)
    expectQuiet(tab)
    await tab.close()
  })
})

describe('chosen traces', () => {
  const project = 'chosen'
  let address = ''

  beforeAll(async () => {
    const beganMs = Date.now() - 3_600_000
    await sendSpans(server.url, [
      ...supportTrace({ project, beganMs, words: 'What is the weather in Oslo?' }),
      ...supportTrace({ project, beganMs: beganMs + 60_000, words: 'What is the weather in Rome?',
        error: 'TimeoutError: no answer' }),
      ...Array.from({ length: 45 },
        (_, at) =>
          spanOf({ project, name: `job ${at}`, beganMs: beganMs - (at + 1) * 60_000,
            tags: ['old'] })),
    ])
    address = `${server.url}/studio/traces/${await projectId(server.url, project)}`
  })

  it('are compared step by step, two at a time', async () => {
    const tab = await browser.open(address)
    const { page } = tab
    const compare = page.getByRole('button', { name: 'Compare' })
    await page.getByRole('checkbox', { name: /^Choose What is the weather in Rome/ }).click()
    expect(await compare.isDisabled()).toBe(true)
    await page.getByRole('checkbox', { name: /^Choose What is the weather in Oslo/ }).click()
    await compare.click()
    const steps = page.getByRole('grid', { name: 'Steps' })
    await steps.getByText('fails in B').first().waitFor()
    await expect.poll(() => steps.getByRole('row').count()).toBe(5)
    const values = page.getByRole('complementary', { name: 'Chosen step' })
    await values.locator('ins').filter({ hasText: 'Rome' }).first().waitFor()
    await values.locator('del').filter({ hasText: 'Oslo' }).first().waitFor()
    await steps.getByRole('button', { name: 'geocode' }).click()
    await values.getByRole('heading', { name: 'geocode' }).waitFor()
    await values.getByText('TimeoutError').waitFor()
    for (const width of [390, 1_024, 1_440]) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme: width === 1_024 ? 'dark' : 'light' })
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect(await tab.violations()).toEqual([])
    }
    await page.getByRole('link', { name: 'Swap' }).click()
    await steps.getByText('fails in A').first().waitFor()
    await page.reload()
    await values.getByRole('heading', { name: 'geocode' }).waitFor()
    expectQuiet(tab)
    await tab.close()
  })

  it('get a tag, and keep those that they have', async () => {
    const tab = await browser.open(`${address}?q=tag:old`)
    const { page } = tab
    await page.getByRole('checkbox', { name: 'Choose all that match' }).click()
    await page.getByRole('button', { name: 'Tag', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Tag').fill(hostile)
    expect(await tab.violations()).toEqual([])
    await dialog.getByRole('button', { name: 'Add tag' }).click()
    await dialog.getByText('45 traces tagged.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    const box = page.getByRole('searchbox', { name: 'Filter traces' })
    await box.fill(`and(has(tags, "old"), has(tags, "${hostile}"))`)
    const list = page.getByRole('grid', { name: 'Traces' })
    await list.getByTitle(hostile).first().waitFor()
    const { body } = await ask(server.url, 'POST', '/api/v1/runs/stats', {
      session: [new URL(page.url()).pathname.split('/').at(-1)],
      filter: `and(has(tags, "old"), has(tags, "${hostile}"))`,
    })
    expect(body).toMatchObject({ run_count: 45 })
    expect(await page.locator('img').count()).toBe(0)
    expectQuiet(tab)
    await tab.close()
  })
})
