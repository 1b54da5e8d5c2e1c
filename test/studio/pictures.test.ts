/**
 * The pictures of the README and of the users' pages: by night what they show is there, and with
 * HEDDLE_PICTURES=1 they are made anew.
 */

import { expect, it } from 'vitest'

import { openModel } from '../support/model-server.ts'
import { eventually, ruleWire } from '../support/rules.ts'
import { ask as send } from '../support/wire.ts'
import { chatManifest } from './support/chat-manifest.ts'
import { deskOn, useStarter } from './support/desk.ts'
import { isWalked, picture, expectKept } from './support/picture.ts'
import { sendSpans, spanOf } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const starter = useStarter(['--egress-allow', '127.0.0.1'])
const browser = useBrowser()

it.each(['studio-thread', 'studio-compare', 'studio-charts', 'studio-rules', 'studio-prompt',
  'studio-playground'])('%s is as large as a window, and loads soon', expectKept)

it.runIf(isWalked)('a thread that waits for its reader', async () => {
  const tab = await browser.open(`${starter.url}/`)
  const { ask, node, line } = deskOn(tab.page)
  await ask(starter.url, 'How does a dobby loom differ?')
  await node(/^review.*: Waiting/).waitFor()
  await line.getByRole('row').filter({ hasText: 'now' }).waitFor()
  await tab.page.getByRole('heading', { name: 'How does a dobby loom differ?' }).waitFor()
  await picture(tab.page, 'studio-thread')
  expectQuiet(tab)
  await tab.close()
})

it.runIf(isWalked)('two branches, compared', async () => {
  const tab = await browser.open(`${starter.url}/`, { colours: 'dark' })
  const { page } = tab
  const { ask, composer, question, step, chat } = deskOn(page)
  await ask(starter.url, 'How does a dobby loom differ?')
  await question.getByRole('button', { name: 'Approve' }).click()
  await question.getByRole('button', { name: 'Send now' }).click()
  await chat.getByText(/^Published/).waitFor()
  await step(/^write/).click()
  await composer.fill('And a Jacquard loom?')
  await composer.press('Enter')
  await chat.getByText('And a Jacquard loom?', { exact: true }).waitFor()
  await question.waitFor()
  await step(/^publish/).click()
  await chat.getByText(/^Published/).waitFor()
  await step(/^write/).first().hover()
  await step(/^write/).first().getByRole('button', { name: /^Compare step/ }).click()
  await page.getByRole('tree', { name: 'Changes' }).waitFor()
  await page.getByText(/\d added/).waitFor()
  await picture(page, 'studio-compare')
  expectQuiet(tab)
  await tab.close()
})

/** Traces of a day, always of the same length after each other. */
async function sendDay(project: string): Promise<void> {
  await sendSpans(starter.url, Array.from({ length: 180 }, (_, at) => {
    const tag = ['web', 'phone', 'mail'][at * 7 % 11 % 3]!
    return spanOf({ project, name: 'support agent', tags: [tag], inputs: { question: `No. ${at}` },
      beganMs: Date.now() - (at + at * 13 % 17) * 440_000, toMs: 900 + at * 379 % 3_100,
      ...at % 9 === 4 && { error: 'TimeoutError: no answer' } })
  }))
}

it.runIf(isWalked)('the charts of a project', async () => {
  const wire = ruleWire(starter)
  await sendDay('support')
  const session = await wire.project('support')
  const { body } = await wire.send('POST', '/charts/section', { title: 'Support', index: 1 })
  const { id: section } = body as { readonly id: string }
  const chart = (index: number, title: string, kind: string, metrics: readonly string[],
    more: object = {}, width = 'half') =>
    wire.send('POST', '/charts/create', { title, chart_type: kind, index, section_id: section,
      metadata: { width }, common_filters: { session: [session], filter: 'eq(is_root, true)' },
      series: metrics.map((metric) => ({ name: /p\d+$/.exec(metric)?.[0] ?? title, metric,
        ...more })
      ) })
  await chart(1, 'Traces', 'bar', ['run_count'])
  await chart(2, 'Latency', 'line', ['latency_p50', 'latency_p99'])
  await chart(3, 'Traces by tag', 'bar', ['run_count'], { group_by: { attribute: 'tag' } }, 'full')
  await chart(4, 'Failed', 'line', ['error_rate'])
  await chart(5, 'Latency by tag', 'line', ['latency_p50'], { group_by: { attribute: 'tag' } })
  const tab = await browser.open(`${starter.url}/studio/charts?dashboard=${section}`)
  await tab.page.getByRole('img', { name: /^Latency by tag over time: / }).waitFor()
  await picture(tab.page, 'studio-charts')
  expectQuiet(tab)
  await tab.close()
})

const system = 'You teach weaving to newcomers.\nAnswer in three sentences at most'

it.runIf(isWalked)('a prompt, and what its newest version changed', async () => {
  const path = '/api/v1/commits/-/explain-weaving'
  await send(starter.url, 'POST', '/api/v1/repos', { repo_handle: 'explain-weaving',
    is_public: false, tags: ['weaving'], description: 'Explains words of weavers to newcomers.' })
  const commit = async (words: string, description: string) => {
    const { body } = await send(starter.url, 'POST', path, { description,
      manifest: chatManifest(words, 'What is {what}?') })
    return (body as { commit: { id: string } }).commit
  }
  const first = await commit(`${system}.`, 'Begin')
  await commit(`${system}, and name one thing to try.`, 'Something to try at the end')
  await send(starter.url, 'POST', '/api/v1/repos/-/explain-weaving/tags', {
    tag_name: 'production',
    commit_id: first.id,
  })
  const tab = await browser.open(`${starter.url}/studio/prompts/explain-weaving`)
  await tab.page.getByLabel('Compare with').selectOption({ index: 1 })
  await tab.page.getByRole('region', { name: 'Changes' }).getByRole('insertion').waitFor()
  await picture(tab.page, 'studio-prompt')
  expectQuiet(tab)
  await tab.close()
})

it.runIf(isWalked)('the log of a rule', async () => {
  const wire = ruleWire(starter)
  const session = await wire.project('triage')
  const { body } = await wire.send('POST', '/annotation-queues', { name: 'Failures of the week' })
  const { id: queue } = body as { readonly id: string }
  const rule = await wire.rule({ display_name: 'Failures before people', session_id: session,
    filter: 'eq(status, "error")', add_to_annotation_queue_id: queue })
  await sendDay('triage')
  await eventually(async () => expect(await wire.log(rule)).toHaveLength(20))
  const tab = await browser.open(`${starter.url}/studio/rules/${rule}?line=3`, { colours: 'dark' })
  const { page } = tab
  await page.getByRole('region', { name: 'Line of the log' }).waitFor()
  await picture(page, 'studio-rules')
  expectQuiet(tab)
  await tab.close()
}, 60_000)

it.runIf(isWalked)('a playground with two models that have answered', async () => {
  const model = await openModel(['A warp is the set of threads that a loom holds tight. ',
    'The weft goes over and under them. ', 'Try it with ten strings and a picture frame.'])
  for (const [dialect, name] of [['openai', 'small'], ['anthropic', 'large']]) {
    await send(starter.url, 'POST', '/api/v1/playground-settings', { name,
      settings: { dialect, base_url: `${model.url}v1`, model: name } })
  }
  const models = encodeURIComponent('[{"saved":"small"},{"saved":"large"}]')
  const tab = await browser.open(
    `${starter.url}/studio/playground?prompt=explain-weaving&models=${models}`,
    { colours: 'dark' },
  )
  await tab.page.getByLabel('what', { exact: true }).fill('a warp')
  await tab.page.getByRole('button', { name: 'Run', exact: true }).click()
  await tab.page.getByText(/ · 19 tokens$/).nth(1).waitFor()
  await picture(tab.page, 'studio-playground')
  expectQuiet(tab)
  await tab.close()
  await model.close()
})
